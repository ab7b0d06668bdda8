"""Modules of LLVM IR that hold native functions with all they call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.machine.native import translation
from ptxloom.machine.native.standalone import is_standalone
from ptxloom.machine.native.watching import absent, is_watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Parts: TypeAlias = "tuple[str, Iterable[Callable[..., object]]]"  # the IR of a function, the native ones that it calls
#: Attributes of functions: #1 for those that rarely run (`native/standalone.py`), #0 for all others.
ATTRIBUTES: Final = "\nattributes #0 = { nounwind }\nattributes #1 = { nounwind noinline optnone }\n"
_DEFINED: Final = re.compile(r"^define [^@]*@([\w.]+)", re.MULTILINE)


def parts_of(function: Callable[..., object]) -> Parts:
    """The IR of a native function, and the native functions that it calls directly."""
    return translation.translate(function).ir, callees(function)


def parts_together(functions: Iterable[Callable[..., object]]) -> Parts:
    """The parts of several functions, combined."""
    several = list(map(parts_of, functions))
    return "\n".join(ir for ir, _ in several), [callee for _, calls in several for callee in calls]


def needs_tools(parts: Parts) -> bytes:
    """Whether the code differs if a tool watches."""
    return b"yes" if any(map(is_watching, reached(parts[1]))) else b"no"


def closed(ir: str, calls: Iterable[Callable[..., object]], *, watched: bool) -> str:
    """A module with functions and, internally, every native function that they call, except standalone ones.

    Args:
        ir: The functions.
        calls: The native functions that they call directly.
        watched: Whether a tool may watch; if not, code that only tools need is left out.

    Raises:
        TypeError: Two native functions have one name (a bug in ptxloom).
    """
    inner: dict[str, str] = {}
    for function in reached(calls, lambda one: not is_standalone(one) and (watched or not is_watching(one))):
        signature = translation.signature(function)
        if not watched and is_watching(function):
            inner[signature.name] = absent(signature)
        elif is_standalone(function):
            inner[signature.name] = signature.declaration
        else:
            inner[signature.name] = translation.translate(function).ir.replace("define ", "define internal ", 1)
    for own in _DEFINED.findall(ir):
        inner.pop(own, None)  # which calls itself, or another of them
    kept = [
        line
        for line in ir.splitlines()
        if not (line.startswith("declare") and any(f"@{name}(" in line for name in inner))
    ]
    return "\n".join([*kept, *inner.values()]) + ATTRIBUTES


def reached(
    calls: Iterable[Callable[..., object]], enters: Callable[[Callable[..., object]], bool] = lambda _: True
) -> Iterable[Callable[..., object]]:
    """The native functions that some call, transitively through those that `enter` accepts.

    Raises:
        TypeError: Two have one name (a bug in ptxloom).
    """
    known: dict[str, Callable[..., object]] = {}
    waiting = list(calls)
    while waiting:
        function = waiting.pop()
        if known.get(function.__name__) is function:
            continue
        if known.setdefault(function.__name__, function) is not function:
            raise TypeError(f"two native functions are called {function.__name__}")
        if enters(function):
            waiting += callees(function)
    return known.values()


def callees(function: Callable[..., object]) -> list[Callable[..., object]]:
    """The native functions that one calls directly."""
    names = translation.translate(function).calls
    return [function.__globals__[name] for name in names]  # pyright: ignore[reportFunctionMemberAccess]
