"""The known bits of an instruction's results from those of its operands: by its row, or by their origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ptxloom.binding.effects import destinations
from ptxloom.isa.spaces import Owner, spelled
from ptxloom.meaning import table
from ptxloom.meaning.form import MISFITS, Form
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.readings import bits
from ptxloom.readings.bits import Bits, Level, made, shared, various
from ptxloom.readings.known_bits import KnownBits
from ptxloom.syntax.tree import Address, Name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.syntax.tree import Instruction, Operand

_SPACES: Final = spelled(Owner.MODULE, Owner.CTA)
_DIFFERING: Final = ("add", "inc", "dec")  # no two lanes see the same value in memory


class Read(Protocol):
    """Looks up the known bits of an operand, as a number of a given width."""

    def __call__(self, operand: Operand, width: int) -> Bits:
        """The bits of an operand."""
        ...


class Query(NamedTuple):
    """A query, and what is needed to answer it.

    Attributes:
        instruction: The writer of the register.
        place: The index of the register among its destinations.
        read: Looks up operands.
        kernel_params: The kernel's parameters; empty in a function.
        is_symbol: Whether a name is not a register that anything writes.
    """

    instruction: Instruction
    place: int
    read: Read
    kernel_params: frozenset[str]
    is_symbol: Callable[[str], bool]


def result(asked: Query) -> Bits:
    """The known bits of a result; opaque if the instruction lacks operands."""
    form = Form(asked.instruction)
    try:
        origin = ORIGINS.get(form.opcode)
        return _ORIGINS[origin](asked, form) if origin is not None else _by_row(asked, form)
    except MISFITS:
        return _opaque(asked)


def _by_row(asked: Query, form: Form) -> Bits:
    row = table.find(form)
    if row is None:
        return _opaque(asked)
    reader = KnownBits(asked.read, destinations(asked.instruction)[asked.place].name)
    row.build(reader, form)
    return _opaque(asked) if reader.found is None else reader.found


def _opaque(asked: Query) -> Bits:
    """An opaque function of the operands."""
    return bits.opaque(64, *(asked.read(one, 64) for one in asked.instruction.operands[1:]))


# ------------------------------------------------------------------------------------- results without a row, by their
# origin


def _memory(asked: Query, form: Form) -> Bits:
    """A load is uniform if all lanes read from one place that is not in thread-private memory."""
    address = form.operands[1]
    where = asked.read(address, 64)
    if any(one.startswith("param") for one in form.qualifiers):
        base = address.base if isinstance(address, Address) else address
        foreign = isinstance(base, Name) and asked.is_symbol(base.text) and base.text not in asked.kernel_params
        return various(64, Level.UNKNOWN) if foreign or not asked.kernel_params else bits.opaque(64, where)
    if where.varies:
        return various(64, where.level)
    if form.has("local") or not _SPACES.intersection(form.qualifiers):
        return various(64, Level.UNKNOWN)
    return shared(64)


def _before(_: Query, form: Form) -> Bits:
    """The old value in memory: lanes access it one after the other."""
    return various(64, Level.DIVERGENT if form.has(*_DIFFERING) else Level.UNKNOWN)


def _lane(asked: Query, form: Form) -> Bits:
    """A value of another lane: uniform if the operand is, or if all read from the same lane."""
    value, lane, limits = (bits.cut(asked.read(one, 32), 32) for one in form.operands[1:4])
    if asked.place == 0 and value.uniform:
        return value
    clamp = limits.exact
    if form.has("idx") and lane.uniform and clamp is not None and clamp >> 8 & 31 == 0:
        return made(value.zeros, value.ones, 0, Level.UNIFORM) if asked.place == 0 else shared(1)
    return various(32 if asked.place == 0 else 1, Level.UNKNOWN)


def _elected(asked: Query, _: Form) -> Bits:
    return shared(32) if asked.place == 0 else various(1, Level.DIVERGENT)


def _matched(_: Query, form: Form) -> Bits:
    return various(32, Level.UNKNOWN) if form.has("any") else shared(64)


def _warp(_: Query, form: Form) -> Bits:
    return shared(form.types[-1].bits if form.types else 64)


def _elsewhere(_: Query, __: Form) -> Bits:
    return various(64, Level.UNKNOWN)


_ORIGINS: Final[dict[Origin, Callable[[Query, Form], Bits]]] = {
    Origin.MEMORY: _memory,
    Origin.BEFORE: _before,
    Origin.LANE: _lane,
    Origin.ELECTED: _elected,
    Origin.MATCHED: _matched,
    Origin.WARP: _warp,
    Origin.ELSEWHERE: _elsewhere,
}
