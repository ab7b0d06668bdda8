"""The operand that an instruction requires: the ISA data's rule with the form's qualifiers filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.checker.core.type_compatibility import register_fits
from ptxloom.dataclass import dataclass
from ptxloom.isa.spaces import SPACES
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.isa.vectors import fragment_register, vector_length

if TYPE_CHECKING:
    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import Limits, OperandRule

_UNTYPED = "b32"


@dataclass(frozen=True, slots=True)
class ExpectedOperand:
    """One operand of one form.

    Attributes:
        kind: As in the ISA data: "register", "value", "constant", "vector", "address"...
        type: The element type; for an address its state space; empty if not specified.
        written: Whether the instruction writes it.
        fixed: Whether the manual fixes the type, instead of the instruction.
        length: The length of a vector; 0 for a scalar.
        traits: Further things that are legal here.
        limits: Which values a constant may have; None if any.
        space: The state space of a variable whose name is legal here; empty: any.
        about: Its meaning.
        indexed: Whether it is a place whose first number may be the index in an array.
    """

    kind: str
    type: str
    written: bool
    fixed: bool
    length: int
    traits: frozenset[str]
    limits: Limits | None
    space: str
    about: str
    indexed: bool = False

    def has(self, trait: str) -> bool:
        """Whether a trait holds here."""
        return trait in self.traits

    @property
    def wider(self) -> bool:
        """Whether a register may be wider than the type."""
        return "wider" in self.traits

    def fits(self, register: str) -> bool:
        """Whether a register of this type is legal here."""
        if register == "pred" and "predicate" in self.traits:
            return True
        if register == "f16x2" and "twin" in self.traits:
            return True
        if "untyped" in self.traits:
            register = untyped(register)
        if "long" in self.traits and register_fits(register, "u64", fixed=True):
            return True
        wider = self.wider and not ("integral" in self.traits and register.startswith("f"))
        return register_fits(register, self.type, wider, self.fixed)

    @property
    def constants(self) -> bool:
        """Whether a constant is legal here."""
        return self.kind != "register" and not self.written and "bare" not in self.traits

    @property
    def takes_sums(self) -> bool:
        """Whether ptxas accepts a name and an offset here: wherever an integer is legal."""
        if self.kind == "constant" or (self.fixed and self.type in {"b64", "u64"}):
            return False
        return is_type(self.type) and element_type(self.type).kind not in {Kind.FLOAT, Kind.PREDICATE}

    @property
    def takes_functions(self) -> bool:
        """Whether ptxas accepts a function's name here: wherever the instruction states the type."""
        return (
            self.kind != "constant"
            and self.constants
            and not (self.fixed or self.written)
            and not (self.wider and self.kind == "value")
        )

    def lets_pass(self, register: str) -> bool:
        """Whether ptxas accepts a register that does not fit: halves for a predicate, some integers for floats."""
        if self.type == "pred":
            return register == "f16x2" and not self.fixed
        if not self.has("integer") or self.fits(register) or not is_type(self.type):
            return False
        return register_fits(register, f"s{element_type(self.type).bits}", fixed=True)

    def of_length(self, length: int) -> ExpectedOperand:
        """The same as a vector of another length, or with 0 as one value."""
        return replace(self, kind="vector" if length else "value", length=length)

    def typed(self, type_: str) -> ExpectedOperand:
        """The same as one value of a fixed type."""
        return replace(self, kind="value", length=0, type=type_, fixed=True)

    @property
    def phrase(self) -> str:
        """The operand in words."""
        match self.kind:
            case "register":
                return f"a `.{self.type}` register"
            case "constant":
                return "a constant"
            case "vector" | "place" if self.length:
                return f"a vector of {self.length}"
            case "address":
                return "an address"
            case _:
                return f"a `.{self.type}` register or a constant" if self.constants else f"a `.{self.type}` register"


def untyped(register: str) -> str:
    """The type of as many bits; a predicate has 32 of them for ptxas."""
    if not is_type(register) or register == "pred":
        return "b32" if register == "pred" else register
    return f"b{element_type(register).storage_bits}"


def wanted(form: Form, rule: OperandRule) -> ExpectedOperand:
    """The operand that a form requires."""
    fragment = rule.kind in {"fragment", "factor"}
    type_ = fragment_register(form, rule.name) if fragment else resolved(rule.type, form)
    if rule.kind == "address" and not type_:
        type_ = next((space for space in SPACES if form.filling.get(space)), "")
    return ExpectedOperand(
        "vector" if rule.kind == "fragment" else rule.kind,
        type_ if type_ or rule.kind == "address" else _UNTYPED,
        rule.written,
        type_ not in {"b32", "b64"} if fragment else not rule.type.startswith("."),
        vector_length(form, rule.name),
        _traits(form, rule),
        rule.limits,
        resolved(rule.space, form).partition("::")[0],
        rule.about,
        rule.kind == "place" and rule.length == "coordinates",
    )


def _traits(form: Form, rule: OperandRule) -> frozenset[str]:
    """The traits that hold in a form; ptxas takes no predicate in a fragment, unless the data says so."""
    found = frozenset(name for name, condition in rule.traits if condition.holds(form.filling))
    strict = rule.kind in {"fragment", "factor"} and "predicates" not in found
    return found | {"numbers"} if strict else found


def resolved(name: str, form: Form) -> str:
    """A type from the data with the form's own filled in: `.type`, or `.type*2` for one twice as wide."""
    slot = name.removesuffix("*2")
    found = form.filling.get(slot[1:], "") if slot.startswith(".") else slot
    if slot != name and is_type(found):
        kind = element_type(found)
        return f"{kind.kind}{2 * kind.storage_bits}"
    return found
