"""One change of a kernel: instructions, each with what stands in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.program.model import Op

OWN = "%t"  # the register of its own that a rewrite may have


class Rewrite(NamedTuple):
    """What stands in the place of one instruction.

    Attributes:
        lines: Instructions without a guard: they have that of the instruction.
        own: The type of the register `%t` that they use among themselves; empty if they use none.
    """

    lines: tuple[str, ...]
    own: str = ""

    def guarded(self, guard: str) -> tuple[str, ...]:
        """The same behind a guard such as `@%p1 `, in braces if it has a register of its own."""
        body = tuple(f"{guard}{line}" for line in self.lines)
        return ("{", f".reg .{self.own} {OWN};", *body, "}") if self.own else body


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Something that may have been meant.

    Attributes:
        cause: What was mistaken: one of `CAUSES`.
        what: The change in words, relative to what stands there: `ge -> gt`, `+1`.
        rewrites: The instructions and what stands in their place.
        rank: How far it is from what people mistake, 0 the nearest.
    """

    cause: str
    what: str
    rewrites: tuple[tuple[Op, Rewrite], ...]
    rank: int = 0

    @property
    def op(self) -> Op:
        """The first instruction."""
        return self.rewrites[0][0]

    @property
    def singles(self) -> Iterator[Change]:
        """The same change of each instruction by itself."""
        return (Change(self.cause, self.what, (one,), self.rank) for one in self.rewrites)


def of_node(new: tree.Instruction) -> Rewrite:
    """The rewrite of an instruction as this one."""
    operands = ", ".join(print_operand(one) for one in new.operands)
    return Rewrite((f"{new.spelling} {operands};",))


def with_operand(op: Op, place: int, operand: tree.Operand) -> Rewrite:
    """The rewrite of an instruction that has another operand at a place."""
    operands = (*op.operands[:place], operand, *op.operands[place + 1 :])
    return of_node(op.node.replace(operands=operands))


def guard_of(node: tree.Instruction) -> str:
    """The guard of an instruction as it is written, with a blank behind it; empty if it has none."""
    predicate = node.predicate
    return "" if predicate is None else f"@{'!' if predicate.negated else ''}{predicate.name} "


def together(changes: Iterable[Change], line_of: Mapping[int, object]) -> list[Change]:
    """Changes that change instructions of one source line alike as one: unrolling multiplies what is written once.

    Args:
        changes: Those of single instructions.
        line_of: The source line of each site; None if it is not known.

    Returns:
        The changes, those first that are nearest to what people mistake.
    """
    alike: dict[tuple[object, ...], dict[int, tuple[Op, Rewrite]]] = {}
    ranks: dict[tuple[object, ...], int] = {}
    for one in changes:
        line = line_of.get(one.op.site) or one.op.site
        key = one.cause, one.what, line, one.op.spelling
        alike.setdefault(key, {})[one.op.site] = one.rewrites[0]
        ranks[key] = one.rank
    found = [Change(str(key[0]), str(key[1]), tuple(several.values()), ranks[key]) for key, several in alike.items()]
    return sorted(found, key=lambda one: one.rank)
