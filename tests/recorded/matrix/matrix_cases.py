"""The inputs of the matrix recordings, the same wherever they are made: bytes drawn from a hash, not from a generator.

Used by the recorder on a GPU and by the tests that replay what it wrote.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.isa.matrix import matrix_move
from ptxloom.isa.products import MatrixForm, mma_forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Words = npt.NDArray[np.uint32]
    Values = npt.NDArray[np.int64]

MEMORY_BYTES: Final = 1024  # of each warp
LOAD_WARPS: Final = 48
STORE_WARPS: Final = 12
MMA_WARPS: Final = 4

LOADS: Final = tuple(
    f"ldmatrix.sync.aligned.m8n8.x{num}{trans}.shared.b16" for num in (1, 2, 4) for trans in ("", ".trans")
)
STORES: Final = tuple(form.replace("ldmatrix", "stmatrix") for form in LOADS)
SIGNED_LOADS: Final = tuple(f"ldmatrix.sync.aligned.m8n16.x{num}.shared.s8.s4" for num in (1, 2, 4))
TRANSPOSE: Final = "movmatrix.sync.aligned.m8n8.trans.b16"


def draw(name: str, count: int) -> Words:
    """`count` uniform 32-bit numbers that depend on nothing but the name."""
    return np.frombuffer(hashlib.shake_256(name.encode()).digest(4 * count), "<u4").astype(np.uint32)


def kernel_name(spelling: str) -> str:
    """A PTX name for the kernel that runs an instruction."""
    return "k_" + spelling.replace(".", "_").replace("::", "_")


def warps_of(form: str) -> int:
    """How many warps the recording of a form has."""
    return STORE_WARPS if form.startswith("stmatrix") else LOAD_WARPS


def memory_of(form: str) -> Bytes:
    """(warps, MEMORY_BYTES) uint8: what shared memory holds before."""
    warps = warps_of(form)
    return draw(f"memory {form}", warps * MEMORY_BYTES // 4).view(np.uint8).reshape(warps, MEMORY_BYTES)


def addresses_of(form: str) -> Words:
    """(warps, 32) uint32: legal rows where they are used (apart in stores, at will in loads), garbage elsewhere."""
    warps, rows = warps_of(form), MEMORY_BYTES // 16
    keys = draw(f"rows {form}", warps * rows).reshape(warps, rows)
    picked = np.argsort(keys, axis=1, kind="stable") if form.startswith("stmatrix") else keys % rows
    addresses = (picked[:, :32] * 16).astype(np.uint32)
    move = matrix_move(form)
    used = 8 * move.num
    addresses[:, used:] = draw(f"garbage {form}", warps * 32).reshape(warps, 32)[:, used:]
    return addresses


def registers_of(form: str) -> Words:
    """(warps, 32, registers) uint32: what a store's or movmatrix's lanes hold."""
    warps = warps_of(form)
    count = matrix_move(form).registers
    return draw(f"registers {form}", warps * 32 * count).reshape(warps, 32, count)


@dataclass(frozen=True, slots=True)
class Product:
    """Small integers for A, B and C of an mma, by the order of each lane's values; every result is exact."""

    form: MatrixForm
    a: Values  # (warps, 32, values of a lane)
    b: Values
    c: Values


def products() -> Iterator[Product]:
    """One set of inputs for each form that runs on sm_90."""
    for form in mma_forms():
        if not form.kind:
            yield Product(form, *(_values(form, operand) for operand in "abc"))


def _values(form: MatrixForm, operand: str) -> Values:
    register_bits = 64 if form.type_of(operand) == "f64" else 32
    count = form.registers(operand) * register_bits // form.container_bits(operand)
    numbers = draw(f"{form.spelling} {operand}", MMA_WARPS * 32 * count).astype(np.int64)
    numbers = numbers.reshape(MMA_WARPS, 32, count) >> 3
    match form.type_of(operand):
        case "b1":
            return numbers % 2
        case "u4" | "u8":
            return numbers % 8
        case _:
            return numbers % 5 - 2


def encode(form: MatrixForm, operand: str, values: Values) -> npt.NDArray[np.uint8]:
    """A lane's values as its registers hold them: (warps, 32, bytes)."""
    name, bits = form.type_of(operand), form.container_bits(operand)
    codes = _codes(name, values)
    if bits >= 8:
        return np.ascontiguousarray(codes.astype(f"<u{bits // 8}")).view(np.uint8)
    split = codes.astype(np.uint8).reshape(*codes.shape[:2], -1, 8 // bits)
    packed = np.zeros(split.shape[:-1], np.uint8)
    for place in range(8 // bits):
        packed |= (split[..., place] & ((1 << bits) - 1)) << (bits * place)
    return packed


def decode(form: MatrixForm, registers: npt.NDArray[np.uint8]) -> Values:
    """The integers that D holds, from (warps, 32, bytes) uint8."""
    kinds = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
    return np.ascontiguousarray(registers).view(kinds[form.d_type]).astype(np.int64)


def _codes(name: str, values: Values) -> npt.NDArray[np.uint64]:
    match name:
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case "f32" | "tf32":
            return values.astype(np.float32).view(np.uint32).astype(np.uint64)
        case "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint64)
        case "f16":
            return values.astype(np.float16).view(np.uint16).astype(np.uint64)
        case "e4m3" | "e5m2":
            one = 0x38 if name == "e4m3" else 0x3C
            two = 0x40
            magnitude = np.choose(np.abs(values), [0, one, two])
            return (magnitude | np.where(values < 0, 0x80, 0)).astype(np.uint64)
        case _:
            return values.astype(np.uint64)
