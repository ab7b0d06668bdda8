"""Native functions that only tools need (racecheck, initcheck, provenance): without tools launches do without them.

They are most of the run-time, and called from everywhere: compiling a barrier with them takes LLVM ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.native.translation import NativeSignature

F = TypeVar("F", bound="Callable[..., object]")
_WATCHING: Final[set[Callable[..., object]]] = set()


def watching(function: F) -> F:
    """A native function that a tool needs: in code for launches without tools it does nothing, and returns zero."""
    _WATCHING.add(function)
    return function


def is_watching(function: Callable[..., object]) -> bool:
    """Whether only tools need a function."""
    return function in _WATCHING


def absent(signature: NativeSignature) -> str:
    """The definition that replaces such a function if no tool watches."""
    result = signature.result.llvm
    listed = ", ".join(f"{kind.llvm} %{name}" for name, kind in zip(signature.names, signature.arguments, strict=True))
    given = "void" if result == "void" else f"{result} zeroinitializer"
    return f"define internal {result} @{signature.name}({listed}) #0 {{\nret {given}\n}}"
