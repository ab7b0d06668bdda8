"""The places of registers' tags, and how results avoid overwriting tags that are still to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.limits import LANES
from ptxloom.machine.analysis.carriers import carried
from ptxloom.machine.codegen.places import COMPONENTS
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.runtime.provenance import register_heads, register_tags
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op, Program

SPARE_LANE_BYTES: Final = 64  # of tags behind those of all registers, for results that would overwrite their sources


class TagPlace(NamedTuple):
    """The place of a register's tags, like the register's own, and its bytes per lane."""

    place: int
    size: int

    def overlaps(self, other: TagPlace) -> bool:
        """Whether two registers share some of their place."""
        return self.place < other.place + LANES * other.size and other.place < self.place + LANES * self.size


class TagPlaces:
    """The tags of a program's registers."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def held(self, op: Op, operand: tree.Operand) -> TagPlace | None:
        """The place of an operand's tags; None if it has no origin: a literal, a counter, an address."""
        index = 0
        if isinstance(operand, tree.Component):
            operand, index = operand.base, COMPONENTS[operand.field]
        if not isinstance(operand, tree.Name):
            return None
        found = carried(self.program, op, operand.text)
        if found is None or found.type.kind == "p":
            return None
        return TagPlace(found.offset + index * found.bytes, found.lane_bytes)

    @property
    def spare(self) -> int:
        """The spare place for results."""
        return spare_place(self.program)

    def into(
        self, op: Op, targets: Sequence[tree.Operand], sources: Sequence[TagPlace], *, in_place: bool = False
    ) -> list[TagPlace | None]:
        """The first destination of results: their registers, or the spare place if that would overwrite unread tags.

        A register may be changed `in_place` where each lane's bytes are read before they are given.
        """
        found = [self.held(op, target) for target in targets]
        same = in_place and len(found) == 1 == len(sources) and found[0] == sources[0]
        if same or not any(held is not None and held.overlaps(source) for held in found for source in sources):
            return found
        at = self.spare
        aside: list[TagPlace | None] = []
        for held in found:
            aside.append(None if held is None else TagPlace(at, held.size))
            at += 0 if held is None else LANES * held.size
        return aside

    def settle(self, b: Builder, op: Op, targets: Sequence[tree.Operand], into: Sequence[TagPlace | None]) -> None:
        """Move results to their registers."""
        for target, aside in zip(targets, into, strict=True):
            held = self.held(op, target)
            if held is not None and aside is not None and held != aside:
                self.copy(b, op, held, aside, b.active_mask)

    def copy(self, b: Builder, op: Op, held: TagPlace, source: TagPlace | None, lanes_: Value) -> None:
        """Copy the tags of a register to another, in some lanes."""
        count = 0 if source is None else min(held.size, source.size)
        if source is not None:
            b.runtime(register_tags.move_tags, W, op.site, lanes_, *held, 0, *source, 0, count)
        if count < held.size:
            b.runtime(register_heads.clear_tags, W, lanes_, *held, count, held.size - count)

    def clear(self, b: Builder, held: TagPlace) -> None:
        """Clear the tags of a register."""
        b.runtime(register_heads.clear_tags, W, b.active_mask, *held, 0, held.size)


def spare_place(program: Program) -> int:
    """The spare place after the registers."""
    return -(-program.register_bytes // LANES) * LANES
