"""The code that records: an instruction's addresses, and its registers before and after, of chosen warps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.addresses import address_values, base_and_offset, space_of
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state, tracing
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program

HEAD_BYTES: Final = 16  # the order among the warp's records, and the lanes
DONE: Final = 1 << 32  # beside the lanes: the instruction has run to its end
_MASK_AT: Final = 8
_W: Final = Value("ptr", "%w")


@dataclass(frozen=True, slots=True)
class Field:
    """One register (or the address) in a record: 32 lanes side by side, a predicate as a mask.

    Attributes:
        name: The register as written; "" for the address.
        operand: The node that reads it.
        bits: Of one lane; 1 for a predicate.
        at: Its offset in the record.
        after: Recorded after the instruction, not before it.
    """

    name: str
    operand: tree.Operand
    bits: int
    at: int
    after: bool

    @property
    def bytes(self) -> int:
        """Its size in bytes."""
        return 8 if self.bits == 1 else max(LANES * self.bits // 8, 64)


def fields_of(op: Op) -> tuple[Field, ...]:
    """The fields of an instruction's record."""
    found: list[Field] = []
    at = HEAD_BYTES
    for place, operand in enumerate(op.operands):
        if isinstance(operand, tree.Address) and not operand.extra and space_of(op) != state.PARAM:
            found.append(Field("", operand, 64, at, after=False))
            at += found[-1].bytes
        for register in _registers(operand):
            known = op.scope.find(register.text)
            after = place == 0 and not isinstance(operand, tree.Address)
            if not isinstance(known, Register) or known.vector > 1 or _has(found, register.text, after=after):
                continue
            bits = 1 if known.type.kind == "p" else known.type.bits
            found.append(Field(register.text, register, bits, at, after))
            at += found[-1].bytes
    guard = "" if op.node.predicate is None else op.node.predicate.name
    if isinstance(op.scope.find(guard), Register) and not _has(found, guard, after=False):
        found.append(Field(guard, tree.Name(guard), 1, at, after=False))
    return tuple(found)


def _has(found: list[Field], name: str, *, after: bool) -> bool:
    return any(field.name == name and field.after is after for field in found)


def _registers(operand: tree.Operand) -> Iterator[tree.Name]:
    """The names in an operand, in order."""
    waiting: list[tree.Operand] = [operand]
    while waiting:
        match waiting.pop():
            case tree.Name() as name:
                yield name
            case tree.Vector(elements=elements):
                waiting += reversed(elements)
            case tree.Pair(first=first, second=second):
                waiting += [second, first]
            case tree.Address(base=base, extra=extra):
                waiting += [*reversed(extra), base]
            case tree.Unary(operand=inner):
                waiting.append(inner)
            case _:
                pass


def record_bytes(op: Op) -> int:
    """The size of a record."""
    return HEAD_BYTES + sum(field.bytes for field in fields_of(op))


class Tracing(Instrument):
    """Records."""

    def __init__(self, program: Program, sites: tuple[int, ...]) -> None:
        self.numbers = {site: number for number, site in enumerate(sites)}
        self.fields = {site: fields_of(program.ops[site]) for site in sites}
        self.record = Value("i64", "0")

    def sees(self, op: Op) -> bool:
        """Whether an instruction is traced."""
        return op.site in self.numbers

    def before(self, b: Builder) -> None:
        """Begin a record, and store what the instruction reads."""
        number = self.numbers.get(b.op.site)
        if number is not None:
            self.record = b.runtime(tracing.begin_record, _W, number, b.active_mask)
            self._keep(b, after=False)

    def after(self, b: Builder) -> None:
        """Store what the instruction wrote."""
        if b.op.site in self.numbers:
            self._keep(b, after=True)

    def _keep(self, b: Builder, *, after: bool) -> None:
        """Store fields in the record, if there is one."""
        fields = [field for field in self.fields[b.op.site] if field.after is after]
        if not fields:
            return
        some, done = b.fresh("L"), b.fresh("L")
        none = b.compare("eq", self.record, Value("i64", "0"))
        b.do(f"br {none}, label %{done}, label %{some}")
        b.label(some)
        place = b.emit("ptr", f"inttoptr {self.record} to ptr")
        width, b.width = b.width, LANES
        for field in fields:
            b.store(self._value(b, field), b.offset(place, field.at), 8)
        if after:
            mask = b.offset(place, _MASK_AT)
            b.store(b.apply("or", b.load("i64", mask, 8), Value("i64", str(DONE))), mask, 8)
        b.width = width
        b.do(f"br label %{done}")
        b.label(done)

    def _value(self, b: Builder, field: Field) -> Value:
        if field.bits == 1:
            return b.resize(b.read_mask(field.operand), 64)
        if field.name:
            return b.bitcast(b.read(field.operand, f"b{field.bits}"), vector(f"i{field.bits}"))
        return address_values(b, *base_and_offset(b.op, field.operand))
