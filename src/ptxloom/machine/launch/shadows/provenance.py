"""Memory for provenance: tags of registers and memory, paths, nodes and matrix products."""

from __future__ import annotations

import ctypes
import re
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.diagnostics import UsageError, must_be
from ptxloom.isa.limits import LANES
from ptxloom.isa.products import matrix_form
from ptxloom.machine.instruments.matrix_tags import factors_of, lane_maps
from ptxloom.machine.instruments.tag_places import SPARE_LANE_BYTES, spare_place
from ptxloom.machine.launch.shadows.shadow import ShadowMaker, warps_of
from ptxloom.machine.launch.tensor_forms import multiplied, plan_key
from ptxloom.machine.memory.arena import zeroed_widely
from ptxloom.machine.memory.left_over import left_over
from ptxloom.machine.native import language
from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray
from ptxloom.machine.results.raw_provenance import ProductSite, RawProvenance
from ptxloom.machine.results.trace_choice import chosen_blocks
from ptxloom.machine.results.word_tags import WordTags
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.provenance.tag_words import WORD
from ptxloom.machine.runtime.structs import trail as model
from ptxloom.machine.runtime.structs.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.launch.launch_limits import Dim3
    from ptxloom.machine.memory.arena import Arena, Budget
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.provenance_choice import Provenance

_TAG: Final = 8  # bytes
_MADE: Final = 4  # bytes of a node's number
_GLOBAL: Final = "provenance's tags of global memory"
_NEAR: Final = "provenance's tags of shared and local memory"
_KEPT: Final = "provenance's products and nodes"
_PATHS: Final = 1 << 16
_LEAST: Final = 1 << 20  # bytes of a budget
_MOST: Final = 1 << 40
_BETWEEN: Final = 64  # bytes from one piece of global memory to the next, so that no value lies in two


