"""Trees to text: one statement per line, scopes indented by a tab, everything printed from the fields."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, assert_never, cast

from ptxloom.diagnostics import must_be
from ptxloom.syntax.node import Node, StatementNode
from ptxloom.syntax.operands import PRECEDENCE
from ptxloom.syntax.tree import (
    Address,
    AddressSize,
    Alias,
    Apply,
    Arguments,
    Attribute,
    Binary,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Cast,
    Component,
    Data,
    Declaration,
    Declarator,
    File,
    Float,
    Function,
    Indexed,
    Instruction,
    Integer,
    Label,
    Loc,
    LocIntermediate,
    Malformed,
    Name,
    Pair,
    PerformanceDirective,
    Pointer,
    Pragma,
    Predicate,
    Section,
    String,
    Target,
    Ternary,
    Unary,
    Vector,
    Version,
)

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Operand, Statement

_FORMS: Final = {2: ("0b", "b"), 8: ("0", "o"), 16: ("0x", "X")}
_DOTTED: Final = re.compile(r"^\.[\w$:]+")
"""A section's name; right after an opcode it would read as a qualifier."""


def print_statements(statements: Iterable[Statement]) -> str:
    """The PTX text of statements, ending in a line feed."""
    must_be(Iterable, "statements", statements, "statements of a module")
    lines: list[str] = []
    for one in statements:
        must_be(StatementNode, "statements", one, "statements of a module")
        _print(one, 0, lines)
    return "".join(line + "\n" for line in lines)


def print_node(node: Node) -> str:  # noqa: PLR0911 - one arm a node
    """The PTX text of any node, without a line feed at its end."""
    match node:
        case Predicate(name, negated):
            return f"@{'!' if negated else ''}{name}"
        case Declarator():
            return _declarator(node)
        case PerformanceDirective():
            return _performance(node)
        case Attribute(name, values):
            return f".{name}" + (f"({_commas(values)})" if values else "")
        case Pointer():
            return _pointer(node)
        case StatementNode():
            return print_statements((cast("Statement", node),)).rstrip("\n")
        case _:
            must_be(Node, "node", node, "a node of a module")
            return print_operand(cast("Operand", node))


def print_operand(node: Operand) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm a node
    """The PTX text of an operand."""
    match node:
        case Name(text):
            return text
        case Component(base, field):
            return f"{base.text}.{field}"
        case Integer():
            return _integer(node)
        case Float():
            return _float(node)
        case String(value):
            return f'"{value}"'
        case Vector(elements):
            return f"{{{_commas(elements)}}}"
        case Address():
            return _address(node)
        case Pair(first, second):
            return f"{print_operand(first)}|{print_operand(second)}"
        case Arguments(elements):
            return f"({_commas(elements)})"
        case Indexed(base, index):
            return f"{print_operand(base)}[{print_operand(index)}]"
        case Apply(function, argument):
            return f"{print_operand(function)}({print_operand(argument)})"
        case Unary() | Binary() | Ternary() | Cast():
            return _expression(node)
        case _:
            must_be(Node, "node", node, "an operand of an instruction")
            assert_never(node)


def _commas(nodes: Iterable[Operand]) -> str:
    return ", ".join([_integer(one) if type(one) is Integer else print_operand(one) for one in nodes])


def _integer(node: Integer) -> str:
    value = node.value
    if node.radix == 10:
        digits = str(value)
    else:
        prefix, form = _FORMS[node.radix]
        digits = f"{'-' if value < 0 else ''}{prefix}{abs(value):{form}}"
    return f"{digits}U" if node.unsigned else digits


def _float(node: Float) -> str:
    if node.decimal:
        return repr(struct.unpack("<d", node.bits.to_bytes(8, "little"))[0])
    return f"0f{node.bits:08X}" if node.width == 32 else f"0d{node.bits:016X}"


def _address(node: Address) -> str:
    inside = print_operand(node.base)
    if node.minus:
        inside += f"-{node.offset}"
    elif node.offset or node.zero:
        inside += f"+{node.offset}"
    return f"[{', '.join((inside, *map(print_operand, node.extra)))}]"


def _expression(node: Unary | Binary | Ternary | Cast) -> str:
    match node:
        case Unary(operator, operand):
            return operator + _tight(operand)
        case Cast(kind, operand):
            return f"(.{kind}) {_tight(operand)}"
        case Ternary(condition, then, otherwise):
            return f"{_inside(condition, 1)} ? {print_operand(then)} : {print_operand(otherwise)}"
        case Binary(operator, left, right):
            level = PRECEDENCE.get(operator, 0)
            return f"{_inside(left, level)} {operator} {_inside(right, level + 1)}"
        case _:
            assert_never(node)


def _tight(node: Operand) -> str:
    """An operand after a prefix operator: in parentheses if it contains a looser one."""
    text = print_operand(node)
    return f"({text})" if isinstance(node, Binary | Ternary) else text


def _inside(node: Operand, level: int) -> str:
    """An operand of an operator with this precedence."""
    text = print_operand(node)
    loose = isinstance(node, Ternary) or (isinstance(node, Binary) and PRECEDENCE.get(node.operator, 0) < level)
    return f"({text})" if loose else text


def _print(node: Statement | Data, depth: int, lines: list[str]) -> None:
    match node:
        case Block():
            _print_block(node, depth, lines)
        case Function():
            _print_function(node, depth, lines)
        case Section(name, contents):
            tabs = "\t" * depth
            lines += (f"{tabs}.section {name}", f"{tabs}{{")
            for one in contents:
                _print(one, depth + 1, lines)
            lines.append(f"{tabs}}}")
        case Label(name):
            lines.append(f"{name}:")
        case _:
            lines.append("\t" * depth + print_line(node))


