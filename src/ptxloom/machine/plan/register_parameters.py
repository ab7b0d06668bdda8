"""Parameters in registers (PTX ISA 7.1): a call and a function rewritten to pass them in memory, as all others are.

A call's argument may be a register or a literal, its result a register; a function may declare its parameters as
registers. Each gets a place in a frame, and instructions that carry its value there or back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.program.model import OURS
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Formals(NamedTuple):
    """What a function takes and returns."""

    returns: tuple[tree.Declaration, ...]
    params: tuple[tree.Declaration, ...]


class Lowered(NamedTuple):
    """A call with what goes before and after it.

    Attributes:
        places: What needs a place in the caller's frame, and by what name.
    """

    before: tuple[tree.Instruction, ...]
    call: tree.Instruction
    after: tuple[tree.Instruction, ...]
    places: tuple[tuple[str, tree.Declaration], ...]


def lowered(node: tree.Instruction, formals: Formals, in_memory: Callable[[tree.Operand], bool]) -> Lowered:
    """A call whose arguments and results are all in memory.

    Args:
        node: The call.
        formals: Of the function it calls.
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
    """What fills the registers that a function declares as its parameters; their places are named by `place_of`."""
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
    """What a `ret` does first: it puts the registers that are declared as results where the caller finds them."""
    return tuple(
        _moved(
            node, "st", declaration, (tree.Address(tree.Name(place_of(declarator.name))), tree.Name(declarator.name))
        )
        for declaration in declarations
        for declarator in declaration.declarators
        if declaration.space == "reg"
    )


def place_of(register: str) -> str:
    """What the place of a parameter in a register is called: no name of PTX."""
    return f"{OURS}{register}"


def _moved(
    node: tree.Instruction, opcode: str, declaration: tree.Declaration, operands: tuple[tree.Operand, ...]
) -> tree.Instruction:
    """A load or store of a parameter, where another instruction stands and under its predicate."""
    return node.replace(opcode=opcode, qualifiers=("param", declaration.type), operands=operands)
