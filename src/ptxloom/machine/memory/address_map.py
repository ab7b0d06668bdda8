"""Names addresses in a user's words: `tile+0x40`, `args[2]+0x100`, `malloc[0]-0x4`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.machine.memory.piece import Piece
from ptxloom.machine.program.symbols import Scope, Variable
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.machine.memory.module_variables import ModuleMemory
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.planned import Planned

_NEAR: Final = 1 << 16  # bytes from a piece of memory at which it is still named
_NULL: Final = 4096  # addresses below are a null pointer and what is added to it
_WINDOWS: Final = {
    state.SHARED_WINDOW: state.SHARED,
    state.LOCAL_WINDOW: state.LOCAL,
    state.PARAM_WINDOW: state.PARAM,
}


class Located(NamedTuple):
    """The object at an address.

    Attributes:
        space: Its state space (`state.SHARED` and so on).
        address: Within that space.
        symbol: A name and the bytes from its start; empty if nothing is near.
        end: For a place outside it, the end of the piece: `tile ends at +0x400`; else empty.
        is_freed: The kernel has freed this memory.
        is_null: A null pointer, or a little more.
    """

    space: int
    address: int
    symbol: str = ""
    end: str = ""
    is_freed: bool = False
    is_null: bool = False

    @property
    def name(self) -> str:
        """The symbol, or the address alone."""
        return self.symbol or f"address {self.address:#x}"

    @property
    def text(self) -> str:
        """The name and how far the piece reaches."""
        return f"{self.name} ({self.end})" if self.end else self.name


class AddressMap:
    """Knows every named piece of memory of a launch.

    Attributes:
        memory: The memory that its kernel may access.
        shared_bytes: Of a CTA.
    """

    def __init__(
        self, planned: Planned, module: ModuleMemory, memory: Memory, shared_bytes: int, members: int = 1
    ) -> None:
        self._planned = planned
        self._module = module
        self.memory = memory
        self.shared_bytes = shared_bytes
        self._members = members  # the CTAs of a cluster

    @property
    def _program(self) -> Program:
        return self._planned.program

    def locate(self, op: Op, space: int, address: int) -> Located:
        """Locate an address, which `op` uses within a space."""
        if space in {state.GENERIC, state.GLOBAL}:  # whose addresses are generic ones outside all windows
            window = address - address % state.WINDOW_BYTES
            if window in _WINDOWS:
                return self.locate(op, _WINDOWS[window], address - window)
            space = state.GLOBAL
        match space:
            case state.SHARED:
                return self._shared(op, address % state.WINDOW_BYTES)
            case state.TENSOR:
                lane, column = divmod(address, 1 << 16)
                return Located(space, address, f"lane {lane}, column {column} of tensor memory")
            case state.LOCAL | state.PARAM:
                return self._frame(op, space, address % state.WINDOW_BYTES)
            case _:
                return self._global(space, address)

    def _shared(self, op: Op, address: int) -> Located:
        rank, offset = divmod(address, 1 << state.CLUSTER_SHIFT)
        if rank > self._members:
            return Located(state.SHARED, address, end=f"the CTA has {self.shared_bytes:,} bytes of shared memory")
        found = _nearest(offset, _shared_pieces(self._program, op, self.shared_bytes)) or ("", "")
        symbol, end = found
        if offset >= self.shared_bytes:
            symbol = symbol or next(iter(self._dynamic(op)), "")
            end = f"the CTA has {self.shared_bytes:,} bytes of shared memory"
        if rank and symbol and self._members > 1:
            symbol += f" of CTA {rank - 1} of the cluster"
        return Located(state.SHARED, address, symbol, end)

    def is_dynamic(self, op: Op) -> bool:
        """Whether the size of shared memory depends on the launch: the instruction can name an array without a size."""
        return any(True for _ in self._dynamic(op))

    def _dynamic(self, op: Op) -> Iterator[str]:
        """The names of shared arrays without a size."""
        shared = (v for v in _variables(op, self._program.ops) if v.space == "shared")
        return (readable(v.name) for v in shared if not v.size)

    def _frame(self, op: Op, space: int, address: int) -> Located:
        if space == state.PARAM:
            parameters = [Piece(p.called, p.offset, p.size) for p in self._program.parameters]
            return Located(space, address, *(_nearest(address, parameters) or ("", "")))
        if not op.function.is_entry:
            return Located(space, address)
        pieces = [
            Piece(readable(v.name), v.offset, v.size) for v in _variables(op, ()) if v.space == "local" and v.size
        ]
        return Located(space, address, *(_nearest(address, pieces) or ("", "")))

    def _global(self, space: int, address: int) -> Located:
        heap = self._module.heap
        freed = heap.freed_at(address) if heap is not None else None
        if freed is not None:
            return Located(space, address, _plus(freed.piece.name, address - freed.start), is_freed=True)
        gone = self.memory.freed_at(address)
        if gone is not None:
            return Located(space, address, _plus(gone.name, address - gone.start), is_freed=True)
        if address < _NULL:
            return Located(space, address, is_null=True)
        pieces = [*self._module.pieces(), *self._arguments(), *(heap.pieces() if heap is not None else ())]
        return Located(space, address, *(_nearest(address, pieces) or ("", "")))

    def _arguments(self) -> Iterator[Piece]:
        """The launch's arguments, by the names that parameters have in the source, where they have one."""
        written = {
            f"args[{number}]": one.called
            for number, one in enumerate(self._program.parameters)
            if one.called != one.name
        }
        return (Piece(written.get(one.name, one.name), one.start, one.size) for one in self.memory.pieces())


