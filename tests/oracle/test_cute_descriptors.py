"""CUTLASS judges the descriptors: its headers build them, and its layouts say where each element lies."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from oracle.cute_host import printed
from oracle.test_emitted_code import compiled
from ptxloom.descriptors import InstructionDescriptor, MatrixDescriptor, SharedOperand, SharedTile
from ptxloom.descriptors.emission import code
from ptxloom.descriptors.instruction import (
    A_SCALE,
    A_TYPE,
    B_SCALE,
    B_TYPE,
    D_TYPE,
    K_96,
    NEGATE_A,
    NEGATE_B,
    RESULTS,
    SATURATE,
    SCALE_TYPE,
    SCALED_KINDS,
    SELECTOR,
    SHIFT,
    SHIFTS,
    SPARSE,
    TRANSPOSE_A,
    TRANSPOSE_B,
    M,
    N,
)
from ptxloom.descriptors.instruction import TYPES as TYPES_OF_KIND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.oracle

ATOMS = {"none": "INTER", "32B": "SW32", "64B": "SW64", "128B": "SW128"}
TYPES = {"f16": ("half_t", 16), "u8": ("uint8_t", 8), "tf32": ("tfloat32_t", 32)}
CASES = [
    (swizzle, major, element, rows, tile_k)
    for swizzle, (major, element), rows, tile_k in product(
        ATOMS, (("K", "f16"), ("K", "u8"), ("K", "tf32"), ("MN", "f16")), (64, 128), (1, 4)
    )
]
_FUNCTION = re.compile(r"uint64_t (\w+)\(")
_DECLARATIONS = """
template <template <class> class Atom, class T, UMMA::Major M2, SM90::GMMA::Major M, int ROWS, int TILE, int K>
void look() {
  auto order = conditional_t<M == SM90::GMMA::Major::K, Step<_1, _2>, Step<_2, _1>>{};
  auto tile = tile_to_shape(Atom<T>{}, Shape<Int<ROWS>, Int<TILE>>{}, order);
  auto whole = make_tensor(make_smem_ptr((T*)nullptr), tile);
  auto part = local_tile(whole, Shape<Int<ROWS>, Int<K>>{}, make_coord(0, 0));
  auto wgmma = SM90::GMMA::make_gmma_desc<M>(part).desc_;
  auto tcgen05 = UMMA::make_umma_desc<M2>(part).desc_;
  printf("%llx|%llx|", (unsigned long long)wgmma, (unsigned long long)tcgen05);
  auto plain = as_position_independent_swizzle_layout(tile);
  for (int r = 0; r < ROWS; r += 3) for (int k = 0; k < K; ++k)
    printf("%d ", int(plain(r, k)));
  printf("|\\n");
}
"""


@pytest.mark.sweep
def test_cutlasss_descriptors_lead_to_cutlasss_addresses(tmp_path: Path) -> None:
    statements = [_statement(*case) for case in CASES]
    lines = [line for line in printed(tmp_path, statements, _DECLARATIONS) if len(line) == 3]
    assert len(lines) == len(CASES)
    for (swizzle, major, element, rows, _), (wgmma, tcgen05, offsets) in zip(CASES, lines, strict=True):
        columns, size = 256 // TYPES[element][1], TYPES[element][1] // 8
        theirs = [int(at) * size for at in offsets.split()]
        for bits in (int(wgmma, 16), int(tcgen05, 16)):
            descriptor = MatrixDescriptor.from_bits(bits)
            assert (descriptor.swizzle, descriptor.stray_bits) == (swizzle, 0)
            operand = SharedOperand(descriptor, rows, columns, element, major.lower())
            assert [operand.address(r, k) for r in range(0, rows, 3) for k in range(columns)] == theirs


def _statement(swizzle: str, major: str, element: str, rows: int, tile_k: int) -> str:
    name, width = TYPES[element]
    columns, span = 256 // width, {"none": 16, "32B": 32, "64B": 64, "128B": 128}[swizzle] * 8 // width
    wide = max(columns * tile_k, span if major == "K" else 0)
    atom = f"SM90::GMMA::Layout_{major}_{ATOMS[swizzle]}_Atom"
    return f"look<{atom}, {name}, UMMA::Major::{major}, SM90::GMMA::Major::{major}, {rows}, {wide}, {columns}>();"


def test_the_code_that_builds_a_descriptor_compiles_to_the_same_constant(tmp_path: Path) -> None:
    tiles = [
        SharedTile(128, 64, "bf16", major, swizzle, generation=generation)
        for major, swizzle, generation in product(("k", "mn"), ATOMS, ("wgmma", "tcgen05"))
    ]
    kernels = "".join(
        f"namespace n{number} {{ {code(tile, 'cuda')}\n__global__ void k(uint64_t* out) {{ "
        f"extern __shared__ char room[]; *out = {_FUNCTION.search(code(tile, 'cuda'))[1]}(room); }} }}\n"  # pyright: ignore[reportOptionalSubscript] - it is there
        for number, tile in enumerate(tiles)
    )
    ptx = compiled(tmp_path, f"#include <cstdint>\n{kernels}", "sm_90a")
    for tile in tiles:
        bits = tile.descriptor.bits
        assert str(bits - (1 << 64) if bits >> 63 else bits) in ptx


_CUTLASS_TYPES = {
    "f16": "half_t", "bf16": "bfloat16_t", "tf32": "tfloat32_t", "e4m3": "float_e4m3_t", "e5m2": "float_e5m2_t",
    "e2m3": "float_e2m3_t", "e3m2": "float_e3m2_t", "e2m1": "float_e2m1_t", "u8": "uint8_t", "s8": "int8_t",
    "f32": "float", "s32": "int32_t", "ue8m0": "float_ue8m0_t", "ue4m3": "float_ue4m3_t",
}  # fmt: skip
_IN_MEMORY = {"e2m3": "cutlass::detail::float_e2m3_unpacksmem_t", "e3m2": "cutlass::detail::float_e3m2_unpacksmem_t",
              "e2m1": "cutlass::detail::float_e2m1_unpacksmem_t"}  # fmt: skip
_SHIFTS = {0: "NoShift", 8: "MaxShift8", 16: "MaxShift16", 32: "MaxShift32"}


def _instructions() -> Iterator[InstructionDescriptor]:
    """Descriptors of every kind: all types, both orders, signs, shapes, sparse and dense."""
    rng = random.Random(7)
    for kind, types in TYPES_OF_KIND.items():
        scaled = kind in SCALED_KINDS
        for a, b, d in product(types, types, RESULTS.get(kind, {"f32": 1})):
            for _ in range(2):
                yield InstructionDescriptor(
                    kind, rng.choice((64, 128, 256)), 8 * rng.randrange(1, 33), a, b, d,
                    *(rng.random() < 0.5 for _ in range(4)), sparse=rng.random() < 0.5,
                    saturate=kind == "i8" and rng.random() < 0.5,
                    scale_type=rng.choice(("ue8m0", "ue4m3")) if scaled else "",
                    shift=0 if scaled else rng.choice(SHIFTS),
                )  # fmt: skip


def _made(told: InstructionDescriptor) -> str:
    """CUTLASS's words for it."""
    narrow = {} if told.kind in {"mxf4", "mxf4nvf4"} else _IN_MEMORY
    a, b = (narrow.get(name, _CUTLASS_TYPES[name]) for name in (told.a_type, told.b_type))
    types = [a, b, _CUTLASS_TYPES[told.d_type], *([_CUTLASS_TYPES[told.scale_type]] if told.is_scaled else [])]
    majors = (f"UMMA::Major::{'MN' if turned else 'K'}" for turned in (told.transpose_a, told.transpose_b))
    signs = (f"UMMA::ScaleIn::{'Neg' if negated else 'One'}" for negated in (told.negate_a, told.negate_b))
    rest = [*map(str, (told.m, told.n)), *majors, *signs]
    sparse = str(told.sparse).lower()
    if told.is_scaled:
        arguments = ", ".join([*types, *rest, sparse])
        return f'printf("%x|\\n", uint32_t(UMMA::make_instr_desc_block_scaled<{arguments}>()));'
    saturate = f"UMMA::Saturate::{told.saturate}"
    arguments = ", ".join([*types, *rest, saturate, sparse, f"UMMA::MaxShift::{_SHIFTS[told.shift]}"])
    return f'printf("%x|\\n", uint32_t(UMMA::make_instr_desc<{arguments}>()));'


