"""A call of a kernel and its effects: the same for PTX and for Python that launches kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.fragments.number_types import is_array

if TYPE_CHECKING:
    from collections.abc import Collection

    from ptxloom.comparison.rounding import Precision
    from ptxloom.judge.problem import Arguments

POISONS: Final = (0xFF, 0x5A)
"""The fill bytes of outputs before a call; an element that still holds either afterwards was not written."""
_GUARD_BYTES: Final = 4096
_ALIGNMENT: Final = 256  # of memory from cudaMalloc
_GUARD: Final = 0xA7

CHECKS: Final = (
    "memcheck", "memcheck:variables", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global",
)  # fmt: skip
"""The tools that watch every call."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a kernel.

    Attributes:
        shape: The argument of `launch(shape)`.
        arguments: Arrays and numbers by name.
        outputs: Which arrays are outputs.
        unwritten: Which of these are unwritten at first.
        late: Contents that replace the inputs when the kernel's first launch begins.
        poison: The fill byte of outputs.
        schedule: Another order of warps for each number.
        idle: Whether launches do nothing.
    """

    shape: tuple[int, ...]
    arguments: Arguments
    outputs: tuple[str, ...]
    unwritten: frozenset[str]
    poison: int = POISONS[0]
    schedule: int = 0
    idle: bool = False
    late: Arguments | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """The effects of a call.

    Attributes:
        arrays: Every array afterwards, by name.
        hazards: The reports of the tools, a text each.
        ended: Why it did not finish; empty if it did.
        launches: How many kernels ran.
        instructions: How many warp instructions they took.
        precision: The type that they compute in, as far as it is known.
        guards: Arrays next to which something was written.
        told: Tricks that were seen, by their names in `hacks.HACKS`.
        in_place: Whether inputs were replaced before the first launch, as requested.
    """

    arrays: dict[str, np.ndarray[Any, Any]]
    hazards: tuple[str, ...] = ()
    ended: str = ""
    launches: int = 1
    instructions: int = 0
    precision: Precision | None = None
    guards: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    in_place: bool = False


class CallableKernel(Protocol):
    """A kernel that can be called."""

    def call(self, call: Call) -> Ran:
        """Call it once; its state from earlier calls persists."""
        ...

    def close(self) -> None:
        """Stop everything that was started for it."""
        ...


class Rooms:
    """Memory for arrays, the same for each call with arrays of the same shapes, with guards before and behind each."""

    def __init__(self) -> None:
        self._rooms: dict[tuple[str, tuple[int, ...], str], np.ndarray[Any, Any]] = {}

    def placed(self, call: Call) -> Arguments:
        """The arguments of a call, copied to their places; outputs that hold nothing are poisoned."""
        placed: Arguments = {}
        for name, value in call.arguments.items():
            if not is_array(value):
                placed[name] = value
                continue
            array = self._room(name, value)
            if name in call.unwritten:
                array.reshape(-1).view(np.uint8)[:] = call.poison
            else:
                array[...] = value
            placed[name] = array
        return placed

    def broken(self, arguments: Arguments) -> tuple[str, ...]:
        """The arrays with writes before or behind them; restores the guards."""
        found: list[str] = []
        for name, value in arguments.items():
            if not is_array(value):
                continue
            before, behind = _guards(self._rooms[_key(name, value)], value)
            if (before != _GUARD).any() or (behind != _GUARD).any():
                found.append(name)
                before[:] = behind[:] = _GUARD
        return tuple(found)

    def _room(self, name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        room = self._rooms.get(_key(name, value))
        if room is None:
            room = np.full(value.nbytes + 2 * _GUARD_BYTES + _ALIGNMENT, _GUARD, np.uint8)
            self._rooms[_key(name, value)] = room
        start = _start(room)
        return room[start : start + value.nbytes].view(value.dtype).reshape(value.shape)


def said_of(call: Call) -> dict[str, Any]:
    """A call without its arrays, as JSON."""
    return {
        "shape": list(call.shape), "outputs": list(call.outputs), "unwritten": sorted(call.unwritten),
        "poison": call.poison, "schedule": call.schedule, "idle": call.idle, "late": sorted(call.late or ()),
    }  # fmt: skip


def call_of(said: dict[str, Any], arguments: Arguments) -> Call:
    """Read a call back from JSON; late arrays are among the arguments under their own names."""
    late = {name: arguments.pop(f"late {name}") for name in said["late"]}
    return Call(
        tuple(said["shape"]), arguments, tuple(said["outputs"]), frozenset(said["unwritten"]), said["poison"],
        said["schedule"], said["idle"], late or None,
    )  # fmt: skip


def unwritten(array: np.ndarray[Any, Any], poison: int) -> np.ndarray[Any, Any]:
    """Which elements still hold the poison in every byte."""
    if not array.size:
        return np.zeros(array.shape, np.bool_)
    data = np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)
    same: np.ndarray[Any, Any] = (data == poison).all(axis=1).reshape(array.shape)
    return same


def arrays_of(arguments: Arguments, besides: Collection[str] = ()) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays among arguments, except for some."""
    return {name: value for name, value in arguments.items() if is_array(value) and name not in besides}


def _key(name: str, value: np.ndarray[Any, Any]) -> tuple[str, tuple[int, ...], str]:
    return name, value.shape, value.dtype.str + value.dtype.name


def _start(room: np.ndarray[Any, Any]) -> int:
    return _GUARD_BYTES + -(int(room.ctypes.data) + _GUARD_BYTES) % _ALIGNMENT


def _guards(
    room: np.ndarray[Any, Any], value: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    start = _start(room)
    return room[:start], room[start + value.nbytes :]
