"""Native functions that are compiled once and called; all others are copied into the machine code of their callers.

A copy can be optimised for its caller. But copies of large, slow functions called everywhere would be most of
the run-time's machine code, and of LLVM's time for it. Such functions are not mutually recursive.

Code that rarely runs (faults, hazards, stuck lanes) is neither inlined into callers of its module nor optimised:
this saves LLVM a quarter of its time for what most launches need, and their code runs as fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from ptxloom.machine.native.signature import symbol_of

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")
_STANDALONE: Final[dict[str, Callable[..., object]]] = {}
_SELDOM: Final[set[Callable[..., object]]] = set()


def standalone(function: F) -> F:
    """A native function that is compiled once."""
    _STANDALONE[symbol_of(function)] = function
    return function


def is_standalone(function: Callable[..., object]) -> bool:
    """Whether a function is compiled once."""
    return _STANDALONE.get(symbol_of(function)) is function


def standalone_of(symbol: str) -> Callable[..., object] | None:
    """The function of a name in object code; None if it is not standalone."""
    return _STANDALONE.get(symbol)


def seldom(function: F) -> F:
    """A native function that rarely runs: LLVM does not optimise it."""
    _SELDOM.add(function)
    return function


def attributes(function: Callable[..., object]) -> str:
    """The attribute group in a function's definition (`closure.ATTRIBUTES`)."""
    return "#1" if function in _SELDOM else "#0"
