"""One change of a kernel: instructions and their replacements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.program.model import Op

CHOICE: Final = "ptxloom_choice"
"""What a launch chooses: a change (0: none), a site (0: all that it has), a number, a source, how many turns of loops a
thread may take, nothing, the first CTA that runs and how many."""
OWN: Final = "%t"  # a register of its own that a rewrite may have
READ: Final = "%u"  # another, for what no register holds until it is read
VALUE: Final = "%ptxloom_value"  # the number that a trial chooses, in 32 bits
WIDE: Final = "%ptxloom_wide"  # the same, its sign extended to 64
LITERAL: Final = 0xFFFFFFFF  # in the place of a source: the number itself
_HELD: Final = "%ptxloom_held"


def held(bits: int) -> str:
    """The register, by its width in bits (0: a predicate), with the number or source value that a trial chooses."""
    return f"{_HELD}{bits}"


_WEIGHT: Final = 1.5  # of the score of an instruction, in ranks


class Rewrite(NamedTuple):
    """The replacement of one instruction.

    Attributes:
        lines: Instructions without a guard: they have that of the instruction.
        own: The registers that they use among themselves, as they are declared: `b32 %t`.
        shared: The same with `VALUE`, `WIDE` and `held(...)` in the place of what other changes have other numbers or
            registers for: all of these are compiled once. Empty if there are no others.
    """

    lines: tuple[str, ...]
    own: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def compiled(self) -> Rewrite:
        """The rewrite that is compiled for this one and all that differ from it only in a number or a register."""
        return Rewrite(self.shared, self.own) if self.shared else self

    def guarded(self, guard: str) -> tuple[str, ...]:
        """The same behind a guard such as `@%p1 `, in braces if it has registers of its own."""
        body = tuple(f"{guard}{line}" for line in self.lines)
        return ("{", *(f".reg .{one};" for one in self.own), *body, "}") if self.own else body


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A possible intention.

    Attributes:
        cause: The mistake: one of `CAUSES`.
        what: The change in words, relative to the original: `ge -> gt`, `+1`.
        rewrites: The instructions and what stands in their place.
        rank: How unusual the mistake is; 0 is the commonest.
        value: The number that its shared form takes, in 32 bits.
        source: The register that its shared form takes, by its number.
        key: What is alike in the same change of other instructions; None: what it is in words.
        slot: What its shared form changes, alike in instructions of one line; None if it has none.
        score: How well the instructions match the wrong elements, 0 to 1.
        arms: What is compiled: the shared forms of all instructions of the line; empty: those of `rewrites`.
        told: The instruction whose line is named, if it is not the first one.
        entire: Whether it is only tried of all its instructions together.
    """

    cause: str
    what: str
    rewrites: tuple[tuple[Op, Rewrite], ...]
    rank: int = 0
    value: int = 0
    source: int = 0
    key: object = None
    slot: object = None
    score: float = 0.5
    arms: tuple[tuple[Op, Rewrite], ...] = ()
    told: Op | None = None
    entire: bool = False

    @property
    def op(self) -> Op:
        """The instruction whose line is named."""
        return self.told or self.rewrites[0][0]

    @property
    def singles(self) -> Iterator[Change]:
        """The same change of each instruction by itself."""
        return (replace(self, rewrites=(one,)) for one in self.rewrites)

    @property
    def compiled(self) -> tuple[tuple[Op, Rewrite], ...]:
        """The instructions and what is compiled in their place."""
        return self.arms or tuple((op, new.compiled) for op, new in self.rewrites)

    @property
    def likelihood(self) -> float:
        """Sort key, the likeliest change lowest: common mistakes first, and those that match the wrong elements."""
        return self.rank + _WEIGHT * (1 - self.score)


def of_node(new: tree.Instruction) -> Rewrite:
    """The rewrite of an instruction as this one."""
    operands = ", ".join(print_operand(one) for one in new.operands)
    return Rewrite((f"{new.spelling} {operands};",))


def with_operand(op: Op, place: int, operand: tree.Operand, shared: tree.Operand | None = None) -> Rewrite:
    """The rewrite of an instruction that has another operand at a place, and what stands there in the shared form."""
    made, *common = (
        of_node(op.node.replace(operands=(*op.operands[:place], one, *op.operands[place + 1 :])))
        for one in (operand, shared)
        if one is not None
    )
    return made._replace(shared=common[0].lines) if common else made


def guard_of(node: tree.Instruction) -> str:
    """The guard of an instruction as it is written, with a blank behind it; empty if it has none."""
    predicate = node.predicate
    return "" if predicate is None else f"@{'!' if predicate.negated else ''}{predicate.name} "


def together(changes: Iterable[Change], line_of: Mapping[int, object]) -> list[Change]:
    """Merge changes that alter the instructions of one source line in the same way, such as copies by unrolling.

    Args:
        changes: Those of single instructions.
        line_of: The source line of each site; None if it is not known.

    Returns:
        The changes, those first that are likeliest.
    """
    alike: dict[tuple[object, ...], dict[int, Change]] = {}
    shared: dict[tuple[object, ...], dict[int, tuple[Op, Rewrite]]] = {}
    for one in changes:
        line = line_of.get(one.op.site) or one.op.site, one.op.spelling
        alike.setdefault((one.cause, one.what if one.key is None else one.key, line), {})[one.op.site] = one
        if one.slot is not None:
            shared.setdefault((one.slot, line), {})[one.op.site] = one.op, one.rewrites[0][1].compiled
    found: list[Change] = []
    arms = {key: tuple(forms.values()) for key, forms in shared.items()}
    for (_, _, line), several in alike.items():
        first = next(iter(several.values()))
        rewrites = tuple(one.rewrites[0] for one in several.values())
        found.append(replace(first, rewrites=rewrites, arms=arms.get((first.slot, line), ())))
    return sorted(found, key=lambda one: one.rank)
