"""Tensor maps in launch files: a table of the arguments of `pl.tensor_map` or `pl.tensor_map_im2col`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.arguments.launch_keys import COLUMNS, TILED
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine import MappedArray, tensor_map, tensor_map_im2col

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_KINDS: Final = frozenset(("of", *TILED, *COLUMNS))


class NoTensorMap(PtxloomError):  # noqa: N818 - reads as the rest of the sentence it is part of
    """A table does not make a tensor map; the message is the rest of a sentence."""


def mapped(array: NDArray[Any], table: Mapping[str, Any]) -> MappedArray:
    """An array with the tensor map that a table describes.

    Raises:
        NoTensorMap: It describes none.
    """
    more = {key: value for key, value in table.items() if key not in _KINDS}
    positional = COLUMNS if COLUMNS[0] in table else TILED
    missing = [key for key in positional if key not in table]
    wrong = [key for key in (*TILED, *COLUMNS) if key in table and key not in positional]
    if missing or wrong:
        raise NoTensorMap(f"needs box_dim = [...], or for im2col all of {', '.join(COLUMNS)}")
    make: Any = tensor_map if positional is TILED else tensor_map_im2col
    try:
        return make(array, *(table[key] for key in positional), **more)
    except UsageError as error:
        raise NoTensorMap(f"cannot be made: {error}") from error
