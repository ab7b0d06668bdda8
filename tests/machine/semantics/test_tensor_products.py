"""`tcgen05.mma` of every kind, with values whose sums are exact in any order, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from machine.semantics.tensor_kernels import descriptor, lines, run, stride_of
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.fragments.tensor_layouts import accumulator_layout
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ARRAYS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "u8": np.uint8,
    "s8": np.int8,
}
_NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
_RESULTS = {"f32": np.float32, "s32": np.int32}
D_LANES = 128


@dataclass(frozen=True)
class Case:
    """A product.

    Attributes:
        kind: Of the instruction.
        m, n: Of D.
        a, b, d: The types.
        words: Qualifiers beside.
        adds: Whether D is added.
        told: More of the descriptor.
        in_tensor: A lies in tensor memory.
        across: A and B are stored with their lines next to each other.
    """

    kind: str
    m: int
    n: int
    a: str
    b: str
    d: str = "f32"
    words: str = ""
    adds: bool = True
    told: tuple[tuple[str, Any], ...] = ()
    in_tensor: bool = False
    across: bool = False

    @property
    def ws(self) -> bool:
        return self.words.startswith(".ws")

    @property
    def k(self) -> int:
        return 32 * 8 // _container(self.kind, self.a)

    def __str__(self) -> str:
        rest = (
            f"{'-ws' * self.ws}{'-tensor' * self.in_tensor}{'-across' * self.across}{'-'.join(k for k, _ in self.told)}"
        )
        return f"{self.kind}-m{self.m}n{self.n}-{self.a}-{self.b}-{self.d}{rest}"


def _container(kind: str, name: str) -> int:
    bits = element_type(name).packed_bits
    return max(bits, 8) if kind not in {"mxf4", "mxf4nvf4"} else bits


def values(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> NDArray[Any]:
    """Small numbers that every type holds."""
    low = 0 if name == "u8" else -2
    return rng.integers(low, 3, shape).astype(np.float32).astype(_ARRAYS[name])


def codes(matrix: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """Rows of bytes as shared memory has them: narrow types 16 in the first 8 or 12 of 16 bytes."""
    bits = element_type(name).packed_bits
    if bits >= 8:
        return np.ascontiguousarray(matrix).view(np.uint8).reshape(len(matrix), -1)
    plain = matrix.view(np.uint8).astype(np.uint64).reshape(len(matrix), -1, 16)
    ones = (plain[..., None] >> np.arange(bits, dtype=np.uint64)) & 1
    packed = np.packbits(ones.reshape(*plain.shape[:2], -1).astype(np.uint8), axis=-1, bitorder="little")
    return np.pad(packed, [(0, 0), (0, 0), (0, 16 - packed.shape[-1])]).reshape(len(matrix), -1)


def contents(matrix: NDArray[Any], name: str) -> NDArray[np.uint32]:
    """A's rows as words of tensor memory: narrow types a byte each, `.e2m1` in its bits 5 to 2."""
    bits = element_type(name).packed_bits
    plain = np.ascontiguousarray(matrix)
    if bits < 8:
        plain = plain.view(np.uint8) << (2 if bits == 4 else 0)
    return np.ascontiguousarray(plain).view(np.uint32).reshape(len(matrix), -1)


