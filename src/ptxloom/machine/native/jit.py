"""Functions of the run-time to machine code, when they are first needed; machine code is kept on disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom import disk_cache, own_python
from ptxloom.machine.native import apart, interrupts, translation
from ptxloom.machine.native.llvm import LOCK, Code, compile_here, host, load
from ptxloom.machine.native.signature import symbol_of
from ptxloom.machine.native.standalone import is_standalone, standalone_of
from ptxloom.machine.native.together import members
from ptxloom.machine.native.watching import absent, is_watching

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

#: Of functions: #1 those that run seldom (`native/standalone.py`), #0 all others.
ATTRIBUTES: Final = "\nattributes #0 = { nounwind }\nattributes #1 = { nounwind noinline optnone }\n"
_LARGE: Final = 3 << 20  # characters of IR that take LLVM about a second without optimisation
Parts: TypeAlias = "tuple[str, Iterable[Callable[..., object]]]"  # the IR of a function, the native ones that it calls
_DEFINED: Final = re.compile(r"^define [^@]*@([\w.]+)", re.MULTILINE)
_REFERRED: Final = re.compile(r"^declare [^@]*@(?!llvm\.)([\w.]+)", re.MULTILINE)
#: The run-time's functions, for as long as the process lives: by their names, and whether a tool may watch.
_RUNTIME: Final[dict[tuple[str, bool], Code]] = {}


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` returns, kept on disk under a key to which the host and LLVM belong."""
    return disk_cache.cached(f"{host()}\n{key}", make)


def kept(key: str) -> bytes | None:
    """What is kept on disk under such a key, if anything is."""
    return disk_cache.kept(f"{host()}\n{key}")


def keep(key: str, content: bytes) -> None:
    """Keep something on disk under such a key."""
    disk_cache.keep(f"{host()}\n{key}", content)


def compile_ir(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    LLVM cannot be interrupted, and takes more than twice as long for a function of twice the size: so large ones are
    compiled by a process of their own, which a time limit or Ctrl-C ends.

    Raises:
        RuntimeError: The IR is wrong (a fault of ours).
        TimeIsUp: The time limit has come.
    """
    interrupts.check()
    if len(ir) > _LARGE and own_python.is_there():
        return apart.compiled(ir, level)
    return compile_here(ir, level)


def compiled(ir: str, level: int) -> bytes:
    """An object file as it is kept: behind the names of the functions that it calls."""
    return " ".join(_REFERRED.findall(ir)).encode() + b"\n" + compile_ir(ir, level)


def loaded(made: Iterable[bytes], symbols: Collection[str], *, watched: bool) -> dict[str, Code]:
    """Functions of object files that `compiled` made.

    Functions of the run-time that they call have been loaded before, or are loaded now if they are standalone.
    """
    parts = [one.partition(b"\n") for one in made]
    callees: dict[str, int] = {}
    for name in b" ".join(names for names, _, _ in parts).decode().split():
        function = standalone_of(name)
        if (name, watched) in _RUNTIME:
            callees[name] = _RUNTIME[name, watched].address
        elif function is not None:
            callees[name] = native_address(function, watched=watched)
    return load([code for _, _, code in parts], symbols, callees)


def native_address(function: Callable[..., object], *, watched: bool = True) -> int:
    """The machine code of a native function, compiled with all it calls.

    Args:
        function: The function.
        watched: Whether a tool may watch the launch that it is for; if not, it does without what only tools need.
    """
    # functions of others are not in the package's state: their text belongs to the key
    inside = function.__module__.startswith("ptxloom.")
    text = "" if inside else translation.translate(function).ir

    def parts() -> Parts:
        return translation.translate(function).ir, _callees(function)

    return linked(symbol_of(function), parts, text, watched=watched)


def helper_address(name: str, ir: str | Callable[[], str]) -> int:
    """The machine code of a function given as IR; a function `ir` is asked only if the code is not in the cache."""
    address = linked(name, lambda: (ir if isinstance(ir, str) else ir(), ()), watched=False)
    _RUNTIME.setdefault((name, True), _RUNTIME[name, False])
    return address


def linked(name: str, parts: Callable[[], Parts], text: str = "", *, watched: bool) -> int:
    """The address of a run-time function, loaded when it is first needed.

    Args:
        name: Its name.
        parts: Returns its IR, and the native functions that it calls by itself.
        text: What distinguishes it from others of its name.
        watched: Whether a tool may watch.
    """
    with LOCK:
        if (name, watched) not in _RUNTIME:
            key = f"runtime {name} {text}"
            if watched and cached(f"{key} has no part in tools", lambda: _needs_tools(parts())) == b"no":
                linked(name, parts, text, watched=False)
                _RUNTIME[name, True] = _RUNTIME[name, False]
            elif not watched and name in members():
                _link_together()
            else:
                made = _made(key, parts, watched=watched)
                _RUNTIME[name, watched] = loaded([made], [name], watched=watched)[name]
        return _RUNTIME[name, watched].address


def link(parts: Mapping[str, Callable[[], Parts]]) -> None:
    """Load run-time functions for launches that no tool watches, in one go.

    Args:
        parts: Returns the IR of each by its name, and the native functions that it calls by itself.
    """
    with LOCK:
        wanted = [name for name in parts if (name, False) not in _RUNTIME]
        if wanted:
            made = [_made(f"runtime {name} ", parts[name], watched=False) for name in wanted]
            for name, code in loaded(made, wanted, watched=False).items():
                _RUNTIME[name, False] = code


def _made(key: str, parts: Callable[[], Parts], *, watched: bool) -> bytes:
    return cached(f"{key} {watched}", lambda: compiled(closed(*parts(), watched=watched), 2))


def _link_together() -> None:
    """Load the functions that most launches need, for launches that no tool watches."""
    wanted = {name: function for name, function in members().items() if (name, False) not in _RUNTIME}

    def make() -> bytes:
        ir = "\n".join(translation.translate(function).ir for function in wanted.values())
        calls = [callee for function in wanted.values() for callee in _callees(function)]
        return compiled(closed(ir, calls, watched=False), 2)

    for name, code in loaded([cached(f"runtime together {' '.join(wanted)}", make)], wanted, watched=False).items():
        _RUNTIME[name, False] = code


def _needs_tools(parts: Parts) -> bytes:
    """Whether code differs where a tool watches."""
    return b"yes" if any(map(is_watching, _reached(parts[1]))) else b"no"


def closed(ir: str, calls: Iterable[Callable[..., object]], *, watched: bool) -> str:
    """A module that holds functions and, internally, every native function they call, except standalone ones.

    Args:
        ir: The functions.
        calls: The native functions that they call directly.
        watched: Whether a tool may watch; if not, code that only tools need is left out.

    Raises:
        TypeError: Two native functions have one name (a fault of ours).
    """
    inner: dict[str, str] = {}
    for function in _reached(calls, lambda one: not is_standalone(one) and (watched or not is_watching(one))):
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


def _reached(
    calls: Iterable[Callable[..., object]], enters: Callable[[Callable[..., object]], bool] = lambda _: True
) -> Iterable[Callable[..., object]]:
    """The native functions that some call, and those that these call if they are entered.

    Raises:
        TypeError: Two have one name (a fault of ours).
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
            waiting += _callees(function)
    return known.values()


def _callees(function: Callable[..., object]) -> list[Callable[..., object]]:
    names = translation.translate(function).calls
    return [function.__globals__[name] for name in names]  # pyright: ignore[reportFunctionMemberAccess]
