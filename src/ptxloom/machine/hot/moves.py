"""How contents move between slots on the function's stack and their homes in the warp, as lines of IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.hot.slots import Slot, Slots


def slot_name(number: int) -> str:
    """The pointer to a slot on the stack."""
    return f"%slot{number}"


class Moves:
    """Lines that move contents of slots; each names its values anew.

    Attributes:
        places: The bytes of the register file that pointers point to, by the pointers' names.
    """

    def __init__(self, slots: Slots, through: int, places: Mapping[str, int]) -> None:
        self._slots = slots
        self._through = through
        self.places = places
        self._count = 0

    def kept(self, chosen: int) -> Iterator[tuple[int, Slot]]:
        """The slots of a set that are on the stack."""
        return ((n, one) for n, one in enumerate(self._slots.slots) if chosen >> n & 1 and not one.apart)

    def held(self, pointer: str) -> int | None:
        """The byte of the register file that a pointer points to; None if it is not in a slot on the stack."""
        at = self.places.get(pointer, -1)
        return at if self._slots.holds(at) else None

    def goes_home(self, at: int) -> bool:
        """Whether the home of a byte's slot is always up to date."""
        return bool(self._through >> self._slots.number(at) & 1)

    def in_slot(self, at: int) -> str:
        """The pointer to a byte, in its slot."""
        number = self._slots.number(at)
        return f"getelementptr i8, ptr {slot_name(number)}, i64 {at - self._slots.slots[number].at}"

    def at_home(self, at: int) -> str:
        """The pointer to a byte, at home."""
        return f"getelementptr i8, ptr %w, i64 {state.REGISTERS + at}"

    def fill(self, chosen: int) -> Iterator[str]:
        """Move the contents of slots from their homes."""
        for n, slot in self.kept(chosen):
            yield from self.moved(slot.type, slot.at, slot_name(n))

    def empty(self, chosen: int) -> Iterator[str]:
        """Move the contents of slots to their homes."""
        for n, slot in self.kept(chosen):
            yield from self.moved(slot.type, slot_name(n), slot.at)

    def moved(self, type_: str, source: str | int, target: str | int) -> Iterator[str]:
        """Move a value between two places: pointers, or bytes of the register file at home."""
        named: list[str] = []
        for end in (source, target):
            if isinstance(end, str):
                named.append(end)
            else:
                named.append(self.value())
                yield f"{named[-1]} = {self.at_home(end)}"
        value, firm = self.value(), self.value()
        yield f"{value} = load {type_}, ptr {named[0]}, align 4"
        yield f"{firm} = freeze {type_} {value}"
        yield f"store {type_} {firm}, ptr {named[1]}, align 4"

    def type_of(self, at: int, size: int) -> str:
        """The type as which a number of bytes of a byte's slot is moved."""
        slot = self._slots.slots[self._slots.number(at)]
        if slot.size == size:
            return slot.type
        return f"<{size // 4} x i32>" if size % 4 == 0 else f"<{size} x i8>"

    def value(self) -> str:
        """A new value's name."""
        return f"%{self.label()}"

    def label(self) -> str:
        """A new label."""
        self._count += 1
        return f"hot{self._count}"
