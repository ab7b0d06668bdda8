"""Loads and stores that move some of the bytes of a vector touch no others, whoever watches."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.diagnostics import TOOLS
from ptxloom.machine import LaunchError
from ptxloom.machine.program.parts import used_bytes

EVERY = (*TOOLS, "racecheck:global", "initcheck:global")


def pragma(mask: int) -> str:
    return f'.pragma "used_bytes_mask {mask:#x}";\n'


def check_load(mask: int, load: str, size: int) -> None:
    """A load gives the bytes 1, 2, 3, ... of an array that ends with the last byte used, and zeros for the rest."""
    data = np.arange(1, 33, dtype=np.uint8)[: mask.bit_length()]
    whole = np.zeros(32, np.uint8)
    whole[: len(data)] = data
    count = 8 if "v8" in load else 4
    names = [f"%rd{n}" if size == 8 else f"%r{n}" for n in range(5, 5 + count)]
    body = f"ld.param.u64 %rd2, [data];\n{pragma(mask)}{load} {{{', '.join(names)}}}, [%rd2];\n"
    stores = "".join(f"st.global.b{8 * size} [%rd1+{size * n}], {name};\n" for n, name in enumerate(names))
    out = np.zeros(32, np.uint8)
    entry(body + stores, ".param .u64 out, .param .u64 data").launch(1, 1, [out, data])
    wanted = [whole[n] if mask >> n & 1 else 0 for n in range(size * len(names))]
    assert out[: len(wanted)].tolist() == wanted


@pytest.mark.parametrize("mask", [0xFFF, 0xFF0F, 0xF00F, 0x0F0F, 0xF, 0x3, 0x5A5A, 0x7EF, 0xF0F0, 0x8001])
def test_a_load_gives_the_bytes_that_are_used(mask: int) -> None:
    check_load(mask, "ld.global.v4.b32", 4)


@pytest.mark.parametrize("mask", [0xFFFFFF, 0xFF00FF, 0xF000FF0F, 0x0F, 0x7FFFFFFF])
def test_a_wide_load_gives_the_bytes_that_are_used(mask: int) -> None:
    check_load(mask, "ld.global.v8.b32", 4)
    check_load(mask, "ld.global.v4.b64", 8)


def test_the_pragma_speaks_of_the_next_instruction_alone() -> None:
    data = np.arange(3, dtype=np.uint32)
    text = (
        "ld.param.u64 %rd2, [data];\nLOADld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd2];\nst.global.b32 [%rd1], %r3;\n"
    )
    params = ".param .u64 out, .param .u64 data"
    for between in ("", "add.u32 %r9, %r0, 1;\n"):
        out = np.zeros(4, np.uint32)
        kernel = entry(text.replace("LOAD", pragma(0xF0F) + between), params)
        if not between:
            kernel.launch(1, 1, [out, data])
            assert out[0] == 2
            continue
        with pytest.raises(LaunchError):
            kernel.launch(1, 1, [out, data])


@pytest.mark.parametrize("element", ["%r1, _, %r3, %r4, %r5, %r6, _, %r8", "_, _, %r3, %r4, %r5, _, %r7, _"])
def test_a_store_leaves_out_what_is_not_named(element: str) -> None:
    out = np.full((32, 8), 99, np.uint32)
    sets = "".join(f"mov.u32 %r{n}, {n};" for n in range(1, 9))
    body = f"mul.wide.u32 %rd2, %r0, 32; add.u64 %rd2, %rd1, %rd2; {sets} st.global.v8.b32 [%rd2], {{{element}}};"
    entry(body).launch(1, 32, [out])
    wanted = [99 if name == "_" else int(name[2:]) for name in element.split(", ")]
    assert (out == wanted).all()


@pytest.mark.parametrize(("space", "kind"), [("shared", "v4.b32"), ("local", "v4.b32"), ("global", "v4.b32")])
def test_bytes_that_are_not_used_matter_to_no_tool(space: str, kind: str) -> None:
    """Each thread has twelve bytes of sixteen; the last four are unwritten, or written by its neighbour meanwhile."""
    place = {
        "shared": "mov.u32 %r8, tile; mad.lo.u32 %r8, %r0, 16, %r8; cvt.u64.u32 %rd3, %r8;",
        "local": "mov.u64 %rd3, mine;",
        "global": "mul.wide.u32 %rd3, %r0, 16; add.u64 %rd3, %rd1, %rd3;",
    }[space]
    neighbour = "st.shared.b32 [%r9+12], %r0;" if space == "shared" else ""
    body = f"""
    .local .align 16 .b8 mine[16]; {place} xor.b32 %r9, %r0, 33; mov.u32 %r10, tile; mad.lo.u32 %r9, %r9, 16, %r10;
    st.{space}.v2.b32 [%rd3], {{%r0, %r0}}; st.{space}.b32 [%rd3+8], %r0; {neighbour}
    LOADld.{space}.{kind} {{%r1, %r2, %r3, %r4}}, [%rd3];
    add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, %r3; st.global.b32 [%rd0+1024], %r5;"""
    before = ".shared .align 16 .b8 tile[1024];\n"
    out = np.zeros(512, np.uint32)
    for load, silent in ((pragma(0xFFF), True), ("", False)):
        kernel = entry(body.replace("LOAD", load), before=before)
        found = kernel.launch(1, 64, [out], checks=EVERY, threads=1, uninitialised=[out]).hazards
        assert not found or not silent
        assert silent or found or space != "shared"


@pytest.mark.parametrize("load", [pragma(0xFFF) + "ld.global.v4.b32 {%r1, %r2, %r3, %r4}", "ld.global.v2.b32 {%r1, _}"])
def test_the_address_is_aligned_to_the_whole(load: str) -> None:
    with pytest.raises(LaunchError) as raised:
        entry(f"{load}, [%rd1+4];").launch(1, 32, [np.zeros(32, np.uint32)])
    (hazard,) = raised.value.hazards
    assert (hazard.rule, len(hazard.lanes)) == ("memcheck.misaligned", 32)


def test_parameters_and_their_ends() -> None:
    out = np.zeros(4, np.uint32)
    body = f"{pragma(0xF0F)}ld.param.v4.b32 {{%r1, %r2, %r3, %r4}}, [three];\nst.global.v2.b32 [%rd1], {{%r1, %r3}};"
    kernel = entry(body, ".param .u64 out, .param .align 16 .b8 three[12]")
    kernel.launch(1, 32, [out, np.array([7, 8, 9], np.uint32).tobytes()])
    assert out.tolist() == [7, 9, 0, 0]


def test_words_that_say_no_mask_say_nothing() -> None:
    assert [used_bytes((text,)) for text in ("nounroll", "used_bytes_mask", "used_bytes_mask 017")] == [-1] * 3
    assert used_bytes(("nounroll", "used_bytes_mask 0xFf")) == 0xFF
    assert used_bytes(("used_bytes_mask 15",)) == 15
