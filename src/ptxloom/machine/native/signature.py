"""The signatures of native functions, from their annotations."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from ptxloom.dataclass import dataclass
from ptxloom.machine.native.language import VOID, NativeType, kind_said

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX: Final = "ptxloom_"


@dataclass(frozen=True, slots=True)
class NativeSignature:
    """The caller's view of a run-time function: its name in object code, its parameters, its result."""

    name: str
    names: tuple[str, ...]
    arguments: tuple[NativeType, ...]
    result: NativeType

    @property
    def declaration(self) -> str:
        """Its declaration in modules that call it."""
        return f"declare {self.result.llvm} @{self.name}({', '.join(k.llvm for k in self.arguments)})"


@cache
def signature(function: Callable[..., object]) -> NativeSignature:
    """The types of a native function, by its annotations alone: calling it does not require translating it.

    Raises:
        TypeError: They are not native types.
    """
    names = names_of(function)
    annotations = inspect.get_annotations(function)
    kinds = {name: kind_said(str(text), names) for name, text in annotations.items()}
    result = kinds.pop("return", VOID)
    return NativeSignature(symbol_of(function), tuple(kinds), tuple(kinds.values()), result)


def symbol_of(function: Callable[..., object]) -> str:
    """The name of a function in object code."""
    return symbol_named(function.__name__)


def symbol_named(name: str) -> str:
    """The name in object code of the function with a name."""
    return f"{_PREFIX}{name}"


def name_of(symbol: str) -> str:
    """The name of the function with a name in object code."""
    return symbol.removeprefix(_PREFIX)


def names_of(function: Callable[..., object]) -> dict[str, object]:
    """The names of a function's module."""
    return cast("dict[str, object]", function.__globals__)  # pyright: ignore[reportFunctionMemberAccess]
