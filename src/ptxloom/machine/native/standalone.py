"""Native functions that are compiled once and called; all others are copied into the machine code of their callers.

A copy can be optimised for its caller. But copies of large, slow functions that are called everywhere would be most of
the run-time's machine code, and of LLVM's time for it. Such a function calls no other one that calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from ptxloom.machine.native.signature import symbol_of

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")
_STANDALONE: Final[dict[str, Callable[..., object]]] = {}


def standalone(function: F) -> F:
    """A native function that is compiled once."""
    _STANDALONE[symbol_of(function)] = function
    return function


def is_standalone(function: Callable[..., object]) -> bool:
    """Whether a function is compiled once."""
    return _STANDALONE.get(symbol_of(function)) is function


def standalone_of(symbol: str) -> Callable[..., object] | None:
    """The function of a name in object code; None if no such function is standalone."""
    return _STANDALONE.get(symbol)
