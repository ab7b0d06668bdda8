"""The run-time's functions that are generated on demand, by their names alone."""

from __future__ import annotations

from functools import partial
from importlib import import_module  # noqa: TID251 - code that is kept names functions of the run-time
from typing import TYPE_CHECKING, Final

from ptxloom.machine.native import jit
from ptxloom.machine.runtime import hazards
from ptxloom.machine.runtime.initcheck import fast_path as init_path
from ptxloom.machine.runtime.memory import access, lane_access
from ptxloom.machine.runtime.racecheck.fast_path import look as race_path
from ptxloom.machine.runtime.warps import barriers, reconvergence, scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Where the functions are that are loaded together (`native/together.py`): all of them, whatever else is imported.
TOGETHER: Final = (barriers, hazards, lane_access, reconvergence, scheduler)
_OURS: Final = "ptxloom."
_FOLLOWING: Final = "ptxloom.machine.runtime.provenance."
_MADE: Final = (
    (access.NAME, access.access_function),
    (race_path.NAME, race_path.race_function),
    (init_path.NAME, init_path.init_function),
)


def load_accesses(names: Iterable[str], *, watched: bool) -> None:
    """Load the machine code of warp-wide loads and stores, and of the tools' code for them."""
    if not watched:
        jit.link({name: partial(made, name) for name in names})
        return
    for name in names:
        jit.linked(name, partial(made, name), watched=True)


def made(name: str) -> tuple[str, tuple[Callable[..., object], ...]]:
    """The IR of such a function, and the native functions it calls."""
    return next(make for known, make in _MADE if known.fullmatch(name))(name)


def native_name(function: Callable[..., object]) -> str:
    """The name of a native function in cached code."""
    return f"{function.__module__}:{function.__name__}"


def named_address(name: str, *, watched: bool) -> int:
    """The machine code of the native function that `native_name` named so."""
    module, _, called = name.partition(":")
    if watched and module.startswith(_FOLLOWING):
        from ptxloom.machine.runtime.provenance.following import FOLLOWING  # noqa: PLC0415 - few launches are followed

        if any((one.__module__, one.__name__) == (module, called) for one in FOLLOWING):
            jit.link_watched(FOLLOWING)
    if module.startswith(_OURS):
        return jit.named_address(module, called, watched=watched)
    return jit.native_address(vars(import_module(module))[called], watched=watched)
