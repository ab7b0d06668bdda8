"""Rules about the registers of factors: one that is repeated in a fragment, one of a load that no product reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.binding.effects import destinations, mentions
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.flow.registers import RegisterWrites
from ptxloom.flow.uniformity import Uniformity
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.matrix import MOVES
from ptxloom.isa.products import PRODUCTS
from ptxloom.lazy import cached_property
from ptxloom.readings.bits import Level
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Name, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.flow import FlowGraph
    from ptxloom.syntax.tree import Instruction

REPEATED: Final = "repeated-register"
UNREAD: Final = "unread-matrix"
_FACTORS: Final = {"a": "left", "registers": "left", "factor": "left", "b": "right"}
_REPEATED_HELP: Final = "each register of a fragment holds elements of its own: `ptxloom map` draws which"
_UNREAD_HELP: Final = "let a product read it, or load fewer matrices"

_Factors: TypeAlias = "tuple[tuple[str, ...], ...]"


@dataclass(frozen=True, slots=True)
class _List:
    """The registers of one factor of a product, and where the product is."""

    block: int
    position: int
    product: Instruction
    side: str
    names: tuple[Name, ...]


def factors(graphs: Sequence[FlowGraph]) -> Iterator[Diagnostic]:
    """The warnings about registers that are probably not the intended ones."""
    for graph in graphs:
        if not graph.unresolved:
            yield from _Function(graph).findings()


class _Function:
    """The factors of one function, and the readers of the registers loaded for them."""

    def __init__(self, graph: FlowGraph) -> None:
        self._graph = graph
        self._registers = RegisterWrites(graph)
        self._told: set[int] = set()  # loads that a finding has named

    def findings(self) -> Iterator[Diagnostic]:
        for block in self._graph.blocks:
            for position, instruction in enumerate(block.instructions):
                if instruction.opcode in PRODUCTS and any(map(_repeats, instruction.operands)):
                    for one in _lists(block.number, position, instruction):
                        yield from self._repeated(one)
        for load in self._loads:
            if id(load) not in self._told:
                yield from self._unread(load)

    def _repeated(self, one: _List) -> Iterator[Diagnostic]:
        """Find a register that is used for several parts of a fragment.

        If all are used equally often (`{b, b}`), that may be intended; it is reported only if another result of the
        same load is never read. A value that all lanes share, such as 0, may fill any part.
        """
        counts = Counter(one.names)
        even = len(set(counts.values())) == 1
        for name in (each for each, count in counts.items() if count > 1):
            key = self._registers.key(one.product, name.text)
            writes = self._registers.reaching(one.block, one.position, key)
            if not writes or self._lanes.register(one.block, one.position, name.text).level is Level.UNIFORM:
                continue
            load = self._registers.instruction(writes[0])
            left = self._unread_names(load) if len(writes) == 1 else []
            if left or not even:
                self._told.add(id(load))
                yield _twice(one, [each for each in one.names if each == name], load, left)

    def _unread(self, load: Instruction) -> Iterator[Diagnostic]:
        """Find a matrix of a load that is never read, while products read its neighbours twice."""
        names = [name for name, _ in destinations(load)]
        keys = [self._registers.key(load, name.text) for name in names]
        multiplied = [self._multiplied[key] > 0 for name, key in zip(names, keys, strict=True) if name.text != "_"]
        if all(multiplied) or not any(multiplied):
            return  # before all reads of the function are counted: products read all of it, or read no neighbour
        left = [name for name, key in zip(names, keys, strict=True) if not self._reads[key] and name.text != "_"]
        reads = {key: self._multiplied[key] for key in keys if self._reads[key]}
        if not left or not reads or any(self._written[key] > 1 or not count for key, count in reads.items()):
            return
        least = min(reads.values())
        twice = [name for name, key in zip(names, keys, strict=True) if reads.get(key) == 2 * least]
        if len(twice) == len(left) and all(count in {least, 2 * least} for count in reads.values()):
            yield _left(load, left[0], twice[0], "twice as often as the others")
        elif len(reads) == len(left) and len({*reads.values()}) == 1 and self._multiplies_again({*reads}):
            again = next(name for name, key in zip(names, keys, strict=True) if key in reads)
            yield _left(load, left[0], again, "twice, each time with the same other factor")

    def _multiplies_again(self, keys: set[str]) -> bool:
        """Whether every product of some registers is made twice."""
        made = [count for pair, count in self._products.items() if any(not keys.isdisjoint(one) for one in pair)]
        return bool(made) and all(count == 2 for count in made)

    def _unread_names(self, load: Instruction) -> list[Name]:
        """The results of an instruction that nothing in the function reads."""
        names = [name for name, _ in destinations(load)]
        if len(names) == 1:
            return []
        return [one for one in names if one.text != "_" and not self._reads[self._registers.key(load, one.text)]]

    @cached_property
    def _loads(self) -> list[Instruction]:
        """The loads of several matrices."""
        inside = (one for block in self._graph.blocks for one in block.instructions if one.opcode in MOVES)
        return [one for one in inside if len(destinations(one)) > 1]

    @cached_property
    def _lanes(self) -> Uniformity:
        return Uniformity(self._graph)

    @cached_property
    def _reads(self) -> Counter[str]:
        """The number of reads of each register, by any instruction."""
        inside = (one for block in self._graph.blocks for one in block.instructions)
        return Counter(self._registers.key(one, name.text) for one in inside for name, read in mentions(one) if read)

    @cached_property
    def _written(self) -> Counter[str]:
        """How many instructions write each register."""
        inside = (one for block in self._graph.blocks for one in block.instructions)
        return Counter(self._registers.key(one, name.text) for one in inside for name, _ in destinations(one))

    @cached_property
    def _products(self) -> Counter[_Factors]:
        """How often the same registers are multiplied."""
        made = Counter[_Factors]()
        for block in self._graph.blocks:
            for position, instruction in enumerate(block.instructions):
                if instruction.opcode in PRODUCTS:
                    lists = _lists(block.number, position, instruction)
                    key = self._registers.key
                    made[tuple(tuple(key(instruction, name.text) for name in one.names) for one in lists)] += 1
        return made

    @cached_property
    def _multiplied(self) -> Counter[str]:
        """How often products read each register."""
        found = Counter[str]()
        for pair, count in self._products.items():
            for one in pair:
                found.update({key: count * times for key, times in Counter(one).items()})
        return found


def _repeats(operand: object) -> bool:
    return isinstance(operand, Vector) and len({*operand.elements}) < len(operand.elements)


def _lists(block: int, position: int, product: Instruction) -> Iterator[_List]:
    """The factors of a product that are lists of registers."""
    form = bind(product).form
    slots = () if form is None else form.operands(len(product.operands))
    for slot, operand in zip(slots, product.operands, strict=False):
        if slot.name in _FACTORS and isinstance(operand, Vector):
            names = tuple(one for one in operand.elements if isinstance(one, Name))
            yield _List(block, position, product, _FACTORS[slot.name], names)


def _twice(one: _List, places: list[Name], load: Instruction, left: list[Name]) -> Diagnostic:
    """The finding that a register is used for several parts of a factor."""
    source = one.product.source
    first, again = places[0].span_in(source), places[-1].span_in(source)
    related = [Label(first, "and here")]
    fix = None
    if left:
        spare = left[0].span_in(load.source)
        related.append(Label(spare, f"`{spare.text}` comes from the same load, and nothing reads it"))
        if len(left) == len(places) - 1 == 1:
            fix = Fix(f"write `{spare.text}`", again, spare.text, is_safe=False)
    message = f"`{again.text}` is used for {len(places)} different parts of the {one.side} factor"
    section = instruction_spec(one.product.opcode).section
    return Diagnostic(
        REPEATED, Severity.WARNING, message, again, "here", section, _REPEATED_HELP, fix, related=tuple(related)
    )


def _left(load: Instruction, left: Name, neighbour: Name, how: str) -> Diagnostic:
    """The finding that a matrix is never read."""
    span, twice = left.span_in(load.source), neighbour.span_in(load.source)
    message = f"nothing reads the matrix in `{span.text}`, and products read its neighbour `{twice.text}` {how}"
    section = instruction_spec(load.opcode).section
    return Diagnostic(
        UNREAD,
        Severity.WARNING,
        message,
        span,
        help=_UNREAD_HELP,
        section=section,
        related=(Label(twice, "this is the neighbour"),),
    )
