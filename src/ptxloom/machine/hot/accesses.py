"""How lines of a kernel's IR touch the registers of a warp: by loads and stores, accesses to memory, other calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.limits import LANES
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.native.ir import count, element, width
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import access

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLACE: Final = re.compile(r"(%[\w.]+) = getelementptr i8, ptr (%[\w.]+), i64 (\d+)$")
_LOAD: Final = re.compile(r"(%[\w.]+) = load (.+), ptr (%[\w.]+), align \d+$")
_STORE: Final = re.compile(r"store (.+), ptr (%[\w.]+), align \d+$")
_CALL: Final = re.compile(r"(?:(%[\w.]+) = )?call \S+(?: x \S+)? @([\w.]+)\((.*)\)$")
_NAME: Final = re.compile(r"%[\w.]+")
_ALL: Final = "i32 -1"
REACH: Final = 1024  # bytes behind a register's start that other functions are thought to touch


class RegisterTouch(NamedTuple):
    """Bytes of the register file that a line touches.

    Attributes:
        at: Their offset in the file.
        size: Their number.
        type: LLVM's, of a load or store; "" of a call.
        reads: Whether the old contents matter.
        writes: Whether the line replaces them completely.
        changes: Whether it may change any.
        apart: Whether the line is a call that needs them in memory.
    """

    at: int
    size: int
    type: str
    reads: bool
    writes: bool
    changes: bool
    apart: bool = False


class Warpwide(NamedTuple):
    """A call of an access to memory of a warp (`runtime/memory/access`).

    Attributes:
        result: The name of its result.
        name: The function.
        arguments: As text, with types.
        stores: Whether it writes memory.
    """

    result: str
    name: str
    arguments: tuple[str, ...]
    stores: bool

    @property
    def site(self) -> int:
        """The number of its instruction."""
        return int(self.arguments[5].removeprefix("i32 "))

    @property
    def is_whole(self) -> bool:
        """Whether all lanes always take part."""
        return self.arguments[3] == _ALL

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its pointers: to addresses, and to the values."""
        return tuple(one.removeprefix("ptr ") for one in (self.arguments[1], *self.arguments[6:]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The bytes at each of these."""
        found = access.NAME.fullmatch(self.name)
        assert found is not None
        values = (LANES * int(found[3]) // 8,) * int(found[4])
        return (LANES * (4 if found[2] == "shared" else 8), *values)


def warpwide(line: str) -> Warpwide | None:
    """The access that a line is."""
    found = _CALL.match(line)
    if found is None or not access.NAME.fullmatch(found[2]):
        return None
    return Warpwide(found[1], found[2], tuple(found[3].split(", ")), "_store_" in found[2])


class Touches:
    """Reads lines in order, and determines which parts of registers they touch.

    Attributes:
        places: The offsets of pointers into the register file, by name.
    """

    def __init__(self, register_bytes: int) -> None:
        self.places: dict[str, int] = {}
        self._bytes = register_bytes

    def of(self, line: str) -> Iterator[RegisterTouch]:
        """The parts that a line touches."""
        if found := _PLACE.match(line):
            self._place(*found.groups())
        elif found := _LOAD.match(line):
            if found[3] in self.places:
                yield RegisterTouch(
                    self.places[found[3]], _bytes(found[2]), found[2], reads=True, writes=False, changes=False
                )
        elif found := _STORE.match(line):
            if found[2] in self.places:
                type_ = _type(found[1])
                yield RegisterTouch(self.places[found[2]], _bytes(type_), type_, reads=False, writes=True, changes=True)
        elif one := warpwide(line):
            yield from self._of_access(one)
        else:
            yield from self._of_other(line)

    def _of_other(self, line: str) -> Iterator[RegisterTouch]:
        places = [self.places[name] for name in _NAME.findall(line) if name in self.places]
        if places and "call " not in line:
            raise NotHot(f"registers are touched by `{line}`")
        for place in places:
            yield RegisterTouch(place, REACH, "", reads=True, writes=False, changes=True, apart=True)

    def _place(self, name: str, base: str, by: str) -> None:
        start = -state.REGISTERS if base == "%w" else self.places.get(base)
        if start is not None and 0 <= start + int(by) < self._bytes:
            self.places[name] = start + int(by)

    def _of_access(self, one: Warpwide) -> Iterator[RegisterTouch]:
        for number, (name, size) in enumerate(zip(one.places, one.sizes, strict=True)):
            if name in self.places:
                changes = number > 0 and not one.stores
                new = changes and one.is_whole
                yield RegisterTouch(self.places[name], size, "", reads=not new, writes=new, changes=changes)


def _type(typed: str) -> str:
    return typed[: typed.index(">") + 1] if typed.startswith("<") else typed.partition(" ")[0]


def _bytes(type_: str) -> int:
    return max(1, count(type_)) * width(element(type_)) // 8
