"""What came to copies by tensor maps with sm_100, byte by byte: rows that are named, types of 4 and 6 bits, swizzles.

By the manual (PTX ISA 5.5), and not confirmed on silicon. What a box holds is said again here, or by `Box`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from late import launched_late
from ptxloom.descriptors import Box, TensorMap, encode_tiled
from ptxloom.machine.launch.options import CHECKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

UNTOUCHED = 0xEE
ROOM = 8192
_KERNEL = """.version 8.8
.target {target}
.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u64 tensor, .param .u32 x, .param .u32 y) {{
  .reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<8>; .reg .b128 q0;
  .shared .align 1024 .b8 tile[{room}]; .shared .align 8 .b64 bar;
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; ld.param.u64 d1, [out]; mov.b64 d2, map; cvta.param.u64 d2, d2;
  ld.param.u32 r3, [x]; ld.param.u32 r4, [y]; mov.u32 r1, tile; mad.lo.u32 r1, r0, 4, r1; mad.wide.u32 d1, r0, 4, d1;
  add.u32 r8, r4, 5; sub.u32 r9, r4, 1; add.u32 r10, r4, 2;
  @p0 mbarrier.init.shared.b64 [bar], 1;
  mov.u32 r5, 0;
F: {start} st.shared.u32 [r1], r2; add.u32 r1, r1, 128; add.u64 d1, d1, 128; add.u32 r5, r5, 128;
  setp.lt.u32 p1, r5, {room}; @p1 bra F;
  fence.proxy.async; bar.sync 0;
  sub.u32 r1, r1, {room}; sub.u64 d1, d1, {room};
  {copy}
  mov.u32 r5, 0;
C: ld.shared.u32 r2, [r1]; st.global.u32 [d1], r2; add.u32 r1, r1, 128; add.u64 d1, d1, 128; add.u32 r5, r5, 128;
  setp.lt.u32 p1, r5, {room}; @p1 bra C;
  ret;
}}
"""
_LOAD = """@p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], {size};
  @p0 cp.async.bulk.tensor.{form}.mbarrier::complete_tx::bytes [tile+{near}], [d2, {{{at}}}], [bar];
