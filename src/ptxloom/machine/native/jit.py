"""Functions of the run-time to machine code, when they are first needed; machine code is kept on disk."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ptxloom.machine.native import apart, code_cache, interrupts, translation
from ptxloom.machine.native.llvm import LOCK, Code, compile_here, define, host, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ATTRIBUTES: Final = "\nattributes #0 = { nounwind }\n"
_LARGE: Final = 1 << 20  # characters of IR that take LLVM about a second
_RUNTIME: Final[dict[str, Code]] = {}  # the run-time's functions, for as long as the process lives


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, kept on disk under a key to which the host and LLVM belong."""
    return code_cache.cached(f"{host()}\n{key}", make)


def compile_ir(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    LLVM cannot be interrupted, and takes more than twice as long for a function of twice the size: so large ones are
    compiled by a process of their own, which a time limit or Ctrl-C ends.

    Raises:
        RuntimeError: The IR is wrong (a fault of ours).
        TimeIsUp: The time limit has come.
    """
    interrupts.check()
    if len(ir) > _LARGE and sys.executable:
        return apart.compiled(ir, level)
    return compile_here(ir, level)


def native_address(function: Callable[..., object]) -> int:
    """The machine code of a native function, compiled with all it calls."""
    # functions of others are not in the package's state: their text belongs to the key
    inside = function.__module__.startswith("ptxloom.")
    text = "" if inside else translation.translate(function).ir

    def ir() -> str:
        return closed(translation.translate(function).ir, _callees(function), function)

    return linked(translation.signature(function).name, ir, text)


def helper_address(name: str, ir: str | Callable[[], str]) -> int:
    """The machine code of a function given as IR; a function `ir` is asked only if the code is not in the cache."""
    return linked(name, lambda: (ir if isinstance(ir, str) else ir()) + ATTRIBUTES)


def linked(name: str, ir: Callable[[], str], text: str = "") -> int:
    """The address of a run-time function, loaded when it is first needed."""
    with LOCK:
        if name not in _RUNTIME:
            code = load(cached(f"runtime {name} {text}", lambda: compile_ir(ir(), 2)), name)
            define(name, code.address)
            _RUNTIME[name] = code
        return _RUNTIME[name].address


def closed(ir: str, calls: Iterable[Callable[..., object]], own: Callable[..., object] | None = None) -> str:
    """A module that holds a function and, internally, every native function it calls.

    Args:
        ir: The function.
        calls: The native functions that it calls by itself.
        own: The native function that it is, if it is one.

    Raises:
        TypeError: Two native functions have one name (a fault of ours).
    """
    inner: dict[str, translation.Native] = {}
    known = {} if own is None else {own.__name__: own}
    waiting = list(calls)
    while waiting:
        function = waiting.pop()
        if known.setdefault(function.__name__, function) is not function:
            raise TypeError(f"two native functions are called {function.__name__}")
        if function.__name__ not in inner:
            inner[function.__name__] = translation.translate(function)
            waiting += _callees(function)
    kept = [
        line
        for line in ir.splitlines()
        if not any(f"@{n.signature.name}(" in line and line.startswith("declare") for n in inner.values())
    ]
    bodies = [n.ir.replace("define ", "define internal ", 1) for n in inner.values()]
    return "\n".join([*kept, *bodies]) + ATTRIBUTES


def _callees(function: Callable[..., object]) -> list[Callable[..., object]]:
    names = translation.translate(function).calls
    return [function.__globals__[name] for name in names]  # pyright: ignore[reportFunctionMemberAccess]
