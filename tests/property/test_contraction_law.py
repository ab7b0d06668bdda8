"""What contraction and flow ask of words and effects they asked of opcodes before: the answers are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from property.spellings import legal
from ptxloom.isa.load import instruction_spec
from ptxloom.machine.contraction.products import Product, is_product, passes
from ptxloom.machine.contraction.straight import is_border
from ptxloom.readings.computed import adds, subtracts
from ptxloom.readings.effects import branches, turns
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Float, Instruction, Integer, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPUTING: Final = tuple(f"9.7.{section}." for section in (1, 2, 3, 4, 5, 6, 7, 8, 18))
MOVING: Final = frozenset(("mov", "prmt", "cvt", "cvta", "isspacep", "mapa", "getctarank"))
ALWAYS: Final = frozenset(("call", "membar", "brkpt", "setmaxnreg"))
LEADING: Final = frozenset(("bra", "brx"))
ENDING: Final = frozenset(("ret", "exit", "trap"))
LOOPS: Final = frozenset(("s32", "s64", "u64"))
ROUNDINGS: Final = frozenset(("rn", "rz", "rm", "rp"))
TYPES: Final = frozenset(("f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2"))
NEGATED: Final = TYPES - {"bf16x2", "f32x2"}
MOVED: Final = frozenset(("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"))
LEAST: Final = 3_500


def spelled() -> Iterator[Instruction]:
    """Every spelling with a guard and without one."""
    for one in legal().values():
        text = one.span.text.partition(" ")[2] if one.predicate is not None else one.span.text
        yield from (found for found in parse(f"{text} @%p {text}").statements if isinstance(found, Instruction))


def taken_apart(node: Instruction) -> bool:
    words = node.qualifiers
    rounded = not ROUNDINGS.isdisjoint(words)
    match node.opcode:
        case "fence":
            return not any(one.startswith("proxy") for one in words)
        case "div" | "rem":
            return rounded or words[-1] in LOOPS
        case "rcp" | "sqrt":
            return rounded
        case "rsqrt":
            return words[-1] == "f64"
        case _:
            return False


def was_border(node: Instruction) -> bool:
    if node.opcode in LEADING:
        return False
    selected = node.opcode in MOVING or instruction_spec(node.opcode).section.startswith(COMPUTING)
    guarded = node.predicate is not None and not selected
    return guarded or node.opcode in ALWAYS or taken_apart(node)


def plain(node: Instruction, *others: str) -> bool:
    *rest, type_ = node.qualifiers
    return type_ in TYPES and set(rest) <= set(others)


def was_product(node: Instruction) -> bool:
    if node.predicate is not None:
        return False
    match node.opcode, node.operands:
        case "mul", (_, *factors):
            return plain(node, "ftz") and not any(type(one) is Float and abs(one.value) == 1 for one in factors)
        case "div", _:
            return not {"approx", "full"}.isdisjoint(node.qualifiers)
        case "rcp", _:
            return node.qualifiers == ("approx", "f32")
        case _:
            return False


def did_pass(node: Instruction, type_: str, *, flushes: bool) -> bool:
    if node.predicate is not None or not all(type(one) is Name for one in node.operands[:2]):
        return False
    match node.opcode, node.qualifiers, node.operands[2:]:
        case "mov", (moved,), ():
            return moved in MOVED
        case "neg", (*flushing, own), ():
            return own == type_ and own in NEGATED and (flushes or not flushing)
        case "xor", ("b32",), (Integer(value),):
            return type_ == "f32" and value & 0xFFFFFFFF == 0x80000000
        case _:
            return False


def was_sum(node: Instruction) -> bool:
    return node.opcode in {"add", "sub"} and len(node.operands) == 3 and plain(node, "ftz", "sat")


def test_control_turns_where_it_turned() -> None:
    for node in spelled():
        assert branches(node) == (node.opcode in LEADING), node
        assert turns(node) == (node.opcode in LEADING | ENDING), node


def test_stretches_end_where_they_ended() -> None:
    nodes = tuple(spelled())
    wrong = {node.span.text: was_border(node) for node in nodes if is_border(node) != was_border(node)}
    assert not wrong
    assert len(nodes) > 2 * LEAST


def test_products_and_sums_are_the_same() -> None:
    for node in spelled():
        assert is_product(node) == was_product(node), node
        if len(node.operands) == 3 and node.qualifiers and plain(node, "ftz", "sat"):
            assert adds(node) == was_sum(node), node
            assert not adds(node) or subtracts(node) == (node.opcode == "sub"), node


def test_what_passes_a_product_on_is_the_same() -> None:
    texts = (f"mul{ftz}.{type_} d, a, b;" for type_ in sorted(TYPES) for ftz in ("", ".ftz"))
    products = [Product(node, 0) for text in texts for node in parse(text).statements if isinstance(node, Instruction)]
    signs = ("xor.b32 d, a, 0x80000000;", "xor.b32 d, a, 0x40000000;", "xor.b32 d, a, -2147483648;", "or.b32 d, a, 1;")
    more = (node for text in signs for node in parse(text).statements if isinstance(node, Instruction))
    for node in (*spelled(), *more):
        for product in products:
            *flushing, type_ = product.node.qualifiers
            assert passes(node, product) == did_pass(node, type_, flushes=bool(flushing)), (node, product.node)