W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W;"""
_STORE = """@p0 cp.async.bulk.tensor.{form}.bulk_group [d2, {{{at}}}], [tile+{near}];
  @p0 cp.async.bulk.commit_group; @p0 cp.async.bulk.wait_group 0;"""


def launched(
    made: TensorMap, tensor: Bytes, copy: str, x: int, y: int, *, given: Bytes | None = None, target: str = "sm_100a",
    checks: tuple[str, ...] = ("memcheck", "synccheck", "racecheck", "racecheck:global"),
) -> Bytes:  # fmt: skip
    """Shared memory after a copy, which begins with `given` or with a byte that stands for what is not touched."""
    start = "ld.global.u32 r2, [d1];" if given is not None else f"mov.u32 r2, 0x{UNTOUCHED:02x}{UNTOUCHED:02x}eeee;"
    out = np.zeros(ROOM, np.uint8) if given is None else given.copy()
    text = _KERNEL.format(room=ROOM, copy=copy, start=start, target=target)
    made = replace(made, global_address=tensor.ctypes.data)
    done = pl.kernel(pl.parse(text), "k").launch(1, 32, [out, made.to_bytes(), tensor, x, y], checks=checks)
    assert done.hazards == ()
    return out


def tensor_of(size: int, seed: int = 1) -> Bytes:
    """Random bytes at a multiple of 256."""
    whole = np.random.default_rng(seed).integers(0, 256, size + 256, dtype=np.uint8)
    return whole[-whole.ctypes.data % 256 :][:size]


def load(made: TensorMap, form: str, at: str, near: int = 0) -> str:
    return _LOAD.format(size=made.transaction_bytes, form=f"2d.shared::cta.global.{form}", at=at, near=near)


def bits_at(data: Bytes, address: int, bit: int, bits: int) -> int:
    both = int(data[address]) | int(data[min(address + 1, data.size - 1)]) << 8
    return both >> bit & (1 << bits) - 1


def held(made: TensorMap, tensor: Bytes, coordinate: tuple[int, int], near: int) -> dict[tuple[int, int], int]:
    """What each element of a box is, by the byte and the bit where shared memory has it: `Box` says where."""
    box, bits = Box(made, coordinate, near), made.type.bits
    found: dict[tuple[int, int], int] = {}
    for place in box.places():
        source = bits * place.coordinate[0] % 8
        target = bits * (place.index[0] % 16) % 8
        value = bits_at(tensor, place.global_address - made.global_address, source, bits) if place.inside else 0
        found[place.shared_address, target] = value
    return found


@pytest.mark.parametrize("near", [0, 128, 1024 + 384])
@pytest.mark.parametrize("swizzle", ["128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B", "128B", "96B"])
def test_swizzles_keep_together_what_they_say(swizzle: str, near: int) -> None:
    tensor = tensor_of(192 * 24)
    wide = 96 if swizzle == "96B" else 128
    made = TensorMap("UINT8", 0, (180, 24), (192,), (wide, 16), (1, 1), swizzle=swizzle)
    assert TensorMap.from_bytes(made.to_bytes()) == made
    found = launched(made, tensor, load(made, "tile", "r3, r4", near), 64, 4, target="sm_103a")
    wanted = np.full(ROOM, UNTOUCHED, np.uint8)
    atom, rows = {"128B": (16, 8), "96B": (16, 2), "128B_ATOM_64B": (64, 2)}.get(swizzle, (32, 4))
    for row in range(16):
        for byte in range(wide):
            at = near + row * wide + byte
            at ^= at // 128 % rows * atom  # pieces change places by the line
            at ^= at // 128 % 2 * 8 * ("FLIP" in swizzle)
            wanted[at] = tensor[(row + 4) * 192 + 64 + byte] if 64 + byte < 180 else 0
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("swizzle", ["none", "128B", "128B_ATOM_32B", "128B_ATOM_64B"])
@pytest.mark.parametrize("kind", ["16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"])
def test_narrow_elements_are_loaded_with_their_padding(kind: str, swizzle: str) -> None:
    bits = int(kind[3])
    tensor = tensor_of(256 * bits // 8 * 12)
    if kind == "16U4_ALIGN16B" and "64B" in swizzle:
        with pytest.raises(pl.UsageError, match="128B_ATOM_32B for 16U4_ALIGN16B"):
            encode_tiled(kind, 0, (256, 12), (32 * bits,), (128, 8), swizzle=swizzle)
        return
    made = encode_tiled(kind, 0, (256, 12), (32 * bits,), (128, 8), swizzle=swizzle)
    assert made.transaction_bytes == 8 * 128 * bits // 8
    found = launched(made, tensor, load(made, "tile", "r3, r4", 256), 128, 7)
    assert TensorMap.from_bytes(made.to_bytes()) == made
    for (address, bit), value in held(made, tensor, (128, 7), 256).items():
        assert bits_at(found, address, bit, bits) == value
    per_chunk = 16 * bits // 8 if made.type.is_padded else 16
    filled = found[256 : 256 + Box(made, (128, 7)).shared_bytes].reshape(-1, 16)
    assert (filled[:, per_chunk:] == UNTOUCHED).all()
    assert (found[:256] == UNTOUCHED).all()


def test_six_bits_of_bytes_are_stored_side_by_side() -> None:
    given = tensor_of(ROOM, 3)
    tensor = np.zeros(96 * 8 + 256, np.uint8)
    tensor = tensor[-tensor.ctypes.data % 256 :][: 96 * 8]
    made = encode_tiled("16U6_ALIGN16B", 0, (128, 8), (96,), (128, 4))
    copy = _STORE.format(form="2d.global.shared::cta.tile", at="r3, r4", near=128)
    launched(made, tensor, copy, 0, 2, given=given)
    sixes = (given[128 : 128 + 512] & 63).astype(np.uint8)
    bits = np.unpackbits(sixes[:, None], axis=1, bitorder="little")[:, :6].ravel()
    wanted = np.zeros(96 * 8, np.uint8)
    wanted[192 : 192 + 384] = np.packbits(bits, bitorder="little")
    assert tensor.tolist() == wanted.tolist()


@pytest.mark.parametrize("swizzle", ["none", "128B", "128B_ATOM_32B_FLIP_8B"])
def test_four_rows_are_gathered_as_they_are_named(swizzle: str) -> None:
    tensor = tensor_of(256 * 16)
    made = encode_tiled("FLOAT16", 0, (120, 16), (256,), (64, 1), swizzle=swizzle)
    made_four = encode_tiled("FLOAT16", 0, (120, 16), (256,), (64, 4), swizzle=swizzle)
    rows = (12, 17, 11, 14)  # one lies outside
    found = launched(made, tensor, load(made_four, "tile::gather4", "r3, r4, r8, r9, r10", 128), 64, 12)
    wanted = np.full(ROOM, UNTOUCHED, np.uint8)
    mode = Box(made_four, (64, 0), 128).mode
    for number, row in enumerate(rows):
        for byte in range(128):
            inside = row < 16 and 128 + byte < 240
            wanted[mode(128 + 128 * number + byte)] = tensor[256 * row + 128 + byte] if inside else 0
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("registers", "rows"),
    [("r4, r8, r9, r10", (12, 17, 11, 14)), ("r9, r10, r4, r8", (11, 14, 12, 17))],  # one between others
)
def test_four_rows_are_scattered_as_they_are_named(registers: str, rows: tuple[int, ...]) -> None:
    given, tensor = tensor_of(ROOM, 3), tensor_of(256 * 16)
    wanted = tensor.copy().reshape(16, 256)
    made = encode_tiled("FLOAT16", 0, (128, 16), (256,), (64, 1), swizzle="128B")
    copy = _STORE.format(form="2d.global.shared::cta.tile::scatter4", at=f"r3, {registers}", near=1024)
    launched(made, tensor, copy, 64, 12, given=given)
    for number, row in enumerate(rows):
        if row < 16:
            at = np.arange(1024 + 128 * number, 1024 + 128 * number + 128)
            wanted[row, 128:] = given[at ^ (at >> 3 & 0x70)]
    assert tensor.reshape(16, 256).tolist() == wanted.tolist()


def test_a_whole_row_is_scattered_where_its_line_is_flipped() -> None:
    given, tensor = tensor_of(ROOM, 3), tensor_of(128 * 8)
    made = encode_tiled("UINT8", 0, (128, 8), (128,), (128, 8), swizzle="128B_ATOM_32B_FLIP_8B")
    launched(made, tensor, _STORE.format(form="2d.global.shared::cta.tile", at="r3, r4", near=0), 0, 0, given=given)
    at = np.arange(1024)
    assert tensor.tolist() == given[at ^ (at >> 2 & 0x60) ^ (at >> 4 & 8)].tolist()


_WIDE: dict[str, Any] = {"box_dim": (128, 1), "global_dim": (256, 16)}
_FOURS: dict[str, Any] = {"data_type": "16U4_ALIGN16B", **_WIDE}
_SIXES: dict[str, Any] = {"data_type": "16U6_ALIGN16B", **_WIDE, "box_dim": (32, 1)}
# What is wrong: the map, the form, a coordinate, words of the report.
WRONG: dict[str, tuple[dict[str, Any], str, int, str]] = {
    "a box of several rows": ({"box_dim": (64, 4)}, "tile::gather4", 0, "four rows are named"),
    "part of a row of padded elements": (_FOURS, "tile", 64, "multiple of 128 padded"),
    "rows that are too short": (_SIXES, "tile", 0, "has 128 of them"),
    "flipped padded elements": ({**_FOURS, "swizzle": "128B_ATOM_32B_FLIP_8B"}, "tile", 0, "exchanged halves"),
    "within 16 bytes": ({"data_type": "16U4_ALIGN8B", "box_dim": (64, 1)}, "tile", 1, "multiple of 16 bytes"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_copied_says_why(what: str) -> None:
    words, form, x, why = WRONG[what]
    rest: dict[str, Any] = {"global_dim": (128, 16), "box_dim": (64, 1), "data_type": "FLOAT16", **words}
    made = TensorMap(global_address=0, global_strides=(256,), element_strides=(1, 1), **rest)
    at = "r3, r4, r8, r9, r10" if "4" in form else "r3, r4"
    with pytest.raises(pl.LaunchError, match=why) as caught:
        launched(made, tensor_of(256 * 16), load(made, form, at), x, 0)
    rule = "no-tensor-map" if "128 of" in why or "halves" in why else "illegal-tensor-copy"
    assert caught.value.hazards[0].kind == rule


def test_padded_elements_of_four_bits_are_not_stored() -> None:
    made = encode_tiled("16U4_ALIGN16B", 0, (128, 8), (64,), (128, 4))
    copy = _STORE.format(form="2d.global.shared::cta.tile", at="r3, r4", near=0)
    with pytest.raises(pl.LaunchError, match="loaded, not stored"):
        launched(made, tensor_of(64 * 8), copy, 0, 0)


def test_sm_90_looks_at_none_of_the_newer_bits() -> None:
    """Recorded on an H200: maps with such bits are copied as if they were not set."""
    tensor = tensor_of(128 * 8)
    made = encode_tiled("UINT8", 0, (128, 8), (128,), (128, 8), swizzle="128B_ATOM_32B")
    found = launched(made, tensor, load(made, "tile", "r3, r4"), 0, 0, target="sm_90a")
    at = np.arange(1024)
    assert found[at ^ (at >> 3 & 0x70)].tolist() == tensor.tolist()


def test_unwritten_padding_is_told_where_it_is_read() -> None:
    tensor = tensor_of(64 * 8)
    made = replace(encode_tiled("16U4_ALIGN16B", 0, (128, 8), (64,), (128, 4)), global_address=tensor.ctypes.data)
    for place, rules in ((4, []), (8, ["initcheck.uninitialised"])):
        read = f" ld.shared.u32 r2, [tile+{place}]; st.global.u32 [d1], r2; ret;"
        text = _KERNEL.format(room=ROOM, copy=load(made, "tile", "r3, r4") + read, start="", target="sm_100a")
        text = text.replace("st.shared.u32 [r1], r2; add.u32 r1", "add.u32 r1", 1)
        args = [np.zeros(ROOM, np.uint8), made.to_bytes(), tensor, 0, 0]
        done = pl.kernel(pl.parse(text), "k").launch(1, 32, args, checks=CHECKS)
        assert [hazard.rule for hazard in done.hazards] == rules


_PAIRS = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u64 tensor) {{
  .reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<8>; .reg .b16 m;
  .shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; mov.b64 d2, map; cvta.param.u64 d2, d2; mov.u32 r3, %cluster_ctarank;
  @p0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  and.b32 r4, r3, 1; setp.eq.and.u32 p2, r4, {parity}, p0; @p2 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], 2048;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 r5, bar; {name} shl.b32 r6, r3, 3; mov.u32 r7, 0; mov.u16 m, 15; setp.eq.and.u32 p3, r3, 1, p0;
  {copy}
  setp.ne.u32 p1, r4, {parity}; @p1 bra TOLD;
W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 p1, [bar], 0; @!p1 bra W;
TOLD: barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 r8, tile; shl.b32 r9, r0, 2; add.u32 r8, r8, r9; ld.param.u64 d1, [out];
  shl.b32 r10, r3, 10; add.u32 r9, r9, r10;
  cvt.u64.u32 d4, r9; add.u64 d1, d1, d4; mov.u32 r9, 0;
C: ld.shared.u32 r2, [r8]; st.global.u32 [d1], r2; add.u32 r8, r8, 128; add.u64 d1, d1, 128; add.u32 r9, r9, 128;
  setp.lt.u32 p1, r9, 1024; @p1 bra C;
  barrier.cluster.arrive; barrier.cluster.wait; ret;
}}
"""
_TELL = "tile.mbarrier::complete_tx::bytes"
_COPIES = {
    "each its own": f"@p0 cp.async.bulk.tensor.2d.shared::cluster.global.{_TELL}.cta_group::2"
    " [tile], [d2, {r7, r6}], [r5];",
    "one for all": f"@p3 cp.async.bulk.tensor.2d.shared::cluster.global.{_TELL}.multicast::cluster.cta_group::2"
    " [tile], [d2, {r7, r6}], [r5], m;",
}
# The rank of the CTA is in bits 24 and up of its shared addresses: the lowest of them says which of the pair.
_NAMES = {0: "and.b32 r5, r5, 0xFEFFFFFF;", 1: "or.b32 r5, r5, 0x01000000;"}