def across(matrix: NDArray[Any]) -> tuple[NDArray[np.uint8], int]:
    """A matrix whose lines lie next to each other, 16 bytes of them at a time; and the bytes from such to the next."""
    rows = np.ascontiguousarray(matrix.T).view(np.uint8)  # k by bytes of lines
    depth, width = rows.shape
    # [16 bytes][group of eight k][k][byte]
    return rows.reshape(depth // 8, 8, width // 16, 16).transpose(2, 0, 1, 3).reshape(-1).copy(), depth * 16


CASES = [
    Case("f16", 128, 64, "f16", "f16"),
    Case("f16", 64, 256, "bf16", "bf16", adds=False),
    Case("f16", 128, 8, "f16", "f16", told=(("negate_a", True),)),
    Case("f16", 128, 32, "bf16", "bf16", told=(("negate_b", True),)),
    Case("f16", 128, 64, "f16", "f16", in_tensor=True),
    Case("f16", 64, 32, "bf16", "bf16", in_tensor=True),
    Case("f16", 128, 64, "f16", "f16", across=True),
    Case("f16", 128, 64, "f16", "f16", words=".ws"),
    Case("f16", 64, 64, "f16", "f16", words=".ws"),
    Case("f16", 32, 128, "bf16", "bf16", words=".ws"),
    Case("tf32", 128, 24, "tf32", "tf32"),
    Case("tf32", 64, 24, "tf32", "tf32", in_tensor=True),
    *(Case("f8f6f4", 128, 16, a, b) for a, b in zip(_NARROW, (*_NARROW[-1:], *_NARROW[:-1]), strict=True)),
    Case("f8f6f4", 64, 32, "e2m1", "e4m3", in_tensor=True),
    Case("f8f6f4", 128, 32, "e4m3", "e5m2", across=True),
    Case("f8f6f4", 128, 16, "e2m3", "e2m1", told=(("negate_a", True), ("negate_b", True))),
    Case("i8", 128, 48, "s8", "u8", "s32"),
    Case("i8", 64, 24, "u8", "s8", "s32", told=(("saturate", True),)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_product_is_right(case: Case) -> None:
    rng = np.random.default_rng(CASES.index(case))
    a, b = values(rng, case.a, (case.m, case.k)), values(rng, case.b, (case.n, case.k))
    told = InstructionDescriptor(case.kind, case.m, case.n, case.a, case.b, case.d, **dict(case.told))
    before = np.zeros((512, D_LANES), np.uint32)
    old = rng.integers(-4, 5, (512, D_LANES)).astype(_RESULTS[case.d])
    before[:256] = old[:256].view(np.uint32)
    layout = accumulator_layout(case.m, ws=case.ws)
    if case.across:
        told = InstructionDescriptor(
            case.kind, case.m, case.n, case.a, case.b, case.d, transpose_a=True, transpose_b=True
        )
        (image_a, step_a), (image_b, step_b) = across(a), across(b)
        offsets = ((128, step_a), (128, step_b))
    else:
        image_a, image_b = lines(codes(a, case.a)), lines(codes(b, case.b))
        offsets = ((128, stride_of(codes(a, case.a))), (128, stride_of(codes(b, case.b))))
    left = "%rd8"
    if case.in_tensor:
        for row, words in enumerate(contents(a, case.a)):
            before[256 : 256 + len(words), layout.place(row, 0, case.n).lane] = words
        left = "[%r22]"
    body = descriptor("0", *offsets[0], "%rd8") + descriptor(str(image_a.size), *offsets[1], "%rd9")
    body += f"""
    setp.eq.u32 %p6, %r2, {0 if case.adds else 1};
    add.u32 %r22, %r13, 256;
    mov.u32 %r21, {told.bits};
    tcgen05.mma{case.words}.cta_group::1.kind::{case.kind} [%r13], {left}, %rd9, %r21, %p6;
"""
    after, outcome = run(body, np.concatenate([image_a, image_b]), before)
    assert not outcome.hazards
    signs = (-1) ** (told.negate_a + told.negate_b)
    product = signs * a.astype(np.float64) @ b.astype(np.float64).T
    found = after.view(old.dtype)
    places = [[layout.place(row, column, case.n) for column in range(case.n)] for row in range(case.m)]
    columns, lanes = (np.array([[getattr(p, at) for p in row] for row in places]) for at in ("column", "lane"))
    assert (found[columns, lanes] == product + case.adds * old[columns, lanes]).all()
    found[columns, lanes] = old[columns, lanes]
    assert (found[:256] == old[:256]).all()  # and nothing else has changed