def shared_arrays(program: Program, shared_bytes: int) -> tuple[Piece, ...]:
    """Every variable in the shared memory of a launch."""
    return tuple(_shared_pieces(program, program.ops[0], shared_bytes)) if program.ops else ()


def _shared_pieces(program: Program, op: Op, shared_bytes: int) -> Iterator[Piece]:
    """Shared variables, those that the instruction can name first."""
    for variable in _variables(op, program.ops):
        if variable.space == "shared":
            size = variable.size or max(shared_bytes - variable.offset, 0)
            yield Piece(readable(variable.name), variable.offset, size)


def _variables(op: Op, others: Iterable[Op]) -> Iterator[Variable]:
    """The variables that an instruction can name, the innermost first; then those of other instructions."""
    seen = set[Scope]()
    for each in (op, *others):
        for scope in each.scope.around():
            if scope in seen:
                break
            seen.add(scope)
            yield from (v for v in scope.names.values() if isinstance(v, Variable))


def readable(name: str) -> str:
    """A variable's name inside a function in C++ source, where the compiler has mangled it.

    Example:
        >>> readable("_ZZ6matmulPKfS0_PfiE4tile"), readable("_ZZ1kvE1a_0"), readable("smem")
        ('tile', 'a', 'smem')
    """
    if not name.startswith("_ZZ"):
        return name
    for found in re.finditer(r"E(?=(\d+))", name):
        start = found.end() + len(found[1])
        length = int(found[1])
        if re.fullmatch(r"(_\d+)?", name[start + length :]) and start + length <= len(name):
            return name[start : start + length]
    return name


def _plus(name: str, offset: int) -> str:
    return f"{name}+{offset:#x}" if offset else name


def _nearest(address: int, pieces: Iterable[Piece]) -> tuple[str, str] | None:
    """The symbol of the piece that holds an address, or the nearest one and where it ends; None if all are far away."""
    best: Piece | None = None
    distance = _NEAR
    for piece in pieces:
        if piece.start <= address < piece.start + piece.size:
            return _plus(piece.name, address - piece.start), ""
        away = piece.start - address if address < piece.start else address - (piece.start + piece.size) + 1
        if away < distance:
            best, distance = piece, away
    if best is None:
        return None
    by = address - best.start
    if by < 0:
        return f"{best.name}-{-by:#x}", f"{-by:,} bytes before its start"
    return _plus(best.name, by), f"{best.name} has {best.size:,} bytes"
