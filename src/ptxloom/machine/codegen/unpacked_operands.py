"""Unpacked multiplicands, reused as long as their registers do not change.

Blocks follow one another, so an image may serve the next block too, unless that can be branched to. A warp may also
be sent to any block by the scheduler: every image has a run-time flag that says whether it has been made since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.mentions import destination, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.native.ir import Emitter
    from ptxloom.machine.program.model import BasicBlock, Op, Program

#: Images of one size that are kept at a time.
KEPT: Final = 8
_MADE: Final = Value("i32", "1")


class RegisterImages:
    """Places on the stack for images of registers; each image stays until a register of its is written.

    Attributes:
        allocas: The places, to be made at the function's start.
    """

    def __init__(self, program: Program) -> None:
        self.allocas: list[str] = []
        named = {destination(op) for block in program.blocks for op in block.ops[-1:]}
        jumps = {place for one in named if one is not None for place in one.blocks}
        self._jumped_to = jumps | {function.first for function in program.functions}
        self._places: dict[int, list[Value]] = {}  # by size: those in use first used longest ago
        self._held: dict[tuple[str, tuple[int, ...]], Value] = {}

    @property
    def resets(self) -> list[str]:
        """The instructions that invalidate every image, for places from which warps may be sent to any block."""
        return [f"store i32 0, ptr {place.text}.made" for places in self._places.values() for place in places]

    def image(
        self, b: Emitter, kind: str, registers: tuple[int, ...], size: int, make: Callable[[Value], None]
    ) -> Value:
        """The image of some registers (by their places); `make` writes code that fills it."""
        key = (kind, registers)
        known = self._held.get(key)
        place = self._held[key] = known or self._free(size)
        flag = Value("ptr", f"{place.text}.made")
        after = b.fresh("I")
        if known is not None:
            missing = b.fresh("I")
            made = b.compare("eq", b.load("i32", flag, 4), _MADE)
            b.do(f"br {made}, label %{after}, label %{missing}")
            b.label(missing)
        make(place)
        b.store(_MADE, flag, 4)
        b.do(f"br label %{after}")
        b.label(after)
        return place

    def room(self, name: str, size: int) -> Value:
        """A stack buffer for one instruction, shared by all users of this name."""
        place = Value("ptr", f"%room.{name.replace(' ', '.')}.{size}")
        line = f"{place.text} = alloca [{size} x i8], align 64"
        if line not in self.allocas:
            self.allocas.append(line)
        return place

    def note(self, op: Op) -> None:
        """Forget what an instruction makes stale."""
        if self._held:
            changed = {register.offset for register in written(op)}
            self._held = {key: place for key, place in self._held.items() if changed.isdisjoint(key[1])}

    def enter(self, block: BasicBlock) -> None:
        """Begin a block: images stay valid if it can be reached only from the block before."""
        if block.number in self._jumped_to or block.after is not None:
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
            self.allocas.append(f"{place.text} = alloca [{size} x i8], align 64\n{place.text}.made = alloca i32")
            places.append(place)
            return place
        oldest = next(key for key, place in self._held.items() if place in places)
        return self._held.pop(oldest)
