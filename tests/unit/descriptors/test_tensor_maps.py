import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.descriptors import Box, TensorMap, encode_im2col, encode_tiled
from ptxloom.descriptors.pixels import pixels
from ptxloom.descriptors.remarks import of_box
from ptxloom.diagnostics import UsageError

PLAIN = encode_tiled("FLOAT16", 0x10000, (64, 32), (128,), (64, 8), swizzle="128B")
NARROW = encode_tiled("FLOAT16", 0x10000, (60, 30), (128,), (8, 4), swizzle="128B", oob_fill="nan")
PIXELS = encode_im2col("FLOAT16", 0, (8, 5, 4, 2), (16, 80, 320), (-1, -1), (-1, -1), 8, 12)


@given(st.binary(min_size=128, max_size=128))
def test_any_128_bytes_are_a_map_or_a_sentence(data: bytes) -> None:
    try:
        found = TensorMap.from_bytes(data)
    except UsageError:  # a sentence of its own; whatever else is raised fails
        return
    assert TensorMap.from_bytes(found.to_bytes()) == found


@pytest.mark.parametrize("size", [0, 127, 129])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(UsageError, match="128 bytes"):
        TensorMap.from_bytes(bytes(size))


def test_what_the_hardware_does_not_look_at_may_be_anything() -> None:
    words = list(struct.unpack("<32I", PLAIN.to_bytes()))
    words[16] = words[18] = words[31] = 12345
    assert TensorMap.from_bytes(struct.pack("<32I", *words)) == PLAIN


def test_a_row_is_as_wide_as_the_swizzle_and_the_mbarrier_gets_the_box() -> None:
    box = Box(NARROW, (56, 28), 0x400)
    assert (box.row_bytes, box.pitch_bytes, box.shared_bytes, NARROW.transaction_bytes) == (16, 128, 512, 64)
    assert [hex(box.place((0, row)).shared_address) for row in range(4)] == ["0x400", "0x490", "0x520", "0x5b0"]
    assert box.filled == sum(not place.inside for place in box.places()) == 8 * 4 - 4 * 2


def test_the_swizzle_looks_at_the_absolute_address() -> None:
    at_start, later = Box(PLAIN, (0, 0), 0), Box(PLAIN, (0, 0), 0x80)
    assert [at_start.place((8 * chunk, 0)).shared_address for chunk in (0, 1)] == [0, 16]
    assert [later.place((8 * chunk, 0)).shared_address for chunk in (0, 1)] == [0x90, 0x80]


def test_places_are_one_to_one_and_agree_with_place() -> None:
    box = Box(PLAIN, (0, 4), 0x800)
    places = list(box.places())
    assert len({place.shared_address for place in places}) == len(places) == 512
    assert all(box.place(place.index) == place for place in places[::37])
    assert places[65].global_address == 0x10000 + 5 * 128 + 2


def test_element_strides_skip_all_dimensions_but_the_first() -> None:
    made = encode_tiled("INT32", 0, (16, 16), (64,), (8, 7), (3, 2))
    assert made.counts == (8, 4)
    assert [Box(made, (0, 1)).place((2, row)).coordinate for row in range(4)] == [(2, 1), (2, 3), (2, 5), (2, 7)]


def test_pixels_walk_the_bounding_box() -> None:
    box = Box(PIXELS, (0, 2, -1, 0), offsets=(1, 2))
    walk = [box.place((3, pixel)).coordinate for pixel in range(9)]
    outside = Box(PIXELS, (4, -1, 3, 0), offsets=(0, 1))
    assert outside.filled == sum(not place.inside for place in outside.places()) > 0
    assert walk[:6] == [(3, 3, 1, 0), (3, 4, 1, 0), (3, 0, 2, 0), (3, 1, 2, 0), (3, 2, 2, 0), (3, 3, 2, 0)]


def test_pixels_are_walked_once_a_box() -> None:
    box = Box(PIXELS, (0, 0, 0, 1), 0x4000)
    pixels.cache_clear()
    assert len([chunk for number in range(box.rows) for chunk in box.row(number)]) == 12
    assert pixels.cache_info().misses == 1


def test_a_slice_of_an_interleaved_tensor_takes_the_place_of_an_element() -> None:
    made = encode_tiled("FLOAT16", 0, (6, 3, 2), (96, 288), (8, 2, 1), (2, 1, 1), "16B", "64B")
    box = Box(made, (1, 2, 0), 0x200)
    assert (made.counts, made.transaction_bytes, box.pitch_bytes) == ((4, 1, 1), 64, 64)
    assert [box.place((at, 0, 0)).coordinate for at in range(4)] == [(1, 2, 0), (3, 2, 0), (5, 2, 0), (7, 2, 0)]
    assert box.filled == sum(not place.inside for place in box.places()) == 1
    assert [remark.name for remark in of_box(box)] == ["slices"]


def test_pixels_of_an_interleaved_tensor_are_slices() -> None:
    made = encode_im2col("UINT8", 0, (5, 4, 2, 3), (80, 320, 640), (-1, 0), (0, -1), 16, 7, None, "16B")
    box = Box(made, made.first_coordinate)
    assert (made.first_coordinate, made.counts, made.transaction_bytes) == ((-1, 0, 0, 0), (1, 7), 112)
    walk = [box.place((0, pixel)).coordinate for pixel in range(7)]
    assert walk == [(-1, 0, 0, 0), (0, 0, 0, 0), (1, 0, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0), (4, 0, 0, 0), (-1, 1, 0, 0)]
    assert box.filled == sum(not place.inside for place in box.places()) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"global_strides": (120,)}, "global_strides is .* multiples of 16"),
        ({"box_dim": (128, 8)}, "box_dim is 128; it must be at most 64: 64 elements of FLOAT16 are the 128 bytes"),
        ({"box_dim": (4, 8)}, "multiple of 8: 16 bytes of FLOAT16"),
        ({"box_dim": (64,)}, "2 numbers"),
        ({"box_dim": 64}, "a sequence of numbers"),
        ({"global_address": 8}, "multiple of 16"),
        ({"interleave": "16B"}, "3 or more"),
        ({"swizzle": "96B"}, "one of none, 32B, 64B, 128B"),
        ({"data_type": "FLOAT8"}, "one of UINT8"),
        ({"data_type": "INT32", "oob_fill": "nan", "box_dim": (32, 8)}, "only floating-point types have NaN"),
        ({"element_strides": (1, 9)}, "1 to 8"),
    ],
)
def test_what_the_driver_refuses_is_said_in_a_sentence(changed: dict[str, object], said: str) -> None:
    right = {"data_type": "FLOAT16", "global_address": 0, "global_dim": (64, 32), "global_strides": (128,),
             "box_dim": (64, 8), "swizzle": "128B"}  # fmt: skip
    with pytest.raises(UsageError, match=said):
        encode_tiled(**{**right, **changed})  # pyright: ignore[reportArgumentType] - on purpose


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"coordinate": (0,)}, "2 numbers"),
        ({"coordinate": (0, 0), "offsets": (1,)}, "left out for a tiled map"),
        ({"coordinate": 0}, "sequence"),
    ],
)
def test_a_box_that_is_none_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Box(PLAIN, **arguments)  # pyright: ignore[reportArgumentType] - on purpose
