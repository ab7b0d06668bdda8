"""The operand that is being written in an unfinished instruction, and what is legal there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.expected_operand import wanted
from ptxloom.dataclass import dataclass
from ptxloom.isa import known, resolve
from ptxloom.isa.spaces import MEMORY
from ptxloom.isa.types import element_type, is_type

if TYPE_CHECKING:
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.isa import Form
    from ptxloom.lsp.names import Declared

_HEAD: Final = re.compile(r"([a-z]\w*)((?:\.[\w:]+)*)\s+", re.ASCII)
_ADDRESS_BITS: Final = (64, 32)


@dataclass(frozen=True, slots=True)
class Expected:
    """The operand that is being written.

    Attributes:
        form: The form that the qualifiers name.
        place: The index of the operand, from 0.
        bracketed: Whether the place is inside square brackets.
        wanted: The form's rule for it; None if it has no such operand.
    """

    form: Form
    place: int
    bracketed: bool
    wanted: ExpectedOperand | None

    def fits(self, symbol: Declared) -> bool:
        """Whether a register or variable is legal here, judging by its type."""
        declaration = symbol.declaration
        if declaration is None or self.wanted is None:
            return False
        if self.bracketed:
            return _is_address(declaration.type) if declaration.space == "reg" else self._reaches(declaration.space)
        whole = declaration.vector in {0, self.wanted.length}
        return declaration.space == "reg" and whole and self.wanted.fits(declaration.type)

    def _reaches(self, space: str) -> bool:
        """Whether the address may be that of a variable in a state space; a generic one covers several."""
        named = self.wanted.type.partition("::")[0] if self.wanted else ""
        return space == named if named else space in MEMORY and MEMORY[space].is_generic


def _is_address(type_: str) -> bool:
    return is_type(type_) and element_type(type_).kind in set("bus") and element_type(type_).bits in _ADDRESS_BITS


def expected(statement: str) -> Expected | None:
    """The operand at the end of a statement's text; None if the text does not end in the operands of a known form.

    Example:
        >>> it = expected("ld.global.b32 %r1, [")
        >>> it.form.spelling, it.place, it.bracketed, it.wanted.kind
        ('ld.global.b32', 1, True, 'address')
    """
    head = _HEAD.match(statement)
    if head is None or not known(head[1]):
        return None
    form = resolve(head[1], tuple(head[2].split(".")[1:])).form
    if form is None:
        return None
    place, bracketed = _place(statement[head.end() :])
    slots = form.operands(form.counts[-1])
    rule = form.spec.operands[slots[place].name] if place < len(slots) else None
    return Expected(form, place, bracketed, wanted(form, rule) if rule else None)


def _place(operands: str) -> tuple[int, bool]:
    """The number of complete operands in a text, and whether it ends inside square brackets."""
    place, depth = 0, 0
    for letter in operands:
        if letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            place += 1
    return place, operands.rfind("[") > operands.rfind("]")
