"""Multiplicands unpacked once: what a block has prepared of registers, for as long as these stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.analysis import written
from ptxloom.machine.ir import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.program import Op

#: Images of one size that a block keeps at a time.
KEPT: Final = 8


class Images:
    """Places on the stack for images of registers; each image stays until a register of its is written.

    Attributes:
        allocas: The places, to be made at the function's start.
    """

    def __init__(self) -> None:
        self.allocas: list[str] = []
        self._places: dict[int, list[Value]] = {}  # by size: those in use first used longest ago
        self._held: dict[tuple[str, tuple[int, ...]], Value] = {}

    def image(self, kind: str, registers: tuple[int, ...], size: int, make: Callable[[Value], None]) -> Value:
        """The image of some registers (by their places); `make` writes code that fills it if there is none."""
        key = (kind, registers)
        if key not in self._held:
            self._held[key] = place = self._free(size)
            make(place)
        return self._held[key]

    def note(self, op: Op) -> None:
        """Forget what an instruction makes stale."""
        if self._held:
            changed = {register.offset for register in written(op)}
            self._held = {key: place for key, place in self._held.items() if changed.isdisjoint(key[1])}

    def forget(self) -> None:
        """Forget everything: another block begins."""
        self._held.clear()

    def _free(self, size: int) -> Value:
        """A place that no image needs, else that of the oldest image of the size."""
        places = self._places.setdefault(size, [])
        used = list(self._held.values())
        for place in places:
            if place not in used:
                return place
        if len(places) < KEPT:
            place = Value("ptr", f"%image{len(self.allocas)}")
            self.allocas.append(f"{place.text} = alloca [{size} x i8], align 64")
            places.append(place)
            return place
        oldest = next(key for key, place in self._held.items() if place in places)
        return self._held.pop(oldest)