class ProvenanceShadow(ShadowMaker):
    """The tags of a launch; they outlive it in its record."""

    def __init__(
        self,
        arena: Arena,
        budget: Budget,
        program: Program,
        memory: Memory,
        *,
        asked: Provenance,
        shape: Dim3,
        before: int,
        moments: tuple[int, ...],
        params: bytes,
    ) -> None:
        self._arena = arena
        self._budget = budget
        self._program = program
        self._memory = memory
        self._grid: tuple[int, int, int] = shape.grid
        self._registers = state.REGISTERS + -(-(program.register_bytes + before) // 64) * 64
        self._register_tags = _TAG * (spare_place(program) + LANES * SPARE_LANE_BYTES)
        self._forms = self._registers + self._register_tags
        self._form_bytes = -(-self._register_tags // (_TAG * LANES) // 64) * 64
        self.warp_bytes = self._forms + self._form_bytes - (state.REGISTERS + program.register_bytes + before)
        self._pieces: list[tuple[int, int, int, WordTags | None]] = []  # start, end, origin, tags
        self._trail: Any = language.structure(model.Trail).from_address(arena.take(model.TRAIL_BYTES))
        self._kept: dict[str, NDArray[Any]] = {}
        self._moments = moments
        self._params = params
        self._kept_ctas = tuple(chosen_blocks(asked.shared_of, self._grid, "shared_of"))
        self._choose(asked, -(-shape.threads // LANES))
        self._make_room(budget_of(asked))

    def _choose(self, asked: Provenance, warps: int) -> None:
        """Choose the products that are recorded."""
        numbers = range(warps) if asked.warps is None else tuple(asked.warps)
        if any(not 0 <= n < warps for n in numbers):
            raise UsageError("warps", asked.warps, f"warps from 0 to {warps - 1}")
        blocks = np.array(chosen_blocks(asked.ctas, self._grid, "ctas"), np.uint64)
        self._trail.warps = sum(1 << n for n in set(numbers))
        self._trail.ctas, self._trail.cta_count = self._arena.put(blocks) if len(blocks) else 0, len(blocks)

    def _make_room(self, budget_bytes: int) -> None:
        """Allocate tables of fixed size for paths, and the rest from the budget.

        One part in 9 is for nodes, one in 16 for what finds them, one in 8 for events.
        """
        trail = self._trail
        nodes = budget_bytes // 9 // model.NODE_BYTES
        events = budget_bytes // 8 // model.EVENT_BYTES
        slots = 1 << (budget_bytes // 16 // _TAG).bit_length() - 1
        rest = budget_bytes * 11 // 16 // _TAG
        for name, count, size in (
            ("path", _PATHS, model.PATH_BYTES), ("known", 4 * _PATHS, model.KNOWN_BYTES),
            ("node", nodes, model.NODE_BYTES), ("slot", slots, _TAG), ("event", min(events, model.EVENT_LIMIT),
            model.EVENT_BYTES), ("pool", rest, _TAG),
        ):  # fmt: skip
            self._budget.charge(_KEPT, count * size)
            room = self._kept[name] = (
                left_over(count * size, _KEPT) if name in _FILLED else zeroed_widely(count * size, _KEPT)
            )
            field, limit = _FIELDS[name]
            setattr(trail, field, room.ctypes.data)
            setattr(trail, limit, count)
        trail.path_count = trail.node_count = 1
        self._kept["node"][: model.NODE_BYTES] = 0
        table = np.array(lane_maps(self._program)[1], np.uint32)
        trail.maps, trail.map_count = self._arena.put(table) if len(table) else 0, len(table)

    def _take(self, size: int, what: str) -> NDArray[np.uint8]:
        self._budget.charge(what, size)
        return zeroed_widely(size, what)

    def start(self, launch: Any) -> None:
        """Set the places of all these tables for native code."""
        trail, moments, bytes_ = self._trail, 1 + len(self._moments), int(launch.shared_bytes)
        shape = len(self._kept_ctas), moments, bytes_
        self._pictures = self._take(_TAG * prod(shape), _NEAR).view(np.uint64).reshape(shape)
        self._contents = self._take(prod(shape), _NEAR).reshape(shape)
        self._taken = self._take(prod(shape[:2]), _NEAR).reshape(shape[:2])
        kept = np.array(self._kept_ctas, np.uint64)
        trail.kept, trail.kept_count = self._arena.put(kept) if len(kept) else 0, len(kept)
        trail.moments, trail.shared_bytes = moments, bytes_
        trail.taken, trail.pictures = self._taken.ctypes.data, self._pictures.ctypes.data
        trail.contents = self._contents.ctypes.data
        launch.trail = ctypes.addressof(self._trail)
        self._launch = launch
        launch.tags = self._registers
        launch.tag_forms, launch.tag_form_bytes = self._forms, self._form_bytes

    def mark(self, spans: NDArray[np.uint64]) -> None:
        """Number the bytes of global memory; those that may be written get tags."""
        at, last = 0, 0
        fields = language.record(Span).offsets
        for row in spans:
            start, end = int(row[0]), int(row[1])
            if start != last:
                at += _BETWEEN
            last = end
            tags = None
            row[fields["origin"] // 8] = at
            if row[2] and end > start:
                room = (
                    self._take(_TAG * count, _GLOBAL).view(np.uint64) for count in ((end - start) // WORD, end - start)
                )
                tags = WordTags(*room)
                row[fields["words"] // 8] = tags.heads.ctypes.data
                row[fields["tags"] // 8] = tags.bytes.ctypes.data
            self._pieces.append((start, end, at, tags))
            at += end - start
        if at > model.PLACE_LIMIT:
            raise UsageError("args", f"{at:,} bytes", f"{model.PLACE_LIMIT:,} at most with `provenance`")
        changed = self._take((at >> model.PAGE_SHIFT) + 1, _GLOBAL)
        self._kept["changed"] = changed
        self._trail.changed, self._trail.page_count = changed.ctypes.data, len(changed)
        words = (at >> model.ELEMENT_SHIFT) + 1
        made = self._take(_MADE * (1 + words + int(self._trail.node_limit)), _KEPT)
        self._kept["made"] = made
        self._trail.made, self._trail.made_count = made.ctypes.data, len(made) // _MADE
        self._trail.made_words = words

    def renew(self, address: int, size: int) -> None:
        """Treat the bytes as never written."""
        for start, end, _, tags in self._pieces:
            if start <= address < end and tags is not None:
                tags.clear(address - start, size)

    def cluster(self, launch: Any, ctas: Sequence[int]) -> None:
        """Allocate the tags of shared and local memory."""
        take = partial(self._arena.take, what=_NEAR)
        for at in ctas:
            cta: Any = language.structure(state.Cta).from_address(at)
            cta.tags = take(_TAG * launch.shared_bytes or _TAG)
            cta.word_tags = take(_TAG * (launch.shared_bytes // WORD) or _TAG)
            if launch.plan_room:
                cta.tensor_tags = take(model.TENSOR_TAG_BYTES)
            for warp in warps_of(launch, cta):
                if launch.local_bytes:
                    warp.local_tags = take(_TAG * LANES * launch.local_bytes)

    def limits(self) -> tuple[str, ...]:
        """Sentences about what did not fit."""
        return tuple(self._limits())

    def _limits(self) -> Iterator[str]:
        trail = self._trail
        missed = int(trail.event_missed)
        if missed:
            yield f"provenance has no room for {missed:,} matrix products: give it a larger budget, or choose warps"
        if trail.node_count >= trail.node_limit:
            yield "provenance has no room for all computed values: it does not report the sources of some"
        if trail.path_count >= trail.path_limit:
            yield "provenance has no room for all paths of bytes: it reports only the beginning of some"

    def record(self) -> ProvenanceRecord:
        """The record of the launch."""
        trail, arrays = self._trail, tuple(self._arrays())
        events = self._kept["event"].view(_EVENT)[: int(trail.event_count)]
        keys, kinds = np.unique(events["site"].astype(np.uint64) << np.uint64(32) | events["plan"], return_inverse=True)
        alike = [(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in keys]
        raw = RawProvenance(
            places=np.array([self._place(address) for address, _ in arrays], np.uint64),
            pieces=tuple((at, tags) for _, _, at, tags in self._pieces if tags is not None),
            events=events,
            pool=self._kept["pool"].view(np.uint64)[: int(trail.pool_count)],
            paths=self._kept["path"].view(np.uint32).reshape(-1, 2)[: int(trail.path_count)],
            nodes=self._kept["node"].view(_NODE)[: int(trail.node_count)],
            missed=int(trail.event_missed),
            pictures=self._pictures,
            contents=self._contents,
            taken=self._taken,
            kept=self._kept_ctas,
            moments=self._moments,
            kinds=kinds.reshape(-1),
            sites=tuple(self._site(site, plan) for site, plan in alike),
            grid=self._grid,
            parameters=self._params,
        )
        return ProvenanceRecord(tuple(known for _, known in arrays), self.limits(), raw, self._program)

    def _site(self, site: int, plan: int) -> ProductSite:
        """The instruction of a product and its form, taken from a plan for tensor memory if `plan` is not 0."""
        op = self._program.ops[site]
        if plan:
            form, factors, scales = multiplied(op, plan_key(self._launch, plan - 1))
            return ProductSite(op.site, op.line, op.text, form, factors, scales, in_lines=True)
        form = matrix_form(op.spelling)
        return ProductSite(op.site, op.line, op.text, form, factors_of(op, form))

    def _place(self, address: int) -> int:
        for start, end, at, _ in self._pieces:
            if start <= address < end:
                return at + address - start
        return model.PLACE_LIMIT  # an array of no bytes

    def _arrays(self) -> Iterator[tuple[int, TracedArray]]:
        """The named arrays of the launch and its device, with their addresses."""
        parameters = self._program.parameters
        for number, (name, array) in enumerate(self._memory.named_arrays()):
            found = _ARGUMENT.fullmatch(name)
            place = int(found[1]) if found is not None else None
            called = parameters[place].called if place is not None else self._called(name, array)
            facts = (array.dtype, array.shape, array.strides, array.nbytes)
            yield array.ctypes.data, TracedArray(number, called, place, *facts)

    def _called(self, name: str, array: NDArray[Any]) -> str:
        """The name of an array of the device; one without a name gets that of the parameter that points to it."""
        if _UNNAMED.match(name) is None:
            return name
        for place, one in enumerate(self._program.parameters):
            held = self._params[one.offset : one.offset + one.size]
            if one.size == _POINTER_BYTES and int.from_bytes(held, "little") == array.ctypes.data:
                return f"args[{place}]" if one.called == one.name else one.called  # or as compilers number them
        return name


_UNNAMED: Final = re.compile(r"alloc\[\d+\]")  # as its device numbers it
_POINTER_BYTES: Final = 8
_ARGUMENT: Final = re.compile(r"args\[(\d+)\](?:\.array)?")  # an array, or the one under a tensor map
_FIELDS: Final = {
    "path": ("paths", "path_limit"), "known": ("known", "known_slots"), "node": ("nodes", "node_limit"),
    "slot": ("slots", "slot_count"), "event": ("events", "event_limit"), "pool": ("pool", "pool_limit"),
}  # fmt: skip
_FILLED: Final = ("node", "slot", "event", "pool")  # which native code fills before it reads them
_EVENT: Final = np.dtype([
    ("site", "u4"), ("warp", "u4"), ("cta", "u8"), ("lanes", "u4"), ("plan", "u4"), ("start", "u8"), ("tags", "u8"),
])  # fmt: skip
_NODE: Final = np.dtype([("site", "u4"), ("spare", "u4"), ("sources", "u8", 3)])


def budget_of(asked: Provenance) -> int:
    """The memory budget of products and nodes, in bytes.

    Raises:
        UsageError: It is not a number of bytes, or out of range.
    """
    must_be(int, "budget", asked.budget, "a number of bytes")
    if not _LEAST <= asked.budget <= _MOST:
        raise UsageError("budget", asked.budget, f"{_LEAST} to {_MOST} bytes")
    return asked.budget
