"""The kinds of operands: register, variable, constant..., with the type, and the owner of a parameter."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from ptxloom.dataclass import dataclass


class What(StrEnum):
    """Sorts of operands; the values are the words in messages."""

    REGISTER = "a register"
    WIDE_REGISTER = "a vector register"
    SPECIAL = "a special register"
    VARIABLE = "a variable"
    FUNCTION = "a function"
    LABEL = "a label"
    INTEGER = "an integer"
    FLOAT = "a floating-point constant"
    SINK = "`_`"
    VECTOR = "a vector"
    ADDRESS = "an address"
    NEGATED = "a negated operand"
    PART = "a part of a register"
    NO_PART = "a part that this name does not have"
    HIDDEN = "a part of a special register that a declaration hides"
    PAIR = "a pair"
    LIST = "a list"
    SUM = "a name and an offset"
    ELEMENT = "an element of an array"
    ODD = "an expression"
    UNKNOWN = "an undeclared name"


@dataclass(frozen=True, slots=True, eq=False)
class OperandKind:
    """The kind of an operand. Equal kinds are the same object, so that they are cheap to compare.

    Attributes:
        what: The sort of thing.
        type: The type of a register, a special register or a variable; of a float constant "f32" or "f64".
        length: How many elements a vector register or a special register has; 0 for one.
        space: The state space of a variable.
        owner: Of a parameter what receives it, "entry" or "func"; "result" if the function returns it; of a
            `.param` variable of the body "returned" once a call has returned it, else empty.
    """

    what: What
    type: str = ""
    length: int = 0
    space: str = ""
    owner: str = ""


@cache
def seen(what: What, type: str = "", length: int = 0, space: str = "", owner: str = "") -> OperandKind:  # noqa: A002 - the field's own name
    """The shared object with these values."""
    return OperandKind(what, type, length, space, owner)


INTEGER = seen(What.INTEGER)
SINK = seen(What.SINK)
ODD = seen(What.ODD)
NO_PART = seen(What.NO_PART)
HIDDEN = seen(What.HIDDEN)
UNKNOWN = seen(What.UNKNOWN)
LABEL = seen(What.LABEL)
FUNCTION = seen(What.FUNCTION)
