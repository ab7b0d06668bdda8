"""The run-time's functions that are generated on demand, by their names alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ptxloom.machine.native import jit
from ptxloom.machine.native.together import load_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HERE: Final = __name__.rpartition(".")[0]
#: By module, the functions that are loaded together (`native/together.py`): a launch of kept code imports none of them.
_TOGETHER: Final = {
    "hazards": ("entry_of_party",),
    "memory.lane_access": ("move_lanes", "place"),
    "warps.barriers": ("barrier_wait_at", "barrier_whole"),
    "warps.reconvergence": ("converge", "diverge", "go", "leave", "leave_whole", "note_gone", "tick"),
    "warps.scheduler": ("run_worker",),
}
_FOLLOWING: Final = "ptxloom.machine.runtime.provenance."
for _module, _names in _TOGETHER.items():
    load_together(f"{_HERE}.{_module}", _names)


def load_accesses(names: Iterable[str], *, watched: bool) -> None:
    """Load the machine code of warp-wide loads and stores, and of the tools' code for them."""
    if not watched:
        jit.link({name: partial(made, name) for name in names})
        return
    for name in names:
        jit.linked(name, partial(made, name), watched=True)


def made(name: str) -> tuple[str, tuple[Callable[..., object], ...]]:
    """The IR of such a function, and the native functions it calls."""
    from ptxloom.machine.runtime.initcheck import fast_path as init_path  # noqa: PLC0415 - kept code needs no IR
    from ptxloom.machine.runtime.memory import access  # noqa: PLC0415 - likewise
    from ptxloom.machine.runtime.racecheck.fast_path import look  # noqa: PLC0415 - likewise

    made_by = (
        (access.NAME, access.access_function),
        (look.NAME, look.race_function),
        (init_path.NAME, init_path.init_function),
    )
    return next(make for known, make in made_by if known.fullmatch(name))(name)


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
    return jit.named_address(module, called, watched=watched)
