"""Initcheck, as an instrument: it sees the memory that instructions read and write.

An instruction that moves memory to registers may find something unwritten: that is not a hazard until it is used.
Such an instruction is then executed by the variant of the kernel that follows poison (`poison`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.matrix import MOVES
from ptxloom.machine.codegen.access import READ, WRITE
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.parts import LOADS, is_store
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.initcheck import poison, slow_path
from ptxloom.machine.runtime.initcheck.fast_path import PARAMETERS, init_name
from ptxloom.readings.effects import loads, moves_matrix

if TYPE_CHECKING:
    from ptxloom.machine.codegen.access import Access, AccessPiece
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

_NONE: Final = Value("i32", "0")


def is_watched(b: Builder, space: int) -> bool:
    """Whether initcheck watches a state space in this run."""
    near, far = "initcheck" in b.checks, "initcheck:global" in b.checks
    match space:
        case state.SHARED | state.LOCAL:
            return near
        case state.GLOBAL:
            return far
        case state.GENERIC:
            return near or far
        case _:
            return False


def brings_poison(op: Op) -> bool:
    """Whether an instruction can load unwritten memory into registers."""
    return op.opcode in LOADS or (moves_near_matrix(op) and loads(op.node))


def moves_near_matrix(op: Op) -> bool:
    """Whether an instruction moves a matrix from or to memory that is surely shared."""
    return moves_matrix(op.node) and (op.opcode in MOVES or op.has("shared", "shared::cta"))


def moves_poison(op: Op) -> bool:
    """Whether an instruction only moves data between memory and registers."""
    return op.opcode in LOADS or moves_near_matrix(op) or is_store(op)


class Initcheck(Instrument):
    """Emits the code that checks and sets the marks of memory."""

    def access(self, b: Builder, access: Access) -> None:
        """Check reads for unwritten bytes, and mark writes."""
        if access.is_issued or not is_watched(b, access.space) or (b.follows and moves_poison(b.op)):
            return
        for piece in access.pieces:
            if access.payload != 0:
                _look_at(b, access, piece)


class Remembering(Instrument):
    """Used while a load is built to compute with poison: records where it finds the first poison."""

    def access(self, b: Builder, access: Access) -> None:
        """A load reads poison."""
        if access.kind == READ:
            lanes = b.active_mask if access.lanes is None else access.lanes
            wide = int(access.space != state.SHARED or access.address_bits == 64)
            for piece in access.pieces:
                facts = (access.space, _bytes(access, piece), wide, b.op.site)
                b.runtime(poison.find_poison, W, access.addresses, access.offset + piece.at, lanes, *facts)


def _bytes(access: Access, piece: AccessPiece) -> int:
    return piece.bits // 8 * piece.parts if access.payload is None else access.payload


def _look_at(b: Builder, access: Access, piece: AccessPiece) -> None:
    addresses, offset, space = access.addresses, access.offset + piece.at, access.space
    size, wide = _bytes(access, piece), access.address_bits == 64
    lanes = b.active_mask if access.lanes is None else access.lanes
    if access.kind != WRITE:
        found = _find(b, addresses, offset, lanes, space=space, size=size, wide=wide)
        some = b.compare("ne", found, _NONE)
        if brings_poison(b.op):
            _leave(b, some)
        elif space == state.SHARED:
            b.when(some, lambda: b.runtime(slow_path.read_near, W, found, size, b.op.site))
        else:
            facts = (W, addresses, offset, found, space, size, b.op.site)
            b.when(some, lambda: b.runtime(slow_path.read_lanes, *facts))
    if access.kind != READ and space == state.SHARED:
        b.do(f"call void {_look(b, 'write', size, 'void', wide=wide)}({W}, {addresses}, i64 {offset}, {lanes})")
    elif access.kind != READ:
        b.runtime(slow_path.written_lanes, W, addresses, offset, lanes, space, size)


def _find(b: Builder, addresses: Value, offset: int, lanes: Value, *, space: int, size: int, wide: bool) -> Value:
    """The lanes that read unwritten bytes."""
    if space != state.SHARED:
        return b.runtime(slow_path.missing_lanes, W, addresses, offset, lanes, space, size)
    name = _look(b, "read", size, "i32", wide=wide)
    return b.emit("i32", f"call i32 {name}({W}, {addresses}, i64 {offset}, {lanes})")


def _look(b: Builder, verb: str, size: int, result: str, *, wide: bool) -> str:
    name = init_name(verb, "wide" if wide else "shared", size)
    b.accesses.add(name)
    b.declarations[name] = f"declare {result} @{name}({PARAMETERS})"
    return f"@{name}"


def _leave(b: Builder, found: Value) -> None:
    """If unwritten bytes are found, continue with this instruction in the variant that follows poison."""
    leaving, staying = b.fresh("L"), b.fresh("L")
    b.do(f"br {found}, label %{leaving}, label %{staying}")
    b.label(leaving)
    b.store(Value("i32", str(b.block.number)), b.field("pc"), 4)
    b.store(Value("i32", str(b.op.site + 1)), b.field("resume"), 4)
    b.store(Value("i32", "1"), b.field("poisoned"), 4)
    b.do(f"ret i32 {turns.SWITCH}")
    b.label(staying)
