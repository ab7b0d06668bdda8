"""The module's own memory: global and const variables with their initial values (PTX ISA 5.4)."""

from __future__ import annotations

import struct
import weakref
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from ptxloom.binding.sizes import OPAQUE, align, alignment_of, size_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.machine.memory.arena import default_limit, zeroed
from ptxloom.machine.memory.heap import DEFAULT_BYTES, HEAP, Heap, host_bytes
from ptxloom.machine.memory.piece import Piece
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.machine.program.variables import function_codes, module_variables
from ptxloom.machine.runtime.state import CODE_WINDOW, FUNCTION_STEP
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.syntax import print_operand, print_statements, tree
from ptxloom.syntax.constants import constant
from ptxloom.syntax.module import A_MODULE, Module

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.memory.arguments import Memory

    Room: TypeAlias = Callable[[int, int, str], NDArray[np.uint8]]

_ALIGNMENT: Final = 256  # at least
_MOST_ALIGNMENT: Final = 1 << 28  # beyond, ptxas does not come to an end
# How `struct` names numbers of some bytes.
_WHOLE: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FLOATS: Final = {4: "f", 8: "d"}  # else "e"
_MEMORIES: Final[dict[int, tuple[weakref.ref[Module], ModuleMemory]]] = {}


def memory_of(module: Module) -> ModuleMemory:
    """The memory of a module: one for all its kernels, as long as the module lives."""
    kept = _MEMORIES.get(id(module))
    if kept is None or kept[0]() is not module:
        key = id(module)
        kept = (weakref.ref(module, lambda _: _MEMORIES.pop(key, None)), ModuleMemory(module))
        _MEMORIES[key] = kept
    return kept[1]


def place_variables(module: Module, room: Room) -> ModuleMemory:
    """Place the variables of a module that has no memory as yet in the memory of a device.

    Args:
        module: The parsed module.
        room: Returns zeroed memory of a size, an alignment and a state space.

    Returns:
        Its memory.
    """
    key = id(module)
    made = ModuleMemory(module, room)
    _MEMORIES[key] = weakref.ref(module, lambda _: _MEMORIES.pop(key, None)), made
    return made


def global_array(module: Module, name: str) -> NDArray[Any]:
    """A global or const variable as an array of its own type and shape: the one that the kernels see.

    Args:
        module: The parsed module.
        name: The variable's name; `function.variable` for one that a function declares for itself.

    Returns:
        The variable itself: what is written there, kernels read.

    Raises:
        UsageError: The module has no such variable.

    Example:
        >>> from ptxloom.syntax import parse
        >>> global_array(parse(".version 9.0 .target sm_90 .global .u32 x[2] = {3, 4};"), "x")
        array([3, 4], dtype=uint32)
    """
    must_be(Module, "module", module, A_MODULE)
    return memory_of(module).array(name)


def _own_room(size: int, alignment: int, space: str) -> NDArray[np.uint8]:
    """Memory of this process."""
    return zeroed(size, alignment, f"the {space} variables")


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """Where a variable lies within the memory of its space."""

    declaration: tree.Declaration
    declarator: tree.Declarator
    owner: str
    offset: int
    size: int


