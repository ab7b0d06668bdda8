"""CUTLASS judges the descriptors: its headers build them, and its layouts say where each element lies."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from oracle.cute_host import printed
from oracle.test_emitted_code import compiled
from ptxloom.descriptors import MatrixDescriptor, SharedOperand, SharedTile
from ptxloom.descriptors.emission import code

if TYPE_CHECKING:
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
