"""What an instruction does to memory, at which of its operands, by the ISA data of these (PTX ISA 9.7)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.load import known
from ptxloom.isa.spaces import MEMORY
from ptxloom.syntax.bind import form_by_looks, looks_of

if TYPE_CHECKING:
    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import OperandRule
    from ptxloom.syntax.tree import Instruction

READS: Final = "reads"
WRITES: Final = "writes"
UPDATES: Final = "updates"
OBJECT: Final = "object"
NAMES: Final = "names"
_LOADING: Final = frozenset((READS, UPDATES))
_STORING: Final = frozenset((WRITES, UPDATES))


class Touch(NamedTuple):
    """What is done at one address operand.

    Attributes:
        place: Which operand it is.
        does: A word of `isa.spec.DOES`.
        space: The state space as `isa.spaces.MEMORY` calls it; empty for generic addresses, and what is not a space.
        base: What the operand names: an `address`, or a `texture`, `sampler` or `surface`.
    """

    place: int
    does: str
    space: str
    base: str

    @property
    def loads(self) -> bool:
        """Whether memory is read there."""
        return self.does in _LOADING

    @property
    def stores(self) -> bool:
        """Whether memory is written there."""
        return self.does in _STORING


def touches(instruction: Instruction) -> tuple[Touch, ...]:
    """What an instruction does at each of its addresses; empty if its qualifiers name no form.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("cp.async.ca.shared.global [%a], [%b], 4;").statements
        >>> [(touch.place, touch.does, touch.space) for touch in touches(one)]
        [(0, 'writes', 'shared'), (1, 'reads', 'global')]
    """
    return _touches(instruction.opcode, instruction.qualifiers, looks_of(instruction))


def done_at(instruction: Instruction, place: int) -> str:
    """What an instruction does at one operand, a word of `isa.spec.DOES`; empty if that is not an address."""
    return next((touch.does for touch in touches(instruction) if touch.place == place), "")


def stores_to(instruction: Instruction, space: str) -> bool:
    """Whether an instruction writes to a state space, or to `generic` addresses; one of those may be in any space."""
    return any(touch.stores and (touch.space in {space, ""} or space == "generic") for touch in touches(instruction))


@lru_cache(maxsize=4096)
def _touches(opcode: str, qualifiers: tuple[str, ...], looks: str) -> tuple[Touch, ...]:
    if not known(opcode):
        return ()
    form = form_by_looks(opcode, qualifiers, looks)
    if form is None:
        return ()
    return touches_of(form, len(looks))


def touches_of(form: Form, operands: int) -> tuple[Touch, ...]:
    """What a form does at each of its addresses if it takes a number of operands."""
    rules = [form.spec.operands[slot.name] for slot in form.operands(operands)]
    return tuple(
        Touch(place, does, _space(rule, form), rule.type if rule.kind == "symbol" else "address")
        for place, rule in enumerate(rules)
        if (does := rule.done(form.filling))
    )


def _space(rule: OperandRule, form: Form) -> str:
    named = form.filling.get(rule.type[1:], "") if rule.type[:1] == "." else rule.type
    space = named.partition("::")[0] or rule.space
    return space if space in MEMORY else ""
