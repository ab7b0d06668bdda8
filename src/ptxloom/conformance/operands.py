"""The operands of a form in a kernel of one instruction: registers, cells of memory, constants.

Only forms whose result depends only on their operands have such a list; `operands_of` reports why others do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from ptxloom.dataclass import dataclass
from ptxloom.isa.products import PRODUCTS, form_of
from ptxloom.isa.types import ElementType, Kind, element_type, is_type
from ptxloom.isa.vectors import vector_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot
    from ptxloom.isa.spec import OperandRule

Role = Literal["drawn", "kept", "cell", "text"]

CELL_BYTES: Final = 32
"""The bytes of memory of each thread at an address: the largest access."""

EVERY_LANE: Final = "0xffffffff"
SPACES: Final = ("global", "shared", "shared::cta", "local")
"""The memory of cells."""
GENERIC: Final = ("global", "shared")
"""The places of cells with a generic address: each makes a path of its own."""


_WORD: Final = element_type("b32")


class Unsuited(Exception):  # noqa: N818 - a reason, not a fault
    """Why a form cannot be tested as a single instruction."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a form.

    Attributes:
        name: Its name in the manual.
        role: Drawn: registers with inputs. Kept: registers with results. Cell: an address. Text: a
            constant, as written.
        type: The type of the elements in each register; for a cell, of the moved data.
        registers: Their number.
        register_bits: The width of each; 1 for a predicate.
        braced: Whether it is in braces.
        space: The state space that the form names for a cell; empty: its address is generic.
        home: The place of the cell.
        text: The text of the constant.
        does: What the instruction does at a cell, a word of `isa.spec.DOES`.
        whole: Whether all lanes use one address, that of their warp's cells.
        shift: The offset of an element's bits in its container.
        container_bits: The bits that one element takes up in a register.
    """

    name: str
    role: Role
    type: ElementType = _WORD
    registers: int = 1
    register_bits: int = 32
    braced: bool = False
    space: str = ""
    home: str = ""
    text: str = ""
    does: str = ""
    whole: bool = False
    shift: int = 0
    container_bits: int = 32

    @property
    def register_type(self) -> str:
        """The type of its registers' declaration, without the dot."""
        return "pred" if self.register_bits == 1 else f"b{self.register_bits}"

    @property
    def elements(self) -> int:
        """The number of elements in a register."""
        return max(1, self.register_bits // self.container_bits)


@dataclass(frozen=True, slots=True)
class Slot:
    """An operand, and the one that may follow it after `|`."""

    operand: Operand
    partner: Operand | None
    bracketed: bool


def operands_of(form: Form, count: int, constant: int, home: str) -> tuple[Slot, ...]:
    """The operands of a form.

    Args:
        form: The form.
        count: The number of its operands.
        constant: A number that selects one of an operand's legal constants.
        home: The place of a cell whose address is generic.

    Raises:
        Unsuited: Its result does not depend only on its operands.
    """
    return tuple(_slot(slot, form, constant, home) for slot in form.operands(count))


def _slot(slot: OperandSlot, form: Form, constant: int, home: str) -> Slot:
    if slot.extra:
        raise Unsuited("more than an address in brackets")
    rules = form.spec.operands
    partner = _operand(rules[slot.partner], form, constant, home) if slot.partner else None
    return Slot(_operand(rules[slot.name], form, constant, home), partner, slot.bracketed)


def _operand(rule: OperandRule, form: Form, constant: int, home: str) -> Operand:
    if rule.such:
        return Operand(rule.name, "text", text=rule.such)
    match rule.kind:
        case "register" | "value" | "vector":
            return _registers(rule, form)
        case "fragment":
            return _fragment(rule, form)
        case "constant":
            return Operand(rule.name, "text", text=_constant(rule, constant))
        case "address":
            return _cell(rule, form, home)
        case _:
            raise Unsuited(f"an operand that is a {rule.kind}")


def _role(rule: OperandRule) -> Role:
    if rule.updated:
        raise Unsuited("an operand that is read and written")
    return "kept" if rule.written else "drawn"


def _registers(rule: OperandRule, form: Form) -> Operand:
    if rule.name == "membermask":
        return Operand(rule.name, "text", text=EVERY_LANE)
    if form.opcode == "wmma" and rule.name == "stride":
        return Operand(rule.name, "text", text=str(_stride(form)))
    found = _type(rule.type, form)
    if not is_type(found):
        raise Unsuited(f"an operand whose type is {found or 'not said'}")
    type_ = element_type(found)
    bits = type_.register_bits
    if bits == 8 and any(word == "wider" for word, _ in rule.traits):
        bits = 16
    if bits > 64:
        raise Unsuited("registers of 128 bits")
    length = vector_length(form, rule.name) if rule.kind == "vector" else 0
    return Operand(
        rule.name, _role(rule), type_, max(length, 1), bits, length > 0, container_bits=_container(type_, bits)
    )


def _container(type_: ElementType, register_bits: int) -> int:
    """The bits that an element has in a register; a narrow integer has all of them, as the others are ignored."""
    if type_.count > 1:
        return min(register_bits, max(type_.bits, register_bits // type_.count))
    return register_bits


def _fragment(rule: OperandRule, form: Form) -> Operand:
    length = vector_length(form, rule.name)
    if form.opcode in PRODUCTS and rule.name in "abcd":
        product = form_of(form)
        type_ = element_type(product.type_of(rule.name))
        bits, shift = product.container_bits(rule.name), product.payload_shift(rule.name)
    else:
        found = _type(rule.type, form)
        type_ = element_type(found if is_type(found) else "b32")
        bits, shift = type_.packed_bits, 0
    wide = 64 if type_.name == "f64" else 32
    return Operand(rule.name, _role(rule), type_, length, wide, braced=True, shift=shift, container_bits=bits)


def _constant(rule: OperandRule, choice: int) -> str:
    if rule.limits is None:
        return str(choice % 251)
    if rule.limits.among:
        return str(rule.limits.among[choice % len(rule.limits.among)])
    steps = (min(rule.limits.most, 255) - rule.limits.least) // rule.limits.multiple + 1
    return str(rule.limits.least + choice % max(steps, 1) * rule.limits.multiple)


def _cell(rule: OperandRule, form: Form, home: str) -> Operand:
    space = form.filling.get(rule.type[1:], "") if rule.type[:1] == "." else rule.type
    does = rule.done(form.filling)
    if (space and space not in SPACES) or does not in {"reads", "writes", "updates"}:
        raise Unsuited(f"an address in {space or 'any space'} with the effect `{does or 'none'}`")
    if not space and home == "shared" and form.filling.get("vec") and does == "updates":
        raise Unsuited("vectors are updated in global memory alone")
    whole = form.opcode == "wmma"
    return Operand(rule.name, "cell", _moved(form), space=space, home=space or home, does=does, whole=whole)


def _stride(form: Form) -> int:
    """The stride of a matrix's rows or columns in elements: they are contiguous."""
    matrix = next(name for name in "abcd" if form.filling.get(name))
    rows, columns = form_of(form).extent(matrix)
    return columns if "row" in form.filling.values() else rows


def _moved(form: Form) -> ElementType:
    """The type of the moved data: that of the first operand with a type."""
    for slot in form.line.operands:
        found = _type(form.spec.operands[slot.name].type, form)
        if is_type(found) and element_type(found).kind is not Kind.PREDICATE:
            return element_type(found)
    return _WORD


def _type(name: str, form: Form) -> str:
    slot, doubled, _ = name.partition("*2")
    found = form.filling.get(slot[1:], "") if slot[:1] == "." else slot
    return f"b{2 * element_type(found).storage_bits}" if doubled and is_type(found) else found


def all_operands(slots: tuple[Slot, ...]) -> Iterator[Operand]:
    """Every operand, each followed by its partner."""
    for slot in slots:
        yield slot.operand
        if slot.partner is not None:
            yield slot.partner
