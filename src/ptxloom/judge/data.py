"""Kinds of data that a kernel's inputs may hold, made from those of the reference file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.fragments.number_types import is_array, is_float

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    Changed = Callable[[NDArray[Any]], NDArray[Any]]


def _specials(array: NDArray[Any]) -> NDArray[Any]:
    """Some elements infinite or not a number, at places that depend on the size alone."""
    changed = array.copy()
    flat = changed.reshape(-1)
    for start, value in ((3, np.nan), (5, np.inf), (7, -np.inf)):
        flat[start::97] = np.array(value).astype(array.dtype)
    return changed


def _rising(array: NDArray[Any]) -> NDArray[Any]:
    """Small whole numbers that differ from one element to the next."""
    return (np.arange(array.size).reshape(array.shape) % 7 - 3).astype(array.dtype)


KINDS: Final[dict[str, Changed]] = {
    "random": lambda array: array,
    "zeros": np.zeros_like,
    "ones": np.ones_like,
    "negated": lambda array: -array,
    "small": lambda array: (array.astype(np.float64) / 64).astype(array.dtype),
    "rising": _rising,
    "specials": _specials,
}
"""By name, the transformation of floating-point inputs; integers may be indices, and stay unchanged."""
USUAL: Final = ("random", "zeros", "ones", "negated", "small", "rising")
"""The default kinds, for a reference file that names none, if the reference returns finite numbers for them."""


def changed(arguments: dict[str, Any], kind: str, outputs: Collection[str]) -> dict[str, Any]:
    """The arguments with inputs of a kind.

    Args:
        arguments: The arguments from the reference file.
        kind: One of `KINDS`.
        outputs: Arrays that are not inputs.
    """
    change = KINDS[kind]
    with np.errstate(all="ignore"):
        return {
            name: change(value) if is_array(value) and is_float(value.dtype) and name not in outputs else value
            for name, value in arguments.items()
        }
