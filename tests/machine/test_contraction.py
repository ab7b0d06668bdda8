"""Fused products and sums run: the bits of an `fma` that was written so, whatever stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.machine.contraction.rewrite import contracted

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HEAD = """.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .TYPE a, b, c, d, e;
.reg .b64 i, o, t;
.reg .b32 n;
.reg .pred p;
ld.param.u64 i, [in];
ld.param.u64 o, [out];
mov.u32 n, %tid.x;
mul.wide.u32 t, n, 3 * BYTES;
add.s64 i, i, t;
mul.wide.u32 t, n, BYTES;
add.s64 o, o, t;
ld.global.BITS a, [i];
ld.global.BITS b, [i+BYTES];
ld.global.BITS c, [i+2 * BYTES];
setp.gt.u32 p, n, 40;
"""
TAIL = "\nst.global.BITS [o], d;\nret;\n}\n"
THREADS = 512


def launched(body: str, type_: str = "f32", contract: str = "as written", **options: Any) -> NDArray[Any]:
    """What a body leaves in `d`, as bits, lane by lane."""
    bits = {"f64": 64, "f32": 32, "f16x2": 32}[type_]
    text = (HEAD + body + TAIL).replace("BYTES", str(bits // 8)).replace("BITS", f"b{bits}")
    text = text.replace(".TYPE", ".b32" if type_ == "f16x2" else f".{type_}")
    random = np.random.default_rng(5)
    values = random.integers(0, 1 << bits, 3 * THREADS, dtype=np.uint64).astype(f"u{bits // 8}")
    if bits == 32:  # exponents near to each other: a sum then keeps bits of a product
        values[: 3 * THREADS - 96] = values[: 3 * THREADS - 96] & 0x83FF83FF | 0x3C003C00
    out = np.zeros(THREADS, values.dtype)
    result = pl.kernel(pl.parse(text), "k").launch(1, THREADS, [values, out], contract=contract, **options)
    assert result.hazards == ()
    return out


def test_as_written_is_what_one_gets_unasked() -> None:
    body = "mul.f32 d, a, b; add.f32 d, d, c;"
    assert launched(body).tolist() == launched("mul.rn.f32 d, a, b; add.rn.f32 d, d, c;", contract="fused").tolist()
    assert launched(body).tolist() != launched(body, contract="fused").tolist()


QUOTIENT = (
    "abs.f32 e, b; setp.gt.f32 p, e, 0f7E800000; selp.f32 d, 0f3E800000, 0f3F800000, p; "
    "setp.lt.f32 p, e, 0f00800000; selp.f32 d, 0f4B800000, d, p; mul.rn.f32 e, b, d; mul.rn.f32 d, a, d; "
    "rcp.approx.ftz.f32 e, e; fma.rn.f32 d, e, d, c;"
)


@pytest.mark.parametrize(
    ("type_", "written", "meant"),
    [
        ("f32", "mul.f32 d, a, b; add.f32 d, c, d;", "fma.rn.f32 d, a, b, c;"),
        ("f32", "mul.f32 d, a, b; sub.f32 d, d, c;", "neg.f32 e, c; fma.rn.f32 d, a, b, e;"),
        ("f32", "mul.f32 d, a, b; sub.f32 d, c, d;", "neg.f32 e, a; fma.rn.f32 d, e, b, c;"),
        ("f32", "mul.f32 d, a, b; neg.f32 d, d; sub.f32 d, c, d;", "fma.rn.f32 d, a, b, c;"),
        ("f32", "mul.f32 d, a, b; xor.b32 d, d, 0x80000000; add.f32 d, c, d;", "neg.f32 e, a; fma.rn.f32 d, e, b, c;"),
        ("f32", "mul.ftz.f32 d, a, b; add.ftz.f32 d, d, c;", "fma.rn.ftz.f32 d, a, b, c;"),
        ("f32", "mul.f32 d, a, b; add.sat.f32 d, d, c;", "fma.rn.sat.f32 d, a, b, c;"),
        ("f32", "mul.f32 a, a, b; add.f32 d, a, c;", "fma.rn.f32 d, a, b, c;"),
        ("f32", "mul.f32 d, a, b; mov.f32 a, c; add.f32 d, d, a;", "fma.rn.f32 d, a, b, c;"),
        ("f32", "{ .reg .f32 z; mov.f32 z, a; mul.f32 d, z, b; } add.f32 d, d, c;", "fma.rn.f32 d, a, b, c;"),
        ("f32", "mul.f32 e, a, b; mov.f32 d, c; @p add.f32 d, e, c;", "mov.f32 d, c; @p fma.rn.f32 d, a, b, c;"),
        ("f32", "mul.f32 e, a, b; mov.f32 d, c; @p sub.f32 d, e, 0f3F800000;",
         "mov.f32 d, c; @p fma.rn.f32 d, a, b, 0fBF800000;"),
        ("f32", "mul.f32 d, a, b; mul.f32 e, b, c; add.f32 d, d, e;", "mul.f32 e, b, c; fma.rn.f32 d, a, b, e;"),
        ("f32", "div.full.f32 d, a, b; add.f32 d, d, c;", QUOTIENT),
        ("f64", "mul.f64 d, a, b; sub.f64 d, d, c;", "neg.f64 e, c; fma.rn.f64 d, a, b, e;"),
        ("f16x2", "mul.f16x2 d, a, b; sub.f16x2 d, c, d;", "neg.f16x2 e, a; fma.rn.f16x2 d, e, b, c;"),
    ],
)  # fmt: skip
def test_bits(type_: str, written: str, meant: str) -> None:
    checks = ("memcheck", "initcheck", "racecheck", "synccheck")
    found = launched(written, type_, "fused", checks=checks)
    assert found.tolist() == launched(meant, type_).tolist()
    assert found.tolist() != launched(written, type_).tolist()


def test_what_is_read_by_itself_is_kept() -> None:
    body = "mul.f32 e, a, b; add.f32 d, e, c; max.f32 d, d, e;"
    assert launched(body, contract="fused").tolist() == launched(body).tolist()


def test_what_a_product_of_matrices_adds_to_is_kept() -> None:
    body = """mul.f32 x0, a, b; mov.f32 x1, a; mov.f32 x2, b; mov.f32 x3, c; add.f32 d, x0, c;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {x0, x1, x2, x3}, i, o, 1, 1, 1, 0, 0;"""
    text = (HEAD + ".reg .f32 x<4>;\n" + body + TAIL).replace("BYTES", "4").replace("BITS", "b32")
    module = pl.parse(text.replace(".TYPE", ".f32").replace("sm_90", "sm_90a"))
    fused = contracted(module, "k")
    assert fused.fusions == {}
    assert len(list(pl.instructions(fused.module, "mul.f32"))) == 1


def test_a_quotient_that_is_fused_is_that_which_is_not() -> None:
    """Added to nothing, the factors give the quotient itself."""
    body = "div.full.f32 d, a, b; add.f32 d, d, 0f80000000;"
    assert launched(body, contract="fused").tolist() == launched(body).tolist()


def test_a_trace_and_a_profile_are_of_what_ran() -> None:
    text = (HEAD + "mul.f32 d, a, b; add.f32 d, d, c;" + TAIL).replace("BYTES", "4").replace("BITS", "b32")
    kernel = pl.kernel(pl.parse(text.replace(".TYPE", ".f32")), "k")
    counts: list[tuple[int, int]] = []
    for contract, traced in (("as written", "add.f32"), ("fused", "fma")):
        arrays = np.ones(96, np.float32), np.zeros(32, np.float32)
        result = kernel.launch(1, 32, list(arrays), contract=contract, profile=True, trace=[traced])
        assert arrays[1].tolist() == [2.0] * 32
        counts.append((result.instructions, len(result.trace)))
    assert counts[0] == (counts[1][0] + 1, 1)
    assert counts[1][1] == 1


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(pl.UsageError, match='"as written" or "fused"'):
        launched("mov.f32 d, a;", contract="on")


LAUNCH = """ptx = "k.ptx"
kernel = "k"
block = 512
CONTRACT
[[args]]
npy = "in.npy"
[[args]]
name = "out"
zeros = { shape = [512], dtype = "float32" }
[[compare]]
array = "out"
equals = "wanted.npy"
rtol = 0
atol = 0
"""


@pytest.mark.parametrize(
    ("said", "option", "code"),
    [
        ("", (), 1),
        ("", ("--contract", "fused"), 0),
        ('contract = "fused"', (), 0),
        ('contract = "fused"', ("--contract", "as written"), 1),
        ('contract = "on"', (), 2),
    ],
)
def test_launch_files(tmp_path: Path, said: str, option: tuple[str, ...], code: int) -> None:
    text = (HEAD + "{}" + TAIL).replace("BYTES", "4").replace("BITS", "b32").replace(".TYPE", ".f32")
    written, meant = "mul.f32 d, a, b; add.f32 d, d, c;", "fma.rn.f32 d, a, b, c;"
    (tmp_path / "k.ptx").write_text(text.replace("{}", written))
    given, wanted = np.random.default_rng(1).random(1536, np.float32), np.zeros(512, np.float32)
    pl.kernel(pl.parse(text.replace("{}", meant)), "k").launch(1, 512, [given, wanted])
    np.save(tmp_path / "in.npy", given)
    np.save(tmp_path / "wanted.npy", wanted)
    (tmp_path / "k.toml").write_text(LAUNCH.replace("CONTRACT", said))
    assert main(["run", str(tmp_path / "k.toml"), *option]) == code


def test_the_plan_says_what_was_fused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (HEAD + "mul.f32 d, a, b;\nadd.f32 d, d, c;" + TAIL).replace("BYTES", "4").replace("BITS", "b32")
    (tmp_path / "k.ptx").write_text(text.replace(".TYPE", ".f32"))
    assert main(["debug", "plan", str(tmp_path / "k.ptx"), "--contract", "fused"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "fma" in line)
    assert line.split("  ")[-1].strip() == "`add.f32 d, d, c;` fused with `mul.f32 d, a, b;` of line 21"
