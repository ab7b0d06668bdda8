"""The module's own memory: global and const variables with their initial values (PTX ISA 5.4)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.machine.builder import evaluate
from ptxloom.machine.program import UnsupportedInstruction, align, alignment_of, size_of
from ptxloom.machine.runtime.state import CODE_WINDOW
from ptxloom.machine.symbols import FunctionName, Variable
from ptxloom.machine.types import Type, ptx_type
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine.program import Program

_ALIGNMENT: Final = 256


class ModuleMemory:
    """Global and const variables of a program: one block of memory each space, and the address of each variable."""

    def __init__(self, program: Program) -> None:
        self.offsets: dict[str, tuple[str, int, int]] = {}
        self.addresses = np.zeros(max(len(program.variables), 1), np.uint64)
        sizes = {"global": 0, "const": 0}
        places: list[tuple[tree.Declaration, tree.Declarator, int]] = []
        for declaration in program.variables:
            for declarator in declaration.declarators:
                if declarator.name in self.offsets:
                    continue
                at = align(sizes[declaration.space], alignment_of(declaration))
                size = size_of(declaration, declarator) or _length(declaration, declarator)
                self.offsets[declarator.name] = (declaration.space, at, size)
                places.append((declaration, declarator, at))
                sizes[declaration.space] = at + size
        self.memory = {space: _aligned(size) for space, size in sizes.items()}
        for name, (space, at, _) in self.offsets.items():
            symbol = program.entry.scope.find(name)
            assert isinstance(symbol, Variable)
            self.addresses[symbol.offset] = self.memory[space].ctypes.data + at
        for declaration, declarator, at in places:
            if declarator.initializer is not None:
                self._initialise(program, declaration, declarator, at)

    def bytes_of(self, name: str) -> NDArray[np.uint8]:
        """A variable's memory, writable in place."""
        space, at, size = self.offsets[name]
        return self.memory[space][at : at + size]

    def _initialise(
        self, program: Program, declaration: tree.Declaration, declarator: tree.Declarator, at: int
    ) -> None:
        type_ = ptx_type(declaration.type)
        memory = self.memory[declaration.space]
        step = max(type_.bits // 8, 1)
        assert declarator.initializer is not None
        dimensions = [d or 0 for d in declarator.dimensions]
        if declaration.vector > 1:
            dimensions.append(declaration.vector)
        for index, element in _elements(declarator.initializer, dimensions):
            data = self._value(program, element, type_, declaration)
            memory[at + index * step : at + index * step + len(data)] = np.frombuffer(data, np.uint8)

    def _value(self, program: Program, operand: tree.Operand, type_: Type, declaration: tree.Declaration) -> bytes:
        size = max(type_.bits // 8, 1)
        match operand:
            case tree.Float():
                return struct.pack({4: "<f", 8: "<d"}.get(size, "<e"), operand.value)
            case tree.Apply(function=tree.Name(text="generic"), argument=argument):
                return self._value(program, argument, type_, declaration)
            case tree.Apply(function=tree.Integer(value=mask), argument=argument):
                address = int.from_bytes(self._value(program, argument, ptx_type("u64"), declaration), "little")
                shift = (mask & -mask).bit_length() - 1
                return ((address & mask) >> shift & 0xFF).to_bytes(size, "little")
            case tree.Unary(operator="-", operand=tree.Float() as literal):
                return struct.pack({4: "<f", 8: "<d"}.get(size, "<e"), -literal.value)
            case _:
                number = evaluate(operand)
                if number is None:
                    number = self._address(program, operand, declaration)
                return (number & (1 << 8 * size) - 1).to_bytes(size, "little")

    def _address(self, program: Program, operand: tree.Operand, declaration: tree.Declaration) -> int:
        match operand:
            case tree.Name(text=name):
                found = program.entry.scope.find(name)
                if isinstance(found, FunctionName):
                    return CODE_WINDOW + (found.number + 1) * 16
                if isinstance(found, Variable) and found.space in {"global", "const"}:
                    return int(self.addresses[found.offset])
                if name in program.module.functions:
                    return 0  # a function the kernel cannot reach
            case tree.Binary(operator="+" | "-" as sign, left=left, right=right):
                by = evaluate(right)
                if by is not None:
                    return self._address(program, left, declaration) + (by if sign == "+" else -by)
            case _:
                pass
        raise UnsupportedInstruction(
            declaration.span.line, " ".join(print_statements((declaration,)).split()), f"the initial value `{operand}`"
        )


def _elements(operand: tree.Operand, dimensions: list[int]) -> list[tuple[int, tree.Operand]]:
    """The elements of a (nested) initialiser with their index in the flat array."""
    if not isinstance(operand, tree.Vector):
        return [(0, operand)]
    inner = dimensions[1:] if len(dimensions) > 1 else []
    stride = 1
    for size in inner:
        stride *= size
    found: list[tuple[int, tree.Operand]] = []
    for number, element in enumerate(operand.elements):
        step = stride if isinstance(element, tree.Vector) else 1
        found += [(number * step + index, leaf) for index, leaf in _elements(element, inner)]
    return found


def _length(declaration: tree.Declaration, declarator: tree.Declarator) -> int:
    """The bytes of an array whose size its initialiser gives."""
    if isinstance(declarator.initializer, tree.Vector):
        return len(declarator.initializer.elements) * max(ptx_type(declaration.type).bits // 8, 1)
    return 0


def _aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed memory that starts at a multiple of 256."""
    raw = np.zeros(size + _ALIGNMENT, np.uint8)
    start: int = -raw.ctypes.data % _ALIGNMENT
    view: NDArray[Any] = raw[start : start + size]
    return view
