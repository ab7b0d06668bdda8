"""Parameters in registers (PTX ISA 7.1): rewrites calls and functions to pass them in memory, like all others.

A call's argument may be a register or a literal, its result a register; a function may declare its parameters as
registers. Each gets a place in a frame, and instructions that copy its value there or back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.program.model import OURS
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Formals(NamedTuple):
    """The parameters and results of a function."""

    returns: tuple[tree.Declaration, ...]
    params: tuple[tree.Declaration, ...]


class Lowered(NamedTuple):
    """A call with the instructions before and after it.

    Attributes:
        places: The values that need a place in the caller's frame, with their names.
    """

    before: tuple[tree.Instruction, ...]
    call: tree.Instruction
    after: tuple[tree.Instruction, ...]
    places: tuple[tuple[str, tree.Declaration], ...]


def lowered(node: tree.Instruction, formals: Formals, in_memory: Callable[[tree.Operand], bool]) -> Lowered:
    """A call whose arguments and results are all in memory.

    Args:
        node: The call.
        formals: The formals of the called function.
        in_memory: Whether an operand names a variable in memory.
    """
    before: list[tree.Instruction] = []
    after: list[tree.Instruction] = []
    places: list[tuple[str, tree.Declaration]] = []
    operands: list[tree.Operand] = []
    lists = 0
    for operand in node.operands:
        if not isinstance(operand, tree.Arguments):
            operands.append(operand)
            continue
        is_result = not operands
        elements: list[tree.Operand] = []
        for element, declaration in zip(
            operand.elements, formals.returns if is_result else formals.params, strict=False
        ):
            if in_memory(element):
                elements.append(element)
                continue
            place = f"{OURS}{lists}:{len(elements)}"
            places.append((place, declaration))
            elements.append(tree.Name(place))
            if is_result:
                after.append(_moved(node, "ld", declaration, (element, tree.Address(tree.Name(place)))))
            else:
                before.append(_moved(node, "st", declaration, (tree.Address(tree.Name(place)), element)))
        whole = len(elements) == len(operand.elements)
        operands.append(operand.replace(elements=tuple(elements)) if whole else operand)
        lists += 1
    return Lowered(tuple(before), node.replace(operands=tuple(operands)), tuple(after), tuple(places))


def entering(declarations: Iterable[tree.Declaration]) -> tuple[tree.Instruction, ...]:
    """Instructions that load the registers declared as a function's parameters; `place_of` names their places."""
    return tuple(
        tree.Instruction(
            None,
            "ld",
            ("param", declaration.type),
            (tree.Name(declarator.name), tree.Address(tree.Name(place_of(declarator.name)))),
            source=declaration.source,
            start=declaration.start,
            end=declaration.end,
        )
        for declaration in declarations
        for declarator in declaration.declarators
        if declaration.space == "reg"
    )


def leaving(node: tree.Instruction, declarations: Iterable[tree.Declaration]) -> tuple[tree.Instruction, ...]:
    """Instructions before a `ret`: they store the registers declared as results for the caller."""
    return tuple(
        _moved(
            node, "st", declaration, (tree.Address(tree.Name(place_of(declarator.name))), tree.Name(declarator.name))
        )
        for declaration in declarations
        for declarator in declaration.declarators
        if declaration.space == "reg"
    )


def place_of(register: str) -> str:
    """The name of the place of a register parameter, which is not a PTX name."""
    return f"{OURS}{register}"


def _moved(
    node: tree.Instruction, opcode: str, declaration: tree.Declaration, operands: tuple[tree.Operand, ...]
) -> tree.Instruction:
    """A load or store of a parameter, with the place and the predicate of another instruction."""
    return node.replace(opcode=opcode, qualifiers=("param", declaration.type), operands=operands)