@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("copy", _COPIES)
def test_a_pair_s_other_cta_is_told_of_what_comes(copy: str, parity: int) -> None:
    tensor = tensor_of(128 * 32)
    made = replace(encode_tiled("UINT8", 0, (128, 32), (128,), (128, 8)), global_address=tensor.ctypes.data)
    text = _PAIRS.format(copy=_COPIES[copy], parity=parity, name=_NAMES[parity])
    out = np.zeros(4096, np.uint8)
    done = pl.kernel(pl.parse(text), "k").launch(4, 32, [out, made.to_bytes(), tensor], cluster=4, checks=CHECKS)
    assert done.hazards == ()
    rows = tensor.reshape(4, 1024)
    wanted = rows if copy == "each its own" else np.stack([rows[1]] * 4)
    assert out.reshape(4, 1024).tolist() == wanted.tolist()


def test_a_barrier_of_its_own_is_not_told_what_the_pair_s_is() -> None:
    """The twin: the address as it is names the CTA's own barrier, and who waits at the other one waits for ever."""
    tensor = tensor_of(128 * 32)
    made = replace(encode_tiled("UINT8", 0, (128, 32), (128,), (128, 8)), global_address=tensor.ctypes.data)
    text = _PAIRS.format(copy=_COPIES["each its own"], parity=0, name="")
    out = np.zeros(4096, np.uint8)
    pairs, arguments = pl.kernel(pl.parse(text), "k"), [out, made.to_bytes(), tensor]
    with pytest.raises(pl.LaunchError) as caught:
        launched_late(lambda limit: pairs.launch(4, 32, arguments, cluster=4, timeout=limit), 0.5)
    assert "mbarrier" in str(caught.value)


