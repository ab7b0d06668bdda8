"""The records of one launch: buffers that native code fills for chosen instructions, and their decoding."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.addresses import space_of
from ptxloom.machine.instruments.trace import DONE, HEAD_BYTES, fields_of, record_bytes
from ptxloom.machine.memory.arena import zeroed
from ptxloom.machine.native import language
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.results.trace import TraceRecord, TraceRecords
from ptxloom.machine.results.trace_names import values_of
from ptxloom.machine.runtime import tracing as recorder
from ptxloom.machine.runtime.structs.traced_site import TracedSite
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.instruments.trace import Field
    from ptxloom.machine.memory.address_map import AddressMap
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.trace_choice import Chosen
    from ptxloom.machine.results.trace_condition import Condition
    from ptxloom.syntax.origins import SourceLine

_Extent: TypeAlias = tuple[int, int, int]
_LOOKED_AT: Final = 1 << 16  # executions of each warp that are held against a condition, at most
_LOOKED_AT_BYTES: Final = 1 << 26  # and what they may take, for each instruction


class Recording:
    """The buffers of one launch, and their decoding."""

    def __init__(
        self, program: Program, chosen: Sequence[Chosen], grid: _Extent, block: _Extent, budget: Budget
    ) -> None:
        self.program = program
        self._budget = budget
        self.grid = grid
        self.block = block
        self.warps = -(-prod(block) // LANES)
        self.rooms: dict[int, _Rooms] = {}
        owners = sorted((site, one) for one in chosen for site in one.sites)
        table = (language.structure(TracedSite) * len(owners))()
        self.kept: list[Any] = [table]
        for number, (site, one) in enumerate(owners):
            self._fill(table[number], site, one)
        self.address, self.sites = ctypes.addressof(table), len(owners)

    def _fill(self, traced: Any, site: int, one: Chosen) -> None:
        """Set up a traced instruction for native code, and make room."""
        stride = -(-record_bytes(self.program.ops[site]) // 64) * 64
        count = len(one.blocks) * self.warps
        limit = one.limit
        if one.condition is not None:  # those that do not fulfil it are recorded, too
            limit = max(limit, min(_LOOKED_AT, _LOOKED_AT_BYTES // (count * stride)))
        rooms = (count, recorder.ROOM_HEAD + limit * stride)
        what = f"records of line {self.program.ops[site].line}"
        self._budget.charge(what, prod(rooms) + 8 * len(one.blocks))
        content = zeroed(prod(rooms), 1, what).reshape(rooms)
        blocks = np.array(one.blocks, np.uint64)
        self.kept.append(blocks)
        self.rooms[site] = _Rooms(one, content, stride, limit)
        traced.blocks, traced.block_count = blocks.ctypes.data, len(blocks)
        traced.warps = sum(1 << warp for warp in one.warps)
        traced.rooms, traced.rooms_bytes = content.ctypes.data, content.nbytes
        traced.room_bytes, traced.record_bytes = rooms[1], stride
        traced.first, traced.limit = one.first, limit

    def records(self, atlas: AddressMap) -> TraceRecords:
        """All requested records, by CTA, warp and order."""
        origins = origins_in(self.program.module)
        found: list[TraceRecord] = []
        unseen = 0
        for site, rooms in self.rooms.items():
            op = self.program.ops[site]
            reader = _Reader(op, origins.at(op.node.start), _locator(atlas, op), self.block, rooms.chosen)
            counts = rooms.content[:, :8].view(np.uint64)[:, 0]
            for room in np.flatnonzero(counts > rooms.chosen.first).tolist():
                block, warp = rooms.chosen.blocks[room // self.warps], room % self.warps
                numbers = range(rooms.chosen.first, min(int(counts[room]), rooms.chosen.first + rooms.limit))
                records = (reader.record(rooms.of(room, n), (self._place(block), warp, n)) for n in numbers)
                kept = [*islice(filter(rooms.chosen.keeps, records), rooms.chosen.limit)]
                if rooms.chosen.condition is not None and len(kept) < rooms.chosen.limit:
                    unseen += int(counts[room]) - numbers.stop
                found += kept
        return TraceRecords(sorted(found, key=lambda r: (r.block[::-1], r.warp, r.order)), unseen)

    def _place(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)


def _locator(atlas: AddressMap, op: Op) -> Callable[[int], str]:
    """Names the addresses of an instruction."""
    return lambda address: atlas.locate(op, space_of(op), address).name


@dataclass(frozen=True, slots=True, eq=False)
class _Rooms:
    """Where native code writes what it records of one instruction, a row a warp."""

    chosen: Chosen
    content: NDArray[np.uint8]
    stride: int
    limit: int

    def of(self, room: int, number: int) -> NDArray[np.uint8]:
        """The bytes of one execution."""
        at = recorder.ROOM_HEAD + (number - self.chosen.first) * self.stride
        return self.content[room, at : at + self.stride]


class _Reader:
    """Makes records of one instruction's bytes."""

    def __init__(
        self, op: Op, origin: SourceLine | None, locate: Callable[[int], str], block: _Extent, chosen: Chosen
    ) -> None:
        self.op = op
        self.origin = origin
        self.locate = locate
        self.block = block
        self.chosen = chosen
        self.fields = fields_of(op)
        declared = ((part.name, op.scope.find(part.name)) for part in self.fields if part.name)
        self.kinds = {
            name: f"{known.type.kind}{known.type.bits}" for name, known in declared if isinstance(known, Register)
        }

    def record(self, content: NDArray[np.uint8], place: tuple[_Extent, int, int]) -> TraceRecord:
        """One execution, with the requested lanes."""
        order, mask = (int(n) for n in content[:HEAD_BYTES].view(np.uint64))
        values = [(part, _values(part, content[part.at : part.at + part.bytes])) for part in self.fields]
        lanes = tuple(lane for lane in range(LANES) if mask >> lane & 1)
        found = TraceRecord(
            self.op.line, self.op.text, self.op.node, self.origin, *place, order - 1, lanes,
            next((value for part, value in values if not part.name), None),
            {part.name: value for part, value in values if part.name and not part.after},
            {part.name: value for part, value in values if part.after and mask & DONE},
            self.locate, tuple(lane for lane in lanes if lane in self.chosen.lanes), self.block,
        )  # fmt: skip
        return found if self.chosen.condition is None else self._fulfilling(found, self.chosen.condition)

    def _fulfilling(self, found: TraceRecord, condition: Condition) -> TraceRecord:
        """A record restricted to the lanes that satisfy a condition."""
        known = values_of(found, condition.names, self.kinds)
        if known.keys() != condition.names:
            return replace(found, chosen=())
        lanes = (lane for lane in found.chosen if condition.holds({name: all_[lane] for name, all_ in known.items()}))
        return replace(found, chosen=tuple(lanes))


def _values(part: Field, content: NDArray[np.uint8]) -> NDArray[Any]:
    """(32,) what a part of a record holds by lane; (32, 2) of 128 bits."""
    if part.bits == 1:
        mask = int(content.view(np.uint64)[0])
        return np.array([mask >> lane & 1 for lane in range(LANES)], np.bool_)
    if part.bits == 128:
        return content.view(np.uint64).reshape(32, 2).copy()
    return content[: 4 * part.bits].view(f"u{part.bits // 8}").copy()