class ModuleMemory:
    """Global and const variables of a module: one block of memory each space, and the address of each variable."""

    def __init__(self, module: Module, room: Room = _own_room) -> None:
        self._codes = function_codes(module)
        self._places: dict[str, VariablePlace] = {}
        self._asked: set[str] = set()  # variables of other modules that may have been filled
        sizes = {"global": 0, "const": 0}
        alignments = dict.fromkeys(sizes, _ALIGNMENT)
        for kept in module_variables(module):
            space = kept.declaration.space
            alignment = alignment_of(kept.declaration)
            if alignment > _MOST_ALIGNMENT:
                raise _refused(kept.declaration, f"an alignment of more than {_MOST_ALIGNMENT:,} bytes")
            alignments[space] = max(alignments[space], alignment)
            at = align(sizes[space], alignment)
            size = size_of(kept.declaration, kept.declarator) or _length(kept.declaration, kept.declarator)
            self._places[kept.name] = VariablePlace(kept.declaration, kept.declarator, kept.owner, at, size)
            sizes[space] = at + size
        self._check_size(sum(sizes.values()))
        self.memory = {space: room(size, alignments[space], space) for space, size in sizes.items()}
        found = [self.memory[p.declaration.space].ctypes.data + p.offset for p in self._places.values()]
        self.addresses = np.array(found or [0], np.uint64)
        self._numbers = {name: number for number, name in enumerate(self._places)}
        self.heap: Heap | None = None  # from the first launch that needs it on
        for place in self._places.values():
            if place.declarator.initializer is not None:
                self._initialise(place)

    @property
    def nbytes(self) -> int:
        """What the variables take."""
        return sum(memory.nbytes for memory in self.memory.values())

    def show(self, memory: Memory) -> None:
        """Let a launch touch the variables."""
        for space, variables in self.memory.items():
            if variables.size:
                memory.add(variables, constant=space == "const")

    def charge(self, budget: Budget, calls: frozenset[str], heap_bytes: int | None) -> None:
        """What a launch that calls these functions takes: the variables, and the heap.

        Raises:
            UsageError: It is more than the launch may have.
        """
        budget.charge("the module's variables", self.nbytes)
        if "malloc" in calls:
            self._need_heap(heap_bytes, budget)
        elif self.heap is not None:
            budget.charge(HEAP, self.heap.nbytes)

    def _need_heap(self, size: int | None, budget: Budget) -> None:
        """Make the heap, unless there is one: its size can change only while nothing is allocated.

        Raises:
            UsageError: Blocks live in a heap of another size, or the launch may not have as much.
        """
        heap = self.heap
        wanted = DEFAULT_BYTES if size is None else size
        if heap is None or (heap.size != wanted and not heap.live):
            budget.charge(HEAP, host_bytes(wanted))
            self.heap = Heap(wanted)
            return
        if size not in {None, heap.size}:
            legal = f"{heap.size}, as long as {len(heap.live)} blocks live in a heap of that size"
            raise UsageError("heap_bytes", size, legal)
        budget.charge(HEAP, heap.nbytes)

    def _check_size(self, size: int) -> None:
        """Refuse variables that take more than a run may have.

        Raises:
            UnsupportedInstruction: It names the largest.
        """
        if size > default_limit():
            largest = max(self._places.values(), key=lambda place: place.size).declaration
            text = " ".join(print_statements((largest,)).split())
            why = f"the module's variables take {size:,} bytes, and a run may have {default_limit():,} of this machine"
            raise UnsupportedInstruction(largest.span.line, text, why)

    def array(self, name: str) -> NDArray[Any]:
        """A variable as an array of its own type and shape, writable in place.

        Raises:
            UsageError: The module has no such variable.
        """
        place = self._places.get(name)
        if place is None or place.declaration.type in OPAQUE:
            known = ", ".join(self._places) or "it has none"
            raise UsageError("name", name, f"a global or const variable of the module: {known}")
        self._asked.add(name)
        type_ = ptx_type(place.declaration.type)
        data = self.memory[place.declaration.space][place.offset : place.offset + place.size]
        letter = {"s": "i", "f": "f"}.get(type_.kind if type_.llvm != "bfloat" and type_.packed == 1 else "b", "u")
        shape = [d or -1 for d in place.declarator.dimensions]
        if place.declaration.vector > 1:
            shape.append(place.declaration.vector)
        return data.view(f"{letter}{max(type_.bits // 8, 1)}").reshape(shape)

    def reference(self, name: str, kind: str) -> int:
        """The address of a `.texref` or `.surfref`, which identifies what is bound to it.

        Raises:
            UsageError: The module has no such variable.
        """
        known = [n for n, place in self._places.items() if place.declaration.type == kind]
        if name not in known:
            raise UsageError(
                "textures", name, f"the name of a .{kind} of the module: {', '.join(known) or 'it has none'}"
            )
        return int(self.addresses[self._numbers[name]])

    def must_be_defined(self, names: Collection[str]) -> None:
        """Refuse variables that only another module defines, unless the caller has asked for them to fill them.

        Raises:
            UnsupportedInstruction: It names the declaration of one.
        """
        for name, place in self._places.items():
            if place.declaration.linkage == "extern" and name in names and name not in self._asked:
                why = f'no module here defines it; fill the array of `global_array("{name}")` gives before the launch'
                raise _refused(place.declaration, why)

    def pieces(self) -> tuple[Piece, ...]:
        """Every variable with its address and size."""
        sizes = (place.size for place in self._places.values())
        return tuple(
            Piece(name, int(at), size)
            for name, at, size in zip(self._places, self.addresses[: len(self._places)], sizes, strict=True)
        )

    def _initialise(self, place: VariablePlace) -> None:
        declaration, declarator, at = place.declaration, place.declarator, place.offset
        if declaration.type in OPAQUE:
            return
        type_ = ptx_type(declaration.type)
        memory = self.memory[declaration.space]
        step = max(type_.bits // 8, 1)
        assert declarator.initializer is not None
        dimensions = [d or 0 for d in declarator.dimensions]
        if declaration.vector > 1:
            dimensions.append(declaration.vector)
        for index, elements in _rows(declarator.initializer, dimensions):
            data = _packed(elements, step) or b"".join(self._value(one, type_, place) for one in elements)
            memory[at + index * step : at + index * step + len(data)] = np.frombuffer(data, np.uint8)

    def _value(self, operand: tree.Operand, type_: Type, place: VariablePlace) -> bytes:
        size = max(type_.bits // 8, 1)
        match operand:
            case tree.Float():
                return struct.pack(f"<{_FLOATS.get(size, 'e')}", operand.value)
            case tree.Apply(function=tree.Name(text="generic"), argument=argument):
                return self._value(argument, type_, place)
            case tree.Apply(function=tree.Integer(value=mask), argument=argument):
                address = int.from_bytes(self._value(argument, ptx_type("u64"), place), "little")
                shift = (mask & -mask).bit_length() - 1
                return ((address & mask) >> shift & 0xFF).to_bytes(size, "little")
            case tree.Unary(operator="-", operand=tree.Float() as literal):
                return struct.pack(f"<{_FLOATS.get(size, 'e')}", -literal.value)
            case _:
                number = constant(operand)
                if number is None:
                    number = self._address(operand, place)
                return (number & (1 << 8 * size) - 1).to_bytes(size, "little")

    def _address(self, operand: tree.Operand, place: VariablePlace) -> int:
        match operand:
            case tree.Name(text=name) if name in self._codes:
                return CODE_WINDOW + (self._codes[name] + 1) * FUNCTION_STEP
            case tree.Name(text=name) if (own := f"{place.owner}.{name}") in self._numbers:
                return int(self.addresses[self._numbers[own]])
            case tree.Name(text=name) if name in self._numbers:
                return int(self.addresses[self._numbers[name]])
            case tree.Apply(function=tree.Name(text="generic"), argument=argument):
                return self._address(argument, place)
            case tree.Binary(operator="+" | "-" as sign, left=left, right=right):
                by = constant(right)
                if by is not None:
                    return self._address(left, place) + (by if sign == "+" else -by)
            case _:
                pass
        raise _refused(place.declaration, f"the initial value `{print_operand(operand)}`")


def _refused(declaration: tree.Declaration, why: str) -> UnsupportedInstruction:
    return UnsupportedInstruction(declaration.span.line, " ".join(print_statements((declaration,)).split()), why)


def _rows(operand: tree.Operand, dimensions: list[int]) -> Iterator[tuple[int, Sequence[tree.Operand]]]:
    """The elements of a (nested) initialiser that stand side by side, with the index of the first in the flat array."""
    if not isinstance(operand, tree.Vector):
        yield 0, (operand,)
        return
    if tree.Vector not in set(map(type, operand.elements)):
        yield 0, operand.elements
        return
    inner = dimensions[1:] if len(dimensions) > 1 else []
    stride = prod(inner)
    for number, element in enumerate(operand.elements):
        step = stride if isinstance(element, tree.Vector) else 1
        for index, found in _rows(element, inner):
            yield number * step + index, found


def _packed(elements: Sequence[tree.Operand], size: int) -> bytes | None:
    """Plain numbers of `size` bytes, all at once; None if some element is not one, or not of the same kind."""
    values = [one.value if type(one) is tree.Integer else _number(one) for one in elements]
    kinds = set(map(type, values))
    if kinds == {int} and size in _WHOLE:
        mask = (1 << 8 * size) - 1
        return struct.pack(f"<{len(values)}{_WHOLE[size]}", *[value & mask for value in cast("list[int]", values)])
    if kinds == {float}:
        return struct.pack(f"<{len(values)}{_FLOATS.get(size, 'e')}", *values)
    return None


def _number(operand: tree.Operand) -> int | float | None:
    """The value of a literal, with or without a sign; None for anything else."""
    if isinstance(operand, tree.Integer | tree.Float):
        return operand.value
    if isinstance(operand, tree.Unary) and operand.operator == "-":
        inner = operand.operand
        return -inner.value if isinstance(inner, tree.Integer | tree.Float) else None
    return None


def _length(declaration: tree.Declaration, declarator: tree.Declarator) -> int:
    """The bytes of an array whose size comes from its initialiser."""
    if isinstance(declarator.initializer, tree.Vector):
        return len(declarator.initializer.elements) * max(ptx_type(declaration.type).bits // 8, 1)
    return 0