def _print_block(node: Block, depth: int, lines: list[str]) -> None:
    tabs = "\t" * depth
    lines.append(tabs + "{")
    for one in node.statements:
        _print(one, depth + 1, lines)
    lines.append(tabs + "}")


def _print_function(node: Function, depth: int, lines: list[str]) -> None:
    lines += function_header(node)
    if node.body is not None:
        _print_block(node.body, depth, lines)
    lines.append("")


def function_header(node: Function) -> list[str]:
    """The lines of a function before its body; a prototype's end in its semicolon."""
    head = [f".{word}" for word in (node.linkage, node.kind) if word]
    head += map(_attribute, _grouped(node.attributes))
    if node.returns:
        head.append(_parameters(node.returns))
    lines = f"{' '.join((*head, node.name))}{_parameters(node.params) if node.params else '()'}".split("\n")
    lines += map(_performance, node.directives)
    if node.body is None:
        lines[-1] += ";"
    return lines


def _grouped(attributes: tuple[Attribute, ...]) -> tuple[tuple[Attribute, ...], ...]:
    return (attributes,) if attributes else ()


def _parameters(declarations: tuple[Declaration, ...]) -> str:
    if len(declarations) == 1:
        return f"({_declaration(declarations[0])})"
    return "(" + ",".join(f"\n\t{_declaration(one)}" for one in declarations) + "\n)"


def _attribute(attributes: tuple[Attribute, ...]) -> str:
    return f".attribute({', '.join(map(print_node, attributes))})"


def _performance(node: PerformanceDirective) -> str:
    ending = ";" if node.name == "pragma" else ""
    return f".{node.name} {_commas(node.values)}".rstrip() + ending


def print_line(node: Statement | Data) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm a statement
    """The text of a statement on a line of its own, without indentation."""
    match node:
        case Instruction():
            return _instruction(node)
        case Declaration():
            return f"{_declaration(node)};"
        case Loc():
            return _loc(node)
        case LocIntermediate(file, line, column):
            return f".loc_intermediate {file} {line} {column}"
        case Data(kind, values):
            shown = ", ".join(str(one) if isinstance(one, int) else print_operand(one) for one in values)
            return f".{kind} {shown}"
        case Version(major, minor):
            return f".version {major}.{minor}"
        case Target(names):
            return f".target {', '.join(names)}"
        case AddressSize(bits):
            return f".address_size {bits}"
        case BranchTargets(names):
            return f".branchtargets {_commas(names)};"
        case CallTargets(names):
            return f".calltargets {_commas(names)};"
        case CallPrototype():
            return _prototype(node)
        case Alias(name, target):
            return f".alias {name}, {target};"
        case File(index, name, timestamp, size):
            more = "".join(f", {value}" for value in (timestamp, size) if value is not None)
            return f'.file {index} "{name}"{more}'
        case Pragma(strings):
            return f".pragma {_quoted(strings)};"
        case Malformed(text):
            return text
        case Label() | Block() | Function() | Section():
            return print_statements((node,)).rstrip("\n")
        case _:
            assert_never(node)


def _instruction(node: Instruction) -> str:
    guard = ""
    if node.predicate is not None:
        guard = f"{print_node(node.predicate)} "
    listed = _DOTTED.sub(r"(\g<0>)", _commas(node.operands))
    return f"{guard}{node.spelling} {listed}".rstrip() + ";"


def _declaration(node: Declaration) -> str:
    words = [f".{word}" for word in (node.linkage, node.space) if word]
    words += map(_attribute, _grouped(node.attributes))
    if node.alignment:
        words.append(f".align {node.alignment}")
    if node.vector:
        words.append(f".v{node.vector}")
    if node.type:
        words.append(f".{node.type}")
    if node.pointer is not None:
        words.append(_pointer(node.pointer))
    return f"{' '.join(words)} {', '.join(map(_declarator, node.declarators))}".rstrip()


def _pointer(node: Pointer) -> str:
    space = f" .{node.space}" if node.space else ""
    return f".ptr{space}" + (f" .align {node.alignment}" if node.alignment else "")


def _declarator(node: Declarator) -> str:
    count = "" if node.count is None else f"<{node.count}>"
    dimensions = "".join("[]" if one is None else f"[{one}]" for one in node.dimensions)
    value = "" if node.initializer is None else f" = {print_operand(node.initializer)}"
    return f"{node.name}{count}{dimensions}{value}"


def _quoted(strings: tuple[str, ...]) -> str:
    return ", ".join(f'"{one}"' for one in strings)


def _loc(node: Loc) -> str:
    text = f".loc {node.file} {node.line} {node.column}"
    if node.function_name is not None:
        text += f", function_name {node.function_name}"
        if node.function_offset:
            text += f"+{node.function_offset}"
    if node.inlined_at is not None:
        text += ", inlined_at {} {} {}".format(*node.inlined_at)
    return text


def _prototype(node: CallPrototype) -> str:
    returns = ", ".join(map(_declaration, node.returns))
    params = ", ".join(map(_declaration, node.params))
    more = " .noreturn" if node.noreturn else ""
    more += "".join(f" {_performance(one)}" for one in node.directives)
    return f".callprototype ({returns}) _ ({params}){more};"
