"""What cannot be meant is named, and what is right is not."""

from itertools import product

import pytest

from ptxloom.descriptors import (
    Box,
    MatrixDescriptor,
    SharedOperand,
    SharedTile,
    TensorMap,
    encode_im2col,
    encode_tiled,
    remarks,
)

RIGHT = encode_tiled("FLOAT16", 0, (64, 32), (128,), (64, 8), swizzle="128B")


def named(found: tuple[remarks.Remark, ...]) -> dict[str, bool]:
    return {remark.name: remark.wrong for remark in found}


@pytest.mark.parametrize(
    ("generation", "major", "swizzle"), [*product(("wgmma", "tcgen05"), ("k", "mn"), ("none", "32B", "64B", "128B"))]
)
def test_nothing_is_said_of_a_right_tile(generation: str, major: str, swizzle: str) -> None:
    tile = SharedTile(128, 64, "f16", major, swizzle, 1024, generation)
    for step in tile.steps:
        operand = SharedOperand(step.descriptor, 64, 16, "f16", major)
        assert not remarks.of_operand(operand)


@pytest.mark.parametrize(
    ("bits", "name", "wrong", "advice"),
    [
        (0x4000_0001_0040_0040, "offsets-swapped", True, "exchange them: 0x4000004000010040"),
        (0x0000_0001_0001_0000, "overlap", True, "multiples of 128"),
        (0x4000_0010_0001_0040, "overlap", True, "at least 1,024 bytes"),
        (0x4000_0040_0001_0048, "pattern-start", False, "align the tile to 1,024 bytes"),
        (0x4002_0040_0001_0040, "base-offset", True, "bits 49 to 51 to 0"),
        (0x0002_0008_0040_0040, "base-offset", True, "bits 49 to 51 to 0"),
        (0x4000_0040_0001_0047, "past-the-row", True, "step by 32 bytes"),
        (0x4000_0040_0001_C040, "stray-bits", True, "divided by 16"),
        (0x4000_2000_0001_0040, "outside", True, "units of 16 bytes"),
    ],
)
def test_what_cannot_be_meant_is_named_with_what_to_do(bits: int, name: str, wrong: bool, advice: str) -> None:
    found = remarks.of_operand(SharedOperand(MatrixDescriptor.from_bits(bits, "wgmma"), 64, 16))
    assert named(found)[name] is wrong
    assert advice in next(remark.advice for remark in found if remark.name == name)


def test_the_right_base_offset_of_a_shifted_pattern_is_no_remark() -> None:
    words = MatrixDescriptor(0x480, 16, 1024, "128B", base_offset=1)
    assert not remarks.of_operand(SharedOperand(words, 64, 16))


def test_wgmma_transposes_16_bit_types_only() -> None:
    tile = SharedTile(128, 32, "e4m3", "mn")
    assert named(remarks.of_operand(tile.operand)) == {"transposed-type": True}
    assert not remarks.of_operand(SharedTile(128, 32, "e4m3", "mn", generation="tcgen05").operand)


def test_wgmma_multiplies_its_own_types_only() -> None:
    (remark,) = remarks.of_operand(SharedTile(64, 64, "f64").operand)
    assert remark.name == "type"
    assert remark.advice == "its types are b1, bf16, e4m3, e5m2, f16, s8, tf32, u8"


def test_an_extent_that_no_product_has() -> None:
    words = SharedTile(64, 64).descriptor
    assert named(remarks.of_operand(SharedOperand(words, 60, 16))) == {"extent": True}


def test_nothing_is_said_of_a_right_copy() -> None:
    assert not remarks.of_box(Box(RIGHT, (0, 0), 1024))


@pytest.mark.parametrize(
    ("coordinate", "address", "expected"),
    [
        ((4, 0), 1024, {"inner-coordinate": True}),
        ((8, 0), 1024 + 64, {"shared-address": True}),
        ((8, 0), 1024 + 128, {"pattern-start": False}),
    ],
)
def test_a_copy_that_the_hardware_refuses(coordinate: tuple[int, int], address: int, expected: dict[str, bool]) -> None:
    assert named(remarks.of_box(Box(RIGHT, coordinate, address))) == expected


def test_rows_narrower_than_the_swizzle_leave_room() -> None:
    narrow = encode_tiled("FLOAT16", 0, (64, 32), (128,), (8, 8), swizzle="128B")
    (remark,) = remarks.of_box(Box(narrow, (0, 0)))
    assert remark.text.endswith("the copy reaches over 1,024 bytes, and its mbarrier counts 128")


def replaced(made: TensorMap, word: int, value: int) -> TensorMap:
    """The map with another word, as `tensormap.replace` can write it."""
    data = made.to_bytes()
    return TensorMap.from_bytes(data[: 4 * word] + value.to_bytes(4, "little") + data[4 * word + 4 :])


def test_a_map_that_the_driver_would_not_make_is_told_why() -> None:
    wide = replaced(RIGHT, 13, 127 << 24)
    (remark,) = remarks.of_map(wide)
    assert remark.wrong
    assert "box_dim is 128; it must be at most 64" in remark.text
    huge = replaced(encode_tiled("FLOAT16", 0, (64, 32, 32), (128, 4096), (64, 8, 1)), 14, 0xFFFFFFFF)
    assert named(remarks.of_box(Box(huge, (0, 0, 0)))) == {"refused": True, "too-large": True}


def test_a_stride_that_is_less_than_what_it_steps_over_is_remarked() -> None:
    made = encode_tiled("FLOAT16", 0, (64, 32), (64,), (64, 8))
    assert named(remarks.of_map(made)) == {"strides-overlap": False}
    assert not remarks.of_map(encode_tiled("FLOAT16", 0, (64, 1), (16,), (64, 1)))
    (remark,) = remarks.of_map(encode_tiled("FLOAT16", 0, (64, 1, 32), (128, 64), (64, 1, 8)))
    assert remark.text.startswith("dimension 2 steps by 64 bytes")


def test_an_element_stride_that_is_ignored_is_remarked() -> None:
    made = encode_tiled("FLOAT16", 0, (64, 32), (128,), (64, 8), (2, 1))
    assert named(remarks.of_map(made)) == {"element-stride": False}


def test_pixels_begin_within_the_bounding_box() -> None:
    made = encode_im2col("FLOAT16", 0, (8, 5, 4, 2), (16, 80, 320), (-1, -1), (-1, -1), 8, 12)
    assert not remarks.of_box(Box(made, (0, -1, 2, 0)))
    assert named(remarks.of_box(Box(made, (0, 4, 0, 0)))) == {"pixel-outside": True}
