"""Which variable an address was computed from, as far as the text of a program shows.

A register that a `mov` or `cvta` sets to a variable's address points into it, and so do values computed from it by
adding, subtracting, aligning, copying and selecting. Values from memory, from another CTA (`mapa`) or from differences
of addresses may point anywhere, and so may values combined with them. In programs for pairs of CTAs a mask may exchange
the CTA that a shared address names: the variable is then that CTA's. An address that points into variables by all
writes to its registers must not leave them: no compiler relies on the memory next to a variable.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakKeyDictionary

from ptxloom.binding.constants import simplified
from ptxloom.binding.effects import destinations
from ptxloom.dataclass import dataclass
from ptxloom.isa.spaces import MEMORY, Owner
from ptxloom.machine.analysis.definite_assignment import key_of
from ptxloom.machine.codegen.addresses import within_cta
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.machine.runtime import hazards, state
from ptxloom.readings.effects import counts
from ptxloom.readings.pointees import pointees
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Key


_W: Final = Value("ptr", "%w")

#: Possible contents of a register: no address of a variable; addresses of some variables; anything.
Pointees: TypeAlias = "frozenset[Variable] | None"
_DATA: Final[frozenset[Variable]] = frozenset()

_SPACES: Final = {name: space.number for name, space in MEMORY.items() if space.owner is not Owner.CALL}


@dataclass(frozen=True, slots=True)
class PointsTo:
    """The variables that a program's addresses point into.

    Attributes:
        by_site: By instruction, for each operand the variables that it surely points into, if it is such an address.
        variables: All of them, in the order of the text.
    """

    by_site: Mapping[int, tuple[tuple[Variable, ...], ...]]
    variables: tuple[Variable, ...]


_FOUND: Final[WeakKeyDictionary[Program, PointsTo]] = WeakKeyDictionary()


def _found(program: Program) -> PointsTo:
    """Find what every address of a program points into."""
    flow = _Flow()
    while flow.changes(program):
        pass
    found = {
        op.site: tuple(_sorted(some or _DATA) for some in sets) for op, sets in flow.addresses(program) if any(sets)
    }
    seen = dict.fromkeys(variable for known in found.values() for some in known for variable in some)
    return PointsTo(found, tuple(seen))


def _sorted(variables: frozenset[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(variables, key=lambda variable: (variable.space, variable.offset)))


class _Flow:
    """The variables that each register may point into, on any path to a block."""

    def __init__(self) -> None:
        self._held: dict[Key, Pointees] = {}
        self._here: dict[Key, Pointees] = {}  # what the block at hand has written

    def changes(self, program: Program) -> bool:
        """Process the program once; returns whether any register's set has grown."""
        before = dict(self._held)
        for _ in self.addresses(program):
            pass
        return self._held != before

    def addresses(self, program: Program) -> Iterator[tuple[Op, list[Pointees]]]:
        """Every instruction with the variables that its address operands point into; updates its results."""
        for block in program.blocks:
            self._here = {}
            for op in block.ops:
                yield op, [self.address(op, operand) for operand in op.operands]
                sure = op.node.predicate is None
                made = pointees(_SURE, op.node, partial(self._of, op))
                for (name, _), given in zip(destinations(op.node), made, strict=True):
                    key = key_of(op.scope, name.text)
                    if key is None:
                        continue
                    self._here[key] = given if sure else _joined(self._value(key, given), given)
                    self._held[key] = _joined(self._held.get(key, given), given)

    def _value(self, key: Key, default: Pointees = _DATA) -> Pointees:
        return self._here[key] if key in self._here else self._held.get(key, default)

    def address(self, op: Op, operand: tree.Operand) -> Pointees:
        """The variables that an address operand points into."""
        match operand:
            case tree.Address(base=base, extra=()):
                return self._of(op, base)
            case tree.Indexed(base=base):
                return self._of(op, base)
            case _:
                return _DATA

    def _of(self, op: Op, operand: tree.Operand) -> Pointees:  # noqa: PLR0911 - one case a node
        """The variables that an operand's value points into."""
        match operand:
            case tree.Name(text=name):
                found = op.scope.find(name)
                if isinstance(found, Variable):
                    return frozenset((found,)) if found.space in _SPACES else _DATA
                key = key_of(op.scope, name)
                if key is not None:
                    return self._value(key)
                return None if isinstance(found, Register) else _DATA
            case tree.Indexed(base=base):
                return self._of(op, base)
            case tree.Vector(elements=elements):
                return _DATA if all(self._of(op, element) == _DATA for element in elements) else None
            case tree.Binary():
                match simplified(operand):
                    case (name, _) if isinstance(found := op.scope.find(str(name)), Variable):
                        return frozenset((found,)) if found.space in _SPACES else _DATA
                    case _:
                        return _DATA if constant(operand) is not None else None
            case _:
                return _DATA


