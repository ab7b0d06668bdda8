"""Tensor maps in launch files: a table that says what `pl.tensor_map` or `pl.tensor_map_im2col` is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine.memory.tensor_map import MappedArray, tensor_map, tensor_map_im2col

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_TILED: Final = ("box_dim",)
_COLUMNS: Final = (
    "pixel_box_lower_corner", "pixel_box_upper_corner", "channels_per_pixel", "pixels_per_column",
)  # fmt: skip
_TEXTS: Final = ("data_type", "interleave", "swizzle", "l2_promotion", "oob_fill")
_NUMBERS: Final = ("global_dim", "global_strides", "element_strides")
KEYS: Final = frozenset(("of", *_TILED, *_COLUMNS, *_TEXTS, *_NUMBERS))


class NoTensorMap(PtxloomError):  # noqa: N818 - reads as the rest of the sentence it is part of
    """A table does not make a tensor map; the message is the rest of a sentence."""


def mapped(array: NDArray[Any], table: Mapping[str, Any]) -> MappedArray:
    """An array with the tensor map that a table describes.

    Raises:
        NoTensorMap: It describes none.
    """
    for key in _TEXTS:
        if not isinstance(table.get(key, ""), str):
            raise NoTensorMap(f"has {key} = {table[key]!r}, not a text")
    more = {key: table[key] for key in (*_TEXTS, *_NUMBERS) if key in table}
    positional = _COLUMNS if _COLUMNS[0] in table else _TILED
    missing = [key for key in positional if key not in table]
    wrong = [key for key in (*_TILED, *_COLUMNS) if key in table and key not in positional]
    if missing or wrong:
        raise NoTensorMap(f"needs box_dim = [...], or for im2col all of {', '.join(_COLUMNS)}")
    make: Any = tensor_map if positional is _TILED else tensor_map_im2col
    try:
        return make(array, *(table[key] for key in positional), **more)
    except UsageError as error:
        raise NoTensorMap(f"cannot be made: {error}") from error