@pytest.mark.sweep
def test_instruction_descriptors_are_those_that_cutlass_makes(tmp_path: Path) -> None:
    cases = [*_instructions()]
    theirs = [int(line[0], 16) for line in printed(tmp_path, [_made(told) for told in cases])]
    assert [hex(told.bits) for told in cases] == [*map(hex, theirs)]
    assert [InstructionDescriptor.from_bits(told.kind, bits) for told, bits in zip(cases, theirs, strict=True)] == cases


@pytest.mark.sweep
def test_cutlass_reads_every_word_of_an_instruction_descriptor_as_ptxloom_does(tmp_path: Path) -> None:
    """Each bit alone, through the named fields of CUTLASS's unions."""
    names = {
        "InstrDescriptor": (
            ("sparse_id2_", SELECTOR), ("sparse_flag_", SPARSE), ("saturate_", SATURATE), ("c_format_", D_TYPE),
            ("a_format_", A_TYPE), ("b_format_", B_TYPE), ("a_negate_", NEGATE_A), ("b_negate_", NEGATE_B),
            ("a_major_", TRANSPOSE_A), ("b_major_", TRANSPOSE_B), ("n_dim_", N), ("m_dim_", M), ("max_shift_", SHIFT),
        ),
        "InstrDescriptorBlockScaled": (
            ("sparse_flag_", SPARSE), ("b_sf_id_", B_SCALE), ("a_format_", A_TYPE), ("b_format_", B_TYPE),
            ("a_negate_", NEGATE_A), ("b_negate_", NEGATE_B), ("a_major_", TRANSPOSE_A), ("b_major_", TRANSPOSE_B),
            ("n_dim_", N), ("scale_format_", SCALE_TYPE), ("m_dim_", M), ("a_sf_id_", A_SCALE), ("k_size_", K_96),
        ),
    }  # fmt: skip
    statements: list[str] = []
    for union, fields in names.items():
        shown = " ".join(f'printf("%x|", unsigned(d.{name}));' for name, _ in fields)
        statements.append(
            f'for (int at = 0; at < 32; ++at) {{ UMMA::{union} d = {{}}; d.desc_ = 1u << at; {shown} printf("\\n"); }}'
        )
    found = iter(printed(tmp_path, statements))
    for fields in names.values():
        for at in range(32):
            assert [int(value, 16) for value in next(found)] == [word.of(1 << at) for _, word in fields]