class _Sure:
    """Values that surely point into some variables, on every path; None: they may point anywhere."""

    data: Pointees = _DATA

    def either(self, one: Pointees, other: Pointees) -> Pointees:
        """Addresses of both, if both are addresses."""
        return _joined(one, other)

    def step(self, values: Sequence[Pointees], places: Sequence[int]) -> Pointees:
        """The one address among distances."""
        pointing = [number for number, value in enumerate(values) if value != _DATA]
        if not pointing:
            return _DATA
        return values[pointing[0]] if len(pointing) == 1 and pointing[0] in places else None

    def opaque(self, values: Sequence[Pointees]) -> Pointees:
        """Other results computed from an address may point anywhere."""
        return _DATA if all(value == _DATA for value in values) else None

    def cut(self, value: Pointees, bits: int) -> Pointees:
        """Addresses of shared and local memory have 32 bits; with fewer, a value may point anywhere."""
        return value if bits >= _ADDRESS_BITS or value == _DATA else None


def _joined(one: Pointees, other: Pointees) -> Pointees:
    """The union of two possible contents."""
    if one is None or other is None:
        return None
    if one == other:
        return one
    return one | other if one and other else None


_SURE: Final = _Sure()
_ADDRESS_BITS: Final = 32


class Overruns(Instrument):
    """Reports accesses that leave the variables from which their addresses were computed."""

    def __init__(self, program: Program) -> None:
        self.found = points_to(program)

    def access(self, b: Builder, access: Access) -> None:
        """Compare the addresses with the variables' bounds."""
        if access.is_mbarrier and not counts(b.op.node):
            return  # it is not what the first address of the instruction points to
        variables = self._variables(b.op, access.operand)
        if not variables or (access.space != state.GENERIC and {_SPACES[v.space] for v in variables} != {access.space}):
            return
        at = b.load(vector(f"i{access.address_bits}"), access.addresses, 4)
        at = b.apply("add", b.resize(at, 64), b.constant(vector("i64"), access.offset))
        lanes = b.active_mask if access.lanes is None else access.lanes
        if access.stretches is None:
            sizes = b.constant(at.type, access.bytes)
        else:
            sizes = b.convert("zext", access.stretches(), "i64")
            lanes = b.apply("and", lanes, b.mask_of(b.compare("ne", sizes, b.constant(sizes.type, 0))))
        self._compare(b, variables, at, sizes, lanes)

    def _variables(self, op: Op, operand: int | None) -> tuple[Variable, ...]:
        """The variables that an operand, by default the first address, points into."""
        sets = self.found.by_site.get(op.site, ())
        if operand is None:
            addresses = (n for n, node in enumerate(op.operands) if isinstance(node, (tree.Address, tree.Indexed)))
            operand = next(addresses, len(sets))
        return sets[operand] if operand < len(sets) else ()

    def _compare(self, b: Builder, variables: tuple[Variable, ...], at: Value, sizes: Value, lanes: Value) -> None:
        outside = lanes
        for variable in variables:
            low = b.apply("sub", at, within_cta(b, b.address_of(variable), _SPACES[variable.space]))
            if variable.space in {"shared", "local"}:  # a generic address has the window in its upper half
                of_pair = variable.space == "shared" and b.program.is_paired  # the rank of the CTA stands above
                window = 1 << state.CLUSTER_SHIFT if of_pair else state.WINDOW_BYTES
                low = b.apply("and", low, b.constant(low.type, window - 1))
            whole = _whole(b, variable)
            beyond = b.compare("ugt", low, b.apply("sub", whole, sizes))
            larger = b.compare("ugt", sizes, whole)
            outside = b.apply("and", outside, b.apply("or", b.mask_of(beyond), b.mask_of(larger)))
        number = self.found.variables.index(variables[0])
        space = _SPACES[self.found.variables[number].space]

        def note() -> None:
            lane = b.intrinsic("llvm.cttz", outside, Value("i1", "true"))
            first = b.emit("i64", f"extractelement {at}, {lane}")
            if space in {state.SHARED, state.LOCAL}:
                first = b.apply("and", first, Value("i64", str(state.WINDOW_BYTES - 1)))
            size = b.resize(b.emit("i64", f"extractelement {sizes}, {lane}"), 32)
            b.runtime(hazards.note_access, _W, state.STRAYED, b.op.site, lane, first, space, size, number)

        b.when(b.compare("ne", outside, Value("i32", "0")), note)


def _whole(b: Builder, variable: Variable) -> Value:
    """The size of a variable, 32 times."""
    if variable.size or variable.space != "shared":
        return b.constant(vector("i64"), variable.size)
    whole = b.load("i64", b.field("shared_bytes"), 8)  # an array without a size: all that is left
    return b.splat(b.apply("sub", whole, Value("i64", str(variable.offset))))


def points_to(program: Program) -> PointsTo:
    """The variables that a program's addresses point into; computed once."""
    found = _FOUND.get(program)
    if found is None:
        found = _FOUND[program] = _found(program)
    return found
