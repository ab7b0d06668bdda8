"""Values that an instruction may take instead of its own: those of registers, of parameters, of special registers.

A variant kernel copies the value that a trial chooses whenever it is written, so that one compiled instruction serves
for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from ptxloom.diagnosis.suspects.changes import READ, held
from ptxloom.machine.program.mentions import written
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ptxloom.machine.program.model import Op, Parameter, Program

SPECIAL: Final = tuple(f"%{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz")


class Kind(NamedTuple):
    """The kind of a register: predicate, floating point or other, and its width in bits (0 for predicates)."""

    is_predicate: bool
    is_float: bool
    bits: int


INDEX: Final = Kind(is_predicate=False, is_float=False, bits=32)


class Source(NamedTuple):
    """A value that an instruction may use.

    Attributes:
        number: Its own, from 1, by which a trial chooses it.
        name: Its name.
        reading: The instruction that reads it into `%u`; empty if a register holds it.
    """

    number: int
    name: str
    reading: str = ""


def kind_of(register: Register) -> Kind:
    """The kind of a register."""
    kind = register.type.kind
    return Kind(kind == "p", kind == "f", 0 if kind == "p" else register.type.bits)


class Sources:
    """The values of a program, numbered."""

    def __init__(self, program: Program, line_of: Mapping[int, object], parameters: Sequence[Parameter]) -> None:
        self._line_of = line_of
        self._numbers: dict[object, int] = {}
        self._made: dict[int, list[tuple[int, str]]] = {}  # by the number of a role, its sites and registers
        self._at: defaultdict[int, list[tuple[str, Kind, int, int]]] = defaultdict(list)
        self._entry = next((op.function.node for op in program.ops if op.function.is_entry), None)
        for op in program.ops:
            for name, register in results_of(op):
                own, role = self._number(_key(op, name)), self._number(self._role(op))
                self._made.setdefault(role, []).append((op.site, name))
                self._at[op.site].append((name, kind_of(register), own, role))
        self._read = {kind: list(self._entries(kind, parameters)) for kind in _kinds(parameters)}

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def _role(self, op: Op) -> tuple[object, str]:
        return self._line_of.get(op.site) or op.site, op.spelling

    def register(self, op: Op, name: str) -> Source:
        """A register that an instruction may use."""
        return Source(self._number(_key(op, name)), name)

    def role(self, op: Op, defined: Op) -> Source | None:
        """The latest result among unrolled copies of an instruction; None if it was not unrolled."""
        number = self._number(self._role(defined))
        made = self._made[number]
        if len({name for _, name in made}) < 2:
            return None
        before = [name for site, name in made if site < op.site]
        return Source(number, before[-1]) if before else None

    def parameter(self, name: str) -> Source | None:
        """The parameter of this name in the PTX."""
        number = self._numbers.get(("param", name))
        return next((one for several in self._read.values() for one in several if one.number == number), None)

    def entries(self, op: Op, kind: Kind) -> Sequence[Source]:
        """Parameters and special registers of a kind; parameters only in the kernel itself."""
        found = self._read.get(kind, ())
        return [one for one in found if op.function.is_entry or not one.reading.startswith("ld")]

    def _entries(self, kind: Kind, parameters: Sequence[Parameter]) -> Iterator[Source]:
        if kind == INDEX:
            for name in SPECIAL:
                yield Source(self._number(name), name, f"mov.u32 {READ}, {name};")
        for one in parameters:
            if not one.is_array and Kind(False, one.type.kind == "f", one.type.bits) == kind:
                yield Source(
                    self._number(("param", one.name)),
                    one.called or one.name,
                    f"ld.param.b{kind.bits} {READ}, [{one.name}];",
                )

    # --- in a variant kernel ---

    def copies(self, op: Op, wanted: Collection[int], source: str, test: str) -> list[str]:
        """The code after an instruction that keeps its results if they are chosen.

        Args:
            op: The instruction.
            wanted: The numbers that trials choose.
            source: The register that holds the chosen number.
            test: A predicate to use.
        """
        lines: list[str] = []
        for name, kind, own, role in self._at.get(op.site, ()):
            numbers = [one for one in (own, role) if one in wanted]
            if numbers:
                lines.append(f"setp.eq.u32 {test}, {source}, {numbers[0]};")
                lines += [f"setp.eq.or.u32 {test}, {source}, {one}, {test};" for one in numbers[1:]]
                move = "pred" if kind.is_predicate else f"b{kind.bits}"
                lines.append(f"@{test} mov.{move} {held(kind.bits)}, {name};")
        return lines

    def read(self, function: tree.Function, wanted: Collection[int], source: str, test: str) -> list[str]:
        """The code at the start of a function that keeps parameters and special registers."""
        lines: list[str] = []
        for kind, several in self._read.items():
            for one in several:
                if one.number in wanted and (function is self._entry or not one.reading.startswith("ld")):
                    reading = one.reading.replace(READ, held(kind.bits))
                    lines += [f"setp.eq.u32 {test}, {source}, {one.number};", f"@{test} {reading}"]
        return lines


def _kinds(parameters: Sequence[Parameter]) -> set[Kind]:
    words = {Kind(False, one.type.kind == "f", one.type.bits) for one in parameters if not one.is_array}
    return words | {INDEX}


def _key(op: Op, name: str) -> tuple[int, str]:
    return op.function.number, name


def results_of(op: Op) -> Iterator[tuple[str, Register]]:
    """The registers that an instruction writes, with their names: several names may share a place in the file."""
    results = written(op)
    for name in names_of(op):
        register = op.scope.find(name)
        if isinstance(register, Register) and register.vector == 1 and register in results:
            yield name, register


def names_of(op: Op) -> list[str]:
    """The names in the operands of an instruction."""
    return names_in(op.operands)


def names_in(operands: object) -> list[str]:
    """The names in an operand, or in several."""
    found: dict[str, None] = {}
    waiting: list[object] = [operands]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tree.Name):
            found[one.text] = None
        elif isinstance(one, tuple):
            waiting.extend(cast("tuple[object, ...]", one))
    return list(found)
