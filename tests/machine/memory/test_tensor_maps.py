"""Tensor maps as arguments of a launch: as a parameter, in a structure, in global memory, as plain bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from ptxloom.descriptors import TensorMap
from ptxloom.machine import MappedArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECKS = ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")
COLUMNS, ROWS = 8, 4  # of the box that is copied: 8 words a row


def kernel(params: str, where: str) -> pl.Kernel:
    """One that copies a box from {4, 1} of the map whose address `where` puts into `d2` to `out`."""
    text = f""".version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, {params}) {{
  .reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<8>;
  .shared .align 128 .b8 tile[{4 * COLUMNS * ROWS}]; .shared .align 8 .b64 bar;
  mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; ld.param.u64 d1, [out]; {where}
  @p0 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; bar.sync 0;
  @p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], {4 * COLUMNS * ROWS};
  mov.u32 r3, 4; mov.u32 r4, 1;
  @p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [d2, {{r3, r4}}], [bar];
  W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W;
  mov.u32 r1, tile; mad.lo.u32 r1, r0, 4, r1; ld.shared.u32 r2, [r1];
  mad.wide.u32 d1, r0, 4, d1; st.global.u32 [d1], r2; ret;
}}
"""
    return pl.kernel(pl.parse(text), "k")


PARAMETER = (".param .align 64 .b8 map[128]", "mov.b64 d2, map; cvta.param.u64 d2, d2;")
INSIDE = (".param .align 64 .b8 both[256]", "mov.b64 d2, both; cvta.param.u64 d2, d2; add.u64 d2, d2, 64;")
POINTER = (".param .u64 maps", "ld.param.u64 d2, [maps];")
SECOND = (".param .u64 maps", "ld.param.u64 d2, [maps]; add.u64 d2, d2, 128;")


def numbers() -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.arange(6 * 16, dtype=np.int32).reshape(6, 16)


def copied(where: tuple[str, str], *args: object) -> list[list[int]]:
    out = np.zeros((ROWS, COLUMNS), np.int32)
    result = kernel(*where).launch(1, 32, [out, *args], checks=CHECKS)
    assert not result.hazards
    return out.tolist()


WAYS: dict[str, tuple[tuple[str, str], Callable[[MappedArray], object]]] = {
    "parameter": (PARAMETER, lambda m: m),
    "structure": (INSIDE, lambda m: {64: m, 200: np.int32(7)}),
    "pointer": (POINTER, lambda m: m),
    "list": (POINTER, lambda m: [m]),
    "second": (SECOND, lambda m: [pl.tensor_map(np.zeros(64, np.int8), (16,)), m]),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_map_is_passed_with_its_array(way: str) -> None:
    where, wrap = WAYS[way]
    array = numbers()
    made = pl.tensor_map(array, (COLUMNS, ROWS))
    assert copied(where, wrap(made)) == array[1 : 1 + ROWS, 4 : 4 + COLUMNS].tolist()


def test_a_trace_holds_the_coordinates_of_a_copy() -> None:
    made = pl.tensor_map(numbers(), (COLUMNS, ROWS))
    out = np.zeros((ROWS, COLUMNS), np.int32)
    (record,) = kernel(*PARAMETER).launch(1, 32, [out, made], trace=["cp.async.bulk.tensor"]).trace
    assert record.lanes == (0,)
    assert (record.before["r3"][0], record.before["r4"][0]) == (4, 1)


def test_the_bytes_of_a_map_are_a_map_if_its_array_is_passed_too() -> None:
    array = numbers()
    data = pl.tensor_map(array, (COLUMNS, ROWS)).to_bytes()
    where = (f"{PARAMETER[0]}, .param .u64 tensor", PARAMETER[1])
    assert copied(where, data, array) == array[1 : 1 + ROWS, 4 : 4 + COLUMNS].tolist()
    with pytest.raises(pl.LaunchError) as caught:
        copied(PARAMETER, data)
    assert caught.value.hazards[0].rule == "memcheck.out-of-bounds"


def test_a_map_of_a_view_reaches_what_the_view_holds() -> None:
    whole = np.arange(6 * 32, dtype=np.int32).reshape(6, 32)
    view = whole[1:, 4:20]
    assert copied(PARAMETER, pl.tensor_map(view, (COLUMNS, ROWS))) == view[1 : 1 + ROWS, 4 : 4 + COLUMNS].tolist()


def test_dimensions_and_strides_may_be_said() -> None:
    array = numbers()
    made = pl.tensor_map(array, (COLUMNS, ROWS), global_dim=(10, 3), global_strides=(128,))
    wanted = np.zeros((ROWS, COLUMNS), np.int32)
    wanted[:2, :6] = array[2::2, 4:10][:2]
    assert copied(PARAMETER, made) == wanted.tolist()


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.int8, "UINT8"),
        (np.bool_, "UINT8"),
        (ml_dtypes.float8_e4m3fn, "UINT8"),
        (np.int16, "UINT16"),
        (np.uint32, "UINT32"),
        (np.int32, "INT32"),
        (np.uint64, "UINT64"),
        (np.int64, "INT64"),
        (np.float16, "FLOAT16"),
        (np.float32, "FLOAT32"),
        (np.float64, "FLOAT64"),
        (ml_dtypes.bfloat16, "BFLOAT16"),
    ],
)
def test_the_type_is_that_of_the_array(dtype: Any, name: str) -> None:
    array = np.zeros((4, 64), dtype)
    made = pl.tensor_map(array, (16, 4))
    assert made.map == TensorMap(
        name, array.ctypes.data, (64, 4), (64 * array.itemsize,), (16, 4), (1, 1), "none", "none", "none", "none"
    )
    assert TensorMap.from_bytes(made.to_bytes()).transaction_bytes == 64 * array.itemsize


def test_of_interleaved_arrays_the_last_axis_is_a_slice() -> None:
    array = np.zeros((2, 3, 5, 7, 8), np.float16)  # N, C/8, H, W, a slice
    made = pl.tensor_map(array, (8, 2, 1, 1), interleave="16B").map
    assert made.global_dim == (7, 5, 3, 2)
    assert made.global_strides == (112, 560, 1680)


def test_images_are_taken_as_columns() -> None:
    made = pl.tensor_map_im2col(np.zeros((2, 8, 9, 32), np.float16), (-1, -1), (-1, 0), 32, 64).map
    assert made.global_dim == (32, 9, 8, 2)
    assert made.im2col is not None
    assert (made.im2col.pixel_box_lower_corner, made.im2col.pixel_box_upper_corner) == ((-1, -1), (-1, 0))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pl.tensor_map([1, 2], (16,)), "array is [1, 2]"),  # pyright: ignore[reportArgumentType]
        (lambda: pl.tensor_map(np.zeros((4, 4), np.complex64), (2, 2)), "array is 'complex64 array'"),
        (lambda: pl.tensor_map(numbers()[:, ::2], (8, 4)), "array is 'strides of (64, 8) bytes'"),
        (lambda: pl.tensor_map(numbers(), (3, 4)), "box_dim"),
        (lambda: pl.tensor_map(numbers(), (8, 4), global_strides=(60,)), "global_strides"),
        (lambda: pl.tensor_map(numbers(), (8, 4), data_type="FLOAT8"), "data_type"),
        (lambda: pl.tensor_map(numbers(), (8, 4), interleave="16B"), "array is 'shape (6, 16) of int32'"),
        (lambda: pl.tensor_map(numbers(), (8, 4), oob_fill="nan"), "oob_fill"),
    ],
)
def test_what_the_driver_refuses_is_refused_by_name(make: Any, said: str) -> None:
    with pytest.raises(pl.UsageError, match=re.escape(said)):
        make()


def test_a_map_is_no_number() -> None:
    made = pl.tensor_map(numbers(), (8, 4))
    assert isinstance(made, MappedArray)
    wrong: Sequence[tuple[str, object]] = (
        (".param .u32 n", made),
        (".param .align 64 .b8 map[64]", made),
        (PARAMETER[0], [made, made]),
        (PARAMETER[0], {0: made, 8: "text"}),
        (PARAMETER[0], {64: made}),
    )
    for parameter, value in wrong:
        with pytest.raises(pl.UsageError, match=r"args\[1\]"):
            kernel(parameter, "mov.b64 d2, 0;").launch(1, 32, [np.zeros(32, np.int32), value])


@pytest.mark.parametrize(("name", "elements"), [("16U4_ALIGN8B", 384), ("16U4_ALIGN16B", 384), ("16U6_ALIGN16B", 256)])
def test_narrow_elements_lie_side_by_side_in_bytes(name: str, elements: int) -> None:
    room = np.zeros(4 * 192 + 32, np.uint8)
    start = -room.ctypes.data % 32
    made = pl.tensor_map(room[start : start + 4 * 192].reshape(4, 192), (128, 4), data_type=name).map
    assert (made.global_dim, made.global_strides) == ((elements, 4), (192,))