@pytest.mark.parametrize(("beyond", "rules"), [(0, []), (8, ["memcheck.overrun"])])
def test_an_address_in_the_pair_s_other_cta_has_that_one_s_variable(beyond: int, rules: list[str]) -> None:
    """CUTLASS's pairs arrive at the first one's mbarrier by an address of their own without the rank's lowest bit."""
    text = f""".version 8.8
.target sm_100a
.address_size 64
.visible .entry k() {{
  .reg .pred p<4>; .reg .b32 r<8>; .shared .align 8 .b64 bar; .shared .align 8 .b64 other; .shared .align 4 .b32 slot;
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; mov.u32 r3, %cluster_ctarank; setp.eq.and.u32 p1, r3, 0, p0;
  @p0 mbarrier.init.shared.b64 [bar], 2; @p0 mbarrier.init.shared.b64 [other], 2; fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32; ld.shared.u32 r4, [slot];
  mov.u32 r5, bar; {_NAMES[0]} @p0 mbarrier.arrive.shared::cluster.b64 _, [r5+{beyond}];
  barrier.cluster.arrive; barrier.cluster.wait;
  tcgen05.dealloc.cta_group::2.sync.aligned.b32 r4, 32; ret;
}}
"""
    done = pl.kernel(pl.parse(text), "k").launch(2, 32, [], cluster=2, checks=["memcheck:variables"])
    assert [hazard.rule for hazard in done.hazards] == rules


