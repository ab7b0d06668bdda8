from itertools import product

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.descriptors import Box, MatrixDescriptor, SharedOperand, SharedTile, encode_tiled
from ptxloom.descriptors.emission import LANGUAGES, code
from ptxloom.descriptors.tile import widest_swizzle
from ptxloom.diagnostics import UsageError

TYPES = {"FLOAT16": "f16", "UINT8": "u8", "FLOAT32": "tf32"}
TILES = [
    SharedTile(rows, columns, element, major, swizzle, 2048)
    for element, (rows, columns), major, swizzle in product(
        TYPES.values(), ((128, 128), (256, 64)), ("k", "mn"), ("none", "32B", "64B", "128B")
    )
    if (columns if major == "k" else rows) * {"f16": 2, "u8": 1, "tf32": 4}[element] % 128 == 0
]


def name(tile: SharedTile) -> str:
    return f"{tile.rows}x{tile.columns}-{tile.element}-{tile.major}-{tile.swizzle}"


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("tile", TILES, ids=name)
def test_every_step_reads_its_part_of_the_tile(tile: SharedTile) -> None:
    for step in tile.steps[:: max(1, len(tile.steps) - 1)]:
        operand = SharedOperand(step.descriptor, tile.operand_rows, tile.step_columns, tile.element, tile.major)
        for row, column in product(range(0, tile.operand_rows, 5), range(tile.step_columns)):
            offset = tile.layout(row, step.column + column) * tile.element_bits // 8
            assert operand.address(row, column) == tile.mode(2048 + offset)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("tile", TILES, ids=name)
def test_a_tile_lies_as_tensor_copies_as_wide_as_the_swizzle_bring_it(tile: SharedTile) -> None:
    """The layout that descriptors read is the one that TMA writes, both by the absolute address."""
    kind = next(kind for kind, element in TYPES.items() if element == tile.element)
    size = tile.element_bits // 8
    extents = (tile.columns, tile.rows) if tile.major == "k" else (tile.rows, tile.columns)
    wide = tile.mode.span_bytes // size
    made = encode_tiled(kind, 0, extents, (extents[0] * size,), (wide, extents[1]), swizzle=tile.swizzle)
    for at in (0, extents[0] // wide - 1):
        box = Box(made, (at * wide, 0), 2048 + at * wide * size * extents[1])
        for index in product(range(wide), range(0, extents[1], 7)):
            place = box.place(index)
            row, column = place.coordinate[::-1] if tile.major == "k" else place.coordinate
            assert place.shared_address == tile.mode(2048 + tile.layout(row, column) * size)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((64, 60), "multiple of 8 along M or N and of 16 along K for f16"),
        ((64, 32), "whole 128B rows along K: 64 bytes are not a multiple of 128; swizzle 64B fits"),
        ((4096, 64), "shared memory"),
        ((64, 64, "f16", "row"), "k or mn"),
        ((64, 64, "f16", "k", "96B"), "one of none, 128B, 64B, 32B for wgmma"),
        ((64, 64, "f16", "k", "128B", 512), "multiple of 1,024"),
    ],
)
def test_a_tile_that_no_descriptor_can_name_is_refused(arguments: tuple[int, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SharedTile(*arguments)  # pyright: ignore[reportArgumentType] - on purpose


def test_the_widest_swizzle_is_the_one_whose_rows_fit() -> None:
    assert [widest_swizzle(bytes_) for bytes_ in (256, 192, 96, 48)] == ["128B", "64B", "32B", "none"]


_KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 1024 .b8 tile_bytes[16384];
    .reg .b32 %tile; .reg .b64 %desc, %next, %o;
    mov.u32 %tile, tile_bytes;
    CODE
    ld.param.u64 %o, [out];
    st.global.u64 [%o], %desc;
    st.global.u64 [%o+8], %next;
    ret;
}
"""


def test_the_ptx_that_builds_a_descriptor_builds_it() -> None:
    tile = SharedTile(64, 64)
    module = pl.parse(_KERNEL.replace("CODE", code(tile, "ptx")))
    assert not pl.check(module)
    out = np.zeros(2, np.uint64)
    pl.kernel(module, "k").launch(grid=1, block=1, args=[out])
    first, last = (MatrixDescriptor.from_bits(int(bits)) for bits in out)
    assert first.bits & ~0x3FFF == tile.descriptor.bits
    assert first.start_address % 1024 == 0
    assert last.start_address == first.start_address + tile.steps[-1].offset_bytes


def test_the_cuda_that_builds_a_descriptor_says_the_same_bits() -> None:
    tile = SharedTile(128, 64, "bf16", "mn", "64B", 4096, "tcgen05")
    text = code(tile, "cuda")
    assert "0x8000402001000000ull" in text
    assert "tcgen05.mma" in text
    assert LANGUAGES == ("cuda", "ptx")


def test_descriptors_of_tcgen05_say_the_constant_and_its_own_codes() -> None:
    tile = SharedTile(128, 64, "f16", "k", "128B", 0, "tcgen05")
    assert str(tile.descriptor) == "0x4000404000010000"
