"""Arithmetic of f16 and bf16 with f32, and extremes of three (PTX ISA 9.7.5, 9.7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from machine.small_kernels import entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def rounded(exact: NDArray[np.float64], direction: str) -> NDArray[np.float32]:
    near = exact.astype(np.float32)
    match direction:
        case "rp":
            return np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
        case "rm":
            return np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)
        case "rz":
            return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
        case _:
            return near


def operands(kind: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=64).astype(TYPES[kind]) for _ in range(2))
    return a, b, rng.normal(size=64).astype(np.float32)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("direction", ["", "rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("opcode", ["add", "sub", "fma"])
def test_narrow_operands_are_widened_and_the_result_rounded_once(opcode: str, direction: str, kind: str) -> None:
    a, b, c = operands(kind)
    out = np.zeros(64, np.float32)
    qualifiers = f".{direction or 'rn'}" if opcode == "fma" else f".{direction}" if direction else ""
    second = "%h2, " if opcode == "fma" else ""
    body = f"""ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u64 %rd4, [c]; mul.wide.u32 %rd5, %r0, 2;
    add.u64 %rd2, %rd2, %rd5; add.u64 %rd3, %rd3, %rd5; add.u64 %rd4, %rd4, %rd5; add.u64 %rd4, %rd4, %rd5;
    ld.global.b16 %h1, [%rd2]; ld.global.b16 %h2, [%rd3]; ld.global.f32 %f1, [%rd4];
    {opcode}{qualifiers}.f32.{kind} %f2, %h1, {second}%f1; st.global.f32 [%rd0], %f2;"""
    entry(body, ".param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c").launch(1, 64, [out, a, b, c])
    x, y, z = (v.astype(np.float64) for v in (a, b, c))
    exact = {"add": x + z, "sub": x - z, "fma": x * y + z}[opcode]
    assert out.tolist() == rounded(exact, direction).tolist()


def test_a_mixed_sum_is_saturated_and_its_nan_canonical() -> None:
    out = np.zeros(4, np.uint32)
    body = """mov.b32 %f1, 0f40000000; mov.b16 %h1, 0x3C00; add.sat.f32.f16 %f2, %h1, %f1; st.global.f32 [%rd1], %f2;
    mov.b16 %h1, 0xC400; add.sat.f32.f16 %f2, %h1, %f1; st.global.f32 [%rd1+4], %f2;
    mov.b16 %h1, 0xFE01; add.f32.f16 %f2, %h1, %f1; st.global.f32 [%rd1+8], %f2;"""
    entry(body).launch(1, 1, [out])
    assert out.tolist() == [0x3F800000, 0, 0x7FFFFFFF, 0]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("max.f32 %f4, %f1, %f2, %f3", 1.5),
        ("min.f32 %f4, %f1, %f2, %f3", -4.0),
        ("max.abs.f32 %f4, %f1, %f2, %f3", 4.0),
        ("min.abs.f32 %f4, %f1, %f2, %f3", 0.5),
        ("min.abs.f32 %f4, %f2, %f1, %f2", 1.5),
        ("min.xorsign.abs.f32 %f4, %f1, %f2", -1.5),
    ],
)
def test_the_extreme_of_three(form: str, expected: float) -> None:
    out = np.zeros(1, np.float32)
    body = f"""mov.f32 %f1, 0f3FC00000; mov.f32 %f2, 0fC0800000; mov.f32 %f3, 0fBF000000;
    {form}; st.global.f32 [%rd1], %f4;"""
    entry(body).launch(1, 1, [out])
    assert out[0] == expected
