"""Inputs for which the machine once gave something else than an H100 and an H200: found by sums over all inputs."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import Case
from machine.opcode_kernels import statement

# instruction, type of the result, types of the operands; then operands and what hardware gives for them
FOUND = (
    # the sum of exponent and logarithm has 36 bits of fraction, and is complemented where it is negative
    *(
        (
            f"lg2.approx{ftz}.f32",
            ("f32", "f32"),
            (
                (0x3F7DB635, 0xBC543AA6),
                (0x3F14906B, 0xBF48F98E),
                (0x3608980E, 0xC1973FFF),
                (0x1A9121F7, 0xC293A335),
                (0x3F7FFFE4, 0xB61CEC00),
                (0x3F7FFF34, 0xB7929548),
            ),
        )
        for ftz in ("", ".ftz")
    ),
    # what is below the smallest normal number when rounded without a bound to exponents is flushed
    ("mul.ftz.f16", ("f16", "f16", "f16"), ((0x1233, 0xAD29, 0x8000), (0x0A19, 0x353F, 0), (0x295C, 0x15F8, 0))),
    ("fma.rn.ftz.f16", ("f16", "f16", "f16", "f16"), ((0x4A4, 0xC0A, 0x8400, 0x8000), (0x8640, 0xB5C, 0x400, 0))),
    ("fma.rn.ftz.sat.f16", ("f16", "f16", "f16", "f16"), ((0x8640, 0xB5C, 0x400, 0),)),
    ("mul.rn.ftz.f16x2", ("f16x2", "f16x2", "f16x2"), ((0x8C00FC00, 0x33FF11C2, 0x8000FC00),)),
    (
        "fma.rn.ftz.relu.f16x2",
        ("f16x2", "f16x2", "f16x2", "f16x2"),
        ((0x8B2BA75A, 0x0800A600, 0x04007700, 0x7700), (0x04881627, 0x8CBEEA0F, 0x04009200, 0)),
    ),
    ("fma.rn.ftz.f32", ("f32", "f32", "f32", "f32"), ((0x30C5C82C, 0x2DB0E26, 0x80800000, 0x80000000),)),
    ("div.approx.ftz.f32", ("f32", "f32", "f32"), ((0x80BC0000, 0xBFBC0000, 0),)),
    ("div.full.ftz.f32", ("f32", "f32", "f32"), ((0x80BC0000, 0xBFBC0000, 0),)),
    ("cvt.rn.ftz.f32.f64", ("f32", "f64"), ((0x380FFFFFE1B563E1, 0),)),
    ("cvt.rp.ftz.f32.f64", ("f32", "f64"), ((0x380FFFFFE1B563E1, 0x800000),)),
    # the out-of-bounds NaN is that which tensor copies fill with
    (
        "fma.rn.oob.f16",
        ("f16", "f16", "f16", "f16"),
        ((0xE0A0, 0x7FF7, 0x7BB, 0), (0xFFF7, 0xF320, 0x4500, 0), (0xBF10, 0xFFFF, 0x90F6, 0x7FFF)),
    ),
    (
        "fma.rn.oob.bf16",
        ("bf16", "bf16", "bf16", "bf16"),
        ((0x7FF7, 0xF630, 0x877F, 0), (0xFFFF, 0x3F4C, 0x3700, 0x7FFF)),
    ),
)


@pytest.mark.parametrize(("name", "types", "rows"), [pytest.param(*found, id=found[0]) for found in FOUND])
def test_gives_what_hardware_gives(name: str, types: tuple[str, ...], rows: tuple[tuple[int, ...], ...]) -> None:
    letters = "abc"[: len(types) - 1]
    case = Case(f"{name} {{d}}, {', '.join('{' + letter + '}' for letter in letters)};", types[0], types[1:])
    loads = "".join(
        f".reg .{_register(kind)} {letter}; ld.global.{_register(kind)} {letter}, [at+{8 * n}];\n"
        for n, (letter, kind) in enumerate(zip(letters, types[1:], strict=True))
    )
    text = f"""
    .version 8.7
    .target sm_90a
    .address_size 64
    .visible .entry k(.param .u64 rows)
    {{
        .reg .b32 t; .reg .b64 at, wide;
        mov.u32 t, %tid.x; ld.param.u64 at, [rows]; mad.wide.u32 at, t, {8 * len(types)}, at;
        {loads}
        {statement(case)}
        st.global.b64 [at+{8 * len(letters)}], wide;
        ret;
    }}
    """
    array = np.array(rows, np.uint64)
    array[:, -1] = 0xDEADBEEF
    pl.kernel(pl.parse(text), "k").launch(1, len(rows), [array])
    assert [hex(value) for value in array[:, -1].tolist()] == [hex(row[-1]) for row in rows]


def _register(kind: str) -> str:
    return {"f16": "b16", "bf16": "b16", "f64": "b64"}.get(kind, "b32")
