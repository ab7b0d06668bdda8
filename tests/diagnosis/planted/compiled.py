"""Kernels that nvcc and Triton compiled, with marks at the lines that bugs are planted in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from kernels.case import read_ptx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXAMPLES = Path(__file__).parents[3] / "examples"
CORPUS = Path(__file__).parents[2] / "corpus"
M, N, K = 64, 128, 96


def hgemm(name: str) -> RightKernel:
    """`examples/hgemm.ptx`, by nvcc: two stages, swizzled by 64 and 128 bytes."""
    marks = {
        "a-read-row": (226,),
        "a-read-swizzle": (231,),
        "a-write-swizzle": (62, 98),
        "b-read-swizzle": (239,),
        "b-copy": (325, 336),
        "b-copy-row": (313, 328),
        "stage-write": (299,),
        "stage-read": (368,),
        "a-load": (372, 378, 426, 432),
        "b-load": (388, 394, 438, 444),
        "mma": (399, 402, 405, 408, 411, 414, 417, 420, 448, 451, 454, 457, 460, 463, 466, 469),
        "wait": (344,),
    }
    text = marked((EXAMPLES / "hgemm.ptx").read_text(), marks)
    names = ("A", "B", "C", "m", "n", "k")
    return RightKernel(
        name, text, (N // 64, M // 64), 128, Factors(np.float16), names, 2, product, entry="hgemm", says="C = A @ B"
    )


def triton_matmul(name: str) -> RightKernel:
    """`examples/triton_matmul.ptx`: fragments live through an iteration of the loop, taken apart and packed again."""
    marks = {
        "a-load": (132, 133, 267, 268, 362, 367),
        "b-load": (144, 147, 270, 271, 373, 378),
        "b-pack": (281, 282),
        "b-unpack": (194, 195),
        "a-swizzle": (129,),
        "a-write-swizzle": (87,),
        "b-read-swizzle": (142,),
        "b-advance": (206,),
        "mma": (291, 296, 301, 306, 311, 316, 321, 326, 386, 391, 396, 401, 406, 411, 416, 421),
    }
    text = marked((EXAMPLES / "triton_matmul.ptx").read_text(), marks)
    names = ("A", "B", "C", "m", "n", "k", "", "")
    make = Factors(np.float16, 2)
    return RightKernel(name, text, (M // 64, N // 64), 128, make, names, 2, product, 8192, "matmul", says="C = A @ B")


def triton_tensor_memory(name: str) -> RightKernel:
    """The same for sm_100a: A and B in shared memory, the sums in tensor memory."""
    text = (CORPUS / "triton_matmul-sm_100a.ptx").read_text()
    names = ("A", "B", "C", "m", "n", "k", "", "")
    made = Factors(np.float16, 2)

    def make() -> Sequence[Argument]:
        a, b, c, *rest = made()
        assert isinstance(c, np.ndarray)
        return a, b, c.astype(np.float16), *rest

    def halves(a: Array, b: Array, *_: object) -> Array:
        return product(a, b).astype(np.float16)

    grid = (M // 64, N // 64)
    return RightKernel(name, text, grid, 128, make, names, 2, halves, 40960, "matmul", says="C = A @ B")


def triton_int8(name: str) -> RightKernel:
    """A product of int8 by Triton: B lies as its transpose."""
    marks = {
        "a-load": (126, 127, 289, 290, 438, 471),
        "b-load": (138, 292, 505),
        "mma": (380, 385, 390, 395, 541, 546, 551, 556),
    }
    text = marked(read_ptx("triton_matmul_int8", "sm_80"), marks)
    names = ("A", "B", "C", "m", "n", "k", "", "")
    return RightKernel(
        name, text, (2, 2), 64, _bytes, names, 2, _product_of_bytes, 32768, "matmul_int8", says="C = A @ B.T"
    )


def stmatrix_epilogue(name: str) -> RightKernel:
    """A product that nvcc compiled, whose result goes out through `stmatrix`."""
    marks = {"d-pack": (2440, 2447, 2454, 2461), "d-stmatrix": (2480,), "mma": (2325,)}
    text = marked(read_ptx("tensor", "sm_90"), marks)
    names = ("A", "B", "C", "k")
    return RightKernel(
        name, text, (1,), 32, _halves, names, 2, _product_of_halves, entry="stmatrix_epilogue", says="C = A @ B.T"
    )


def marked(text: str, marks: Mapping[str, Sequence[int]]) -> str:
    """The text with a mark at the end of each of the lines that have the numbers given, counted from 1."""
    lines = text.split("\n")
    for mark, numbers in marks.items():
        for number in numbers:
            lines[number - 1] += f" // {mark}"
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Factors:
    """Makes the arguments of a product of row-major matrices, with null pointers at their end."""

    dtype: type[np.generic]
    scratch: int = 0
    ones: bool = False

    def __call__(self) -> Sequence[Argument]:
        rng = np.random.default_rng(8)
        a, b = (rng.integers(-4, 5, shape).astype(self.dtype) for shape in ((M, K), (K, N)))
        if self.ones:
            a = np.ones_like(a)
        return a, b, np.zeros((M, N), np.float32), M, N, K, *([0] * self.scratch)


def product(a: Array, b: Array, *_: object) -> Array:
    """A @ B in float32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def _bytes() -> Sequence[Argument]:
    rng = np.random.default_rng(9)
    a, b = (rng.integers(-128, 128, (64, 128), dtype=np.int8) for _ in range(2))
    return a, b, np.zeros((64, 64), np.int32), 64, 64, 128, 0, 0


def _product_of_bytes(a: Array, b: Array, *_: object) -> Array:
    return a.astype(np.int32) @ b.astype(np.int32).T


def _halves() -> Sequence[Argument]:
    rng = np.random.default_rng(10)
    a, b = (rng.integers(-4, 5, (16, 64)).astype(np.float16) for _ in range(2))
    return a, b, np.zeros((16, 16), np.float16), 64


def _product_of_halves(a: Array, b: Array, *_: object) -> Array:
    return (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
