"""How an address is computed: the instructions behind its register, as far as the text shows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ptxloom.binding.effects import destinations
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.solver import nearest
from ptxloom.syntax import tree
from ptxloom.syntax.places import home_line
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.machine.program.model import Op, Program

_ADDRESSES: Final = ("u64", "b64", "s64")
_MOST: Final = 200  # instructions that are looked at
_KNOWN: Final[WeakKeyDictionary[Program, defaultdict[tuple[int, str], list[Op]]]] = WeakKeyDictionary()
_READERS: Final[WeakKeyDictionary[Program, defaultdict[tuple[int, str], list[Op]]]] = WeakKeyDictionary()


def made_of(op: Op, program: Program) -> tuple[Op, ...]:
    """The instructions that compute the address of a load, a store or a copy, the nearest first."""
    return tuple(maker for maker in _behind(op, program) if not _is_first(maker))


def loads_behind(op: Op, program: Program) -> tuple[Op, ...]:
    """The loads of indices that an address is computed from."""
    return tuple(maker for maker in _behind(op, program) if is_load(maker))


def made_alone(op: Op, program: Program) -> tuple[Op, ...]:
    """Those of them that do not serve addresses in another parameter's memory."""
    own = _behind(op, program)
    based = _bases(own)
    others: set[Op] = set()
    for other in program.ops:
        if other.function is op.function and other is not op and other.has("global"):
            behind = _behind(other, program)
            if _bases(behind) != based:
                others |= set(behind)
    return tuple(maker for maker in own if maker not in others and not _is_first(maker))


def made_for(op: Op, parameter: str, program: Program) -> Op | None:
    """What makes the address of one parameter's memory, for an instruction that accesses several's; else None.

    It is the nearest that the compiler has noted a line of.
    """
    own = _behind(op, program)
    if len(_bases(own)) < 2:
        return None
    makers = (one for one in own if not _is_first(one) and home_line(program.module, one.node.start) is not None)
    return next((maker for maker in makers if [*map(_named, bases_behind(maker, program))] == [parameter]), None)


def _named(base: str) -> str:
    """The parameter in an operand from its name on."""
    return base.partition("]")[0].partition("+")[0].strip()


def based_on(op: Op, program: Program) -> frozenset[str]:
    """The pointer parameters that an instruction's address is computed from."""
    return _bases(_behind(op, program))


def _bases(makers: tuple[Op, ...]) -> frozenset[str]:
    """The pointer parameters among the instructions that compute an address."""
    given = (maker for maker in makers if maker.has("param") and maker.has(*_ADDRESSES))
    return frozenset(maker.text.partition("[")[2] for maker in given)


def _is_first(op: Op) -> bool:
    """Whether nothing that is computed comes before an instruction."""
    return ORIGINS.get(op.opcode) in {Origin.MEMORY, Origin.BEFORE}


def bases_behind(maker: Op, program: Program) -> frozenset[str]:
    """The pointer parameters that a result is computed from."""
    return _bases((maker, *_followed([read.text for _, read in names_read(maker)], maker, program)))


def writers_of(op: Op, name: str, program: Program) -> tuple[Op, ...]:
    """All instructions of an instruction's function that write a register."""
    return tuple(_makers(program).get((op.function.number, name), ()))


def readers_of(op: Op, name: str, program: Program) -> tuple[Op, ...]:
    """All instructions of an instruction's function that read a register."""
    found = _READERS.get(program)
    if found is None:
        found = _READERS[program] = defaultdict(list)
        for one in program.ops:
            for read in dict.fromkeys(name.text for _, name in names_read(one)):
                found[one.function.number, read].append(one)
    return tuple(found.get((op.function.number, name), ()))


def is_load(maker: Op) -> bool:
    """Whether a result comes from memory that is not the kernel's parameters."""
    return ORIGINS.get(maker.opcode) is Origin.MEMORY and not maker.has("param")


def _behind(op: Op, program: Program) -> tuple[Op, ...]:
    """The instructions that compute an address, and the loads of its inputs."""
    names = [
        node.text
        for operand in op.operands
        if isinstance(operand, tree.Address)
        for node in walk(operand)
        if isinstance(node, tree.Name)
    ]
    return _followed(names, op, program)


def _followed(names: list[str], op: Op, program: Program) -> tuple[Op, ...]:
    """The instructions that compute some registers of an instruction's function, the nearest first."""
    makers = _makers(program)

    def made_by(name: str) -> Sequence[Op]:
        return makers.get((op.function.number, name), ())

    def behind(name: str) -> list[str]:
        return [read.text for maker in made_by(name) if not _is_first(maker) for _, read in names_read(maker)]

    found: dict[Op, None] = {}
    for name in nearest(names, behind):
        if len(found) >= _MOST:
            break
        found.update(dict.fromkeys(made_by(name)))
    return tuple(found)


def _makers(program: Program) -> Mapping[tuple[int, str], list[Op]]:
    """The writers of each register, by function number and name; computed once per program."""
    found = _KNOWN.get(program)
    if found is None:
        found = _KNOWN[program] = defaultdict(list)
        for op in program.ops:
            for name, _ in destinations(op.node):
                found[op.function.number, name.text].append(op)
    return found
