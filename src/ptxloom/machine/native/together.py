"""Native functions that most launches need: one module of machine code, compiled and loaded as one.

They call much that is the same, which LLVM then sees once: all of them take it less time than six that are compiled
alone. Where a tool watches, each is compiled alone: with what tools need, few launches wait for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from ptxloom.machine.native.signature import symbol_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

F = TypeVar("F", bound="Callable[..., object]")
_TOGETHER: Final[dict[str, Callable[..., object]]] = {}


def together(function: F) -> F:
    """A native function that most launches need."""
    _TOGETHER[symbol_of(function)] = function
    return function


def members() -> Mapping[str, Callable[..., object]]:
    """These, by their names in object code, in order."""
    return dict(sorted(_TOGETHER.items()))