@pytest.mark.parametrize(
    ("field", "value", "changed"),
    [
        ("swizzle_atomicity", 1, {"swizzle": "128B_ATOM_32B"}),
        ("swizzle_atomicity", 2, {"swizzle": "128B_ATOM_32B_FLIP_8B"}),
        ("swizzle_atomicity", 3, {"swizzle": "128B_ATOM_64B"}),
        ("swizzle_mode", 4, {"swizzle": "96B"}),
        ("elemtype", 13, {"data_type": "16U4_ALIGN8B"}),
        ("elemtype", 14, {"data_type": "16U4_ALIGN16B"}),
        ("elemtype", 15, {"data_type": "16U6_ALIGN16B"}),
    ],
)
def test_newer_fields_are_replaced(field: str, value: int, changed: dict[str, str]) -> None:
    made = encode_tiled("BFLOAT16", 0x1000, (64, 8), (128,), (64, 4), swizzle="128B")
    data = np.frombuffer(made.to_bytes(), np.uint8).copy()
    whole = np.zeros(256, np.uint8)
    at = whole[-whole.ctypes.data % 128 :][:128]
    at[:] = data
    text = f""".version 8.8
.target sm_103a
.address_size 64
.visible .entry k(.param .u64 map) {{
  .reg .b64 d<2>; ld.param.u64 d0, [map];
  tensormap.replace.tile.{field}.global.b1024.b32 [d0], {value}; ret;
}}
"""
    pl.kernel(pl.parse(text), "k").launch(1, 1, [at])
    wanted = replace(made, **changed)
    assert TensorMap.from_bytes(at.tobytes()).to_bytes()[8:12] == wanted.to_bytes()[8:12]
