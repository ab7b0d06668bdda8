"""The records of one launch: room for what native code writes of chosen instructions, and how it is read."""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.addresses import space_of
from ptxloom.machine.instruments.trace import DONE, HEAD_BYTES, fields_of, record_bytes
from ptxloom.machine.memory.arena import zeroed
from ptxloom.machine.native import language
from ptxloom.machine.results.trace import TraceRecord
from ptxloom.machine.runtime import tracing as recorder
from ptxloom.machine.runtime.state import TracedSite
from ptxloom.syntax.origins import Origins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.instruments.trace import Field
    from ptxloom.machine.memory.address_map import Atlas
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.trace_choice import Chosen
    from ptxloom.syntax.origins import SourceLine


class Recording:
    """The rooms of one launch: what native code writes, and how it is read."""

    def __init__(
        self, program: Program, chosen: Sequence[Chosen], grid: tuple[int, int, int], warps: int, budget: Budget
    ) -> None:
        self.program = program
        self._budget = budget
        self.grid = grid
        self.warps = warps
        self.rooms: dict[int, tuple[Chosen, NDArray[np.uint8]]] = {}
        owners = sorted((site, one) for one in chosen for site in one.sites)
        table = (language.structure(TracedSite) * len(owners))()
        self.kept: list[Any] = [table]
        for number, (site, one) in enumerate(owners):
            self._fill(table[number], site, one)
        self.address, self.sites = ctypes.addressof(table), len(owners)

    def _fill(self, traced: Any, site: int, one: Chosen) -> None:
        """Tell native code of a traced instruction, and make room."""
        stride = -(-record_bytes(self.program.ops[site]) // 64) * 64
        rooms = (len(one.blocks) * self.warps, recorder.ROOM_HEAD + one.limit * stride)
        what = f"records of line {self.program.ops[site].line}"
        self._budget.charge(what, prod(rooms) + 8 * len(one.blocks))
        content = zeroed(prod(rooms), 1, what).reshape(rooms)
        blocks = np.array(one.blocks, np.uint64)
        self.kept.append(blocks)
        self.rooms[site] = (one, content)
        traced.blocks, traced.block_count = blocks.ctypes.data, len(blocks)
        traced.warps = sum(1 << warp for warp in one.warps)
        traced.rooms, traced.rooms_bytes = content.ctypes.data, content.nbytes
        traced.room_bytes, traced.record_bytes = rooms[1], stride
        traced.first, traced.limit = one.first, one.limit

    def records(self, atlas: Atlas) -> tuple[TraceRecord, ...]:
        """Everything recorded, by CTA, warp and order."""
        origins = Origins(self.program.module)
        found: list[TraceRecord] = []
        for site, (one, content) in self.rooms.items():
            op = self.program.ops[site]
            origin = origins.at(op.node.start)
            locate = _locator(atlas, op)
            stride = (content.shape[1] - recorder.ROOM_HEAD) // one.limit
            for room in np.flatnonzero(content[:, :8].view(np.uint64)[:, 0] > one.first).tolist():
                count = int(content[room, :8].view(np.uint64)[0])
                block, warp = one.blocks[room // self.warps], room % self.warps
                for number in range(one.first, min(count, one.first + one.limit)):
                    at = recorder.ROOM_HEAD + (number - one.first) * stride
                    record = content[room, at : at + stride]
                    found.append(_record(op, record, origin, (self._place(block), warp, number), locate))
        return tuple(sorted(found, key=lambda r: (r.block[::-1], r.warp, r.order)))

    def _place(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)


def _locator(atlas: Atlas, op: Op) -> Callable[[int], str]:
    """Names the addresses of an instruction."""
    return lambda address: atlas.locate(op, space_of(op), address).name


def _record(
    op: Op,
    content: NDArray[np.uint8],
    origin: SourceLine | None,
    place: tuple[tuple[int, int, int], int, int],
    locate: Callable[[int], str],
) -> TraceRecord:
    order, mask = (int(n) for n in content[:HEAD_BYTES].view(np.uint64))
    values = [(part, _values(part, content[part.at : part.at + part.bytes])) for part in fields_of(op)]
    return TraceRecord(
        op.line, op.text, op.node, origin, *place, order - 1,
        tuple(lane for lane in range(LANES) if mask >> lane & 1),
        next((value for part, value in values if not part.name), None),
        {part.name: value for part, value in values if part.name and not part.after},
        {part.name: value for part, value in values if part.after and mask & DONE},
        locate,
    )  # fmt: skip


def _values(part: Field, content: NDArray[np.uint8]) -> NDArray[Any]:
    """(32,) what a part of a record holds by lane; (32, 2) of 128 bits."""
    if part.bits == 1:
        mask = int(content.view(np.uint64)[0])
        return np.array([mask >> lane & 1 for lane in range(LANES)], np.bool_)
    if part.bits == 128:
        return content.view(np.uint64).reshape(32, 2).copy()
    return content[: 4 * part.bits].view(f"u{part.bits // 8}").copy()
