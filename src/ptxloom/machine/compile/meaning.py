"""The part of a program that its code depends on, as text: programs with the same text are the same program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ptxloom.machine.program.signatures import SERVICES
from ptxloom.machine.program.variables import module_variables
from ptxloom.syntax import print_statements, tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Program

_NUMBERS: Final = frozenset((tree.Integer, tree.Float))
_MENTIONED: Final[WeakKeyDictionary[Program, set[str]]] = WeakKeyDictionary()


def meaning(program: Program) -> str:
    """The module as the code of a kernel sees it, printed from its nodes, which may differ from their source.

    Functions that the kernel does not reach appear without their bodies, because they and their variables are numbered.
    """
    reached = {id(function.node) for function in program.functions}
    seen = (_outside(statement, reached) for statement in program.module.statements)
    variables = " ".join(variable.name for variable in module_variables(program.module))
    return f"{print_statements(seen)}\n{variables}"


def _outside(statement: tree.Statement, reached: set[int]) -> tree.Statement:
    if isinstance(statement, tree.Function) and id(statement) not in reached:
        return statement.replace(body=None)
    return statement


def lasting_names(program: Program) -> frozenset[str]:
    """The names that a program's operands and the module's initial values mention."""
    found = set(_mentioned(program))
    for statement in program.module.statements:
        if isinstance(statement, tree.Declaration):
            values = (one.initializer for one in statement.declarators if one.initializer is not None)
            found.update(name for value in values for name in _names_in(value))
    return frozenset(found)


def _names_in(value: tree.Operand) -> Iterator[str]:
    """The names in an initial value, most of which are long lists of numbers."""
    if isinstance(value, tree.Vector):
        for one in value.elements:
            if type(one) not in _NUMBERS:
                yield from _names_in(one)
    else:
        yield from (node.text for node in walk(value) if isinstance(node, tree.Name))


def called(program: Program) -> frozenset[str]:
    """CUDA's device run-time calls that a program makes."""
    names = (o.text for op in program.ops if op.opcode == "call" for o in op.operands if isinstance(o, tree.Name))
    return frozenset(SERVICES).intersection(names)


def names_register(program: Program, prefix: str) -> bool:
    """Whether an instruction of a program names a special register with a prefix."""
    return any(name.startswith(prefix) for name in _mentioned(program))


def _mentioned(program: Program) -> set[str]:
    """The names that a program's operands mention; cached, because long programs have many."""
    if program not in _MENTIONED:
        found = _MENTIONED[program] = set[str]()
        for op in program.ops:
            for operand in op.operands:
                if type(operand) is tree.Name:
                    found.add(operand.text)
                else:
                    found.update(node.text for node in walk(operand) if isinstance(node, tree.Name))
    return _MENTIONED[program]
