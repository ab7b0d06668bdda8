"""Which lanes wait where, and for which others: the report on a kernel that is stuck, or has not ended in time."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import TENSOR_COLUMNS
from ptxloom.machine.analysis.definite_assignment import key_of
from ptxloom.machine.native import language
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.asynchronous import mbarriers
from ptxloom.machine.runtime.tensor_cores.model import BLOCK_COLUMNS, TensorMemory
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import TENSOR, Commit, Count, Issue, Reach, Reserve
from ptxloom.readings.effects import meets
from ptxloom.wording import lanes_of, lanes_text, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.hazard import Hazard
    from ptxloom.machine.results.reporter import Reporter

_MOST: Final = 16  # places that are reported
_MOST_LINES: Final = 4  # of instructions that could go on with it
_NAME: Final = re.compile(r"\[\s*([A-Za-z_$%][\w$]*)")


@dataclass(frozen=True, slots=True)
class _LaneGroup:
    """Lanes of one warp at one place."""

    warp: int
    lanes: tuple[int, ...]
    op: Op
    waits: bool
    barrier: int | None  # the CTA's barrier at which they wait
    members: int  # whom they wait for within the warp; 0 if for no lane there
    mbarrier: int  # the host address of the mbarrier that they wait at; 0 if they wait at no mbarrier


def waiting(reporter: Reporter, ctas: Iterator[Any], rule: str) -> tuple[Hazard, ...]:
    """A hazard of a rule for each place where threads of these CTAs are, with the first CTA and warp there."""
    present = [(cta, [g for w in _warps(cta) for g in _groups(reporter, w)]) for cta in ctas]
    found: dict[tuple[int, int], list[tuple[_LaneGroup, Any, str]]] = {}
    for number, (cta, groups) in enumerate(present):
        near = [g for other, some in present if other.peers == cta.peers for g in some]
        for group in groups:
            why = _reason(group, cta, groups, near) or _mbarrier(reporter, group, cta, near)
            found.setdefault((number, group.op.site), []).append((group, cta, why))
    first: dict[int, Hazard] = {}
    for (_, site), here in found.items():
        group, cta, why = here[0]
        count = sum(len(g.lanes) for g, _, _ in here)
        block = (int(cta.ctaid[0]), int(cta.ctaid[1]), int(cta.ctaid[2]))
        party = reporter.party(group.op, block, group.warp, group.lanes, _verb(group))
        words = f"{count} thread{'s' * (count > 1)}"
        verb = ("wait" if group.waits else "run") + "s" * (count == 1)
        if rule != "synccheck.deadlock" and why:
            verb += f": {why}" if group.waits else f", {why}"
        hazard = reporter.hazard(rule, party, group.op.opcode, count=words, why=why, verb=verb)
        seen = first.get(site)
        first[site] = replace(seen, count=seen.count + 1) if seen else hazard
    return tuple(sorted(first.values(), key=lambda h: h.line))[:_MOST]


def _warps(cta: Any) -> Iterator[Any]:
    launch: Any = language.structure(state.Launch).from_address(cta.launch)
    for index in range(launch.warps):
        yield language.structure(state.Warp).from_address(cta.warps + index * launch.warp_bytes)


def _groups(reporter: Reporter, w: Any) -> Iterator[_LaneGroup]:
    """The lanes of a warp by the place where they are."""
    places: dict[tuple[int, bool, bool], list[int]] = {}
    for lane in lanes_of(w.live):
        at = w.pc if w.mask >> lane & 1 else w.pcs[lane]
        places.setdefault((at, bool(w.blocked >> lane & 1), bool(w.sync_blocked >> lane & 1)), []).append(lane)
    blocks = reporter.program.blocks
    for (number, blocked, in_warp), lanes in places.items():
        comes_again = bool(w.allocating >> lanes[0] & 1)  # who waits for columns is before the instruction
        at_barrier = blocked and not in_warp and number > 0 and not comes_again
        ops = blocks[number - 1].ops if at_barrier else blocks[number].ops
        if ops:
            barrier = next((n for n in range(16) if w.waits[n] >> lanes[0] & 1), None)
            members = w.members[lanes[0]] if in_warp else 0
            op = ops[-1] if at_barrier else ops[0]
            yield from _askers(reporter, w, _LaneGroup(w.index, tuple(lanes), op, blocked, barrier, members, 0))


def _askers(reporter: Reporter, w: Any, group: _LaneGroup) -> Iterator[_LaneGroup]:
    """A group, divided by the mbarrier that its lanes poll."""
    if group.waits:
        yield group
        return
    asked: dict[tuple[int, int], list[int]] = {}
    for lane in group.lanes:
        host = int(w.awaited[lane]) if w.asking >> lane & 1 else 0
        asked.setdefault((host, int(w.awaiting[lane]) if host else group.op.site), []).append(lane)
    for (host, site), lanes in asked.items():
        yield replace(group, lanes=tuple(lanes), op=reporter.program.ops[site], mbarrier=host)


def _verb(group: _LaneGroup) -> str:
    verb = "wait" if group.waits else "run"
    return f"{verb if len(group.lanes) > 1 else verb + 's'} here"


def _reason(group: _LaneGroup, cta: Any, groups: list[_LaneGroup], near: list[_LaneGroup]) -> str:
    """What a group waits for, and where that is: in the CTA, or `near`, in its cluster; empty if it runs."""
    if not group.waits:
        return ""
    if group.members:
        missing = tuple(n for n in lanes_of(group.members) if n not in group.lanes)
        there = _elsewhere([g for g in groups if g.warp == group.warp], group)
        return f"{lanes_text(missing)} of the warp {'have' if len(missing) > 1 else 'has'} not come{there}"
    if meets(group.op.node) is Reach.WARPGROUP:
        return f"other warps of the warpgroup have not committed these products{_elsewhere(groups, group)}"
    if Reserve(TENSOR) in deeds_of(group.op.node):
        return _columns(group, cta, near)
    if group.barrier is None:
        return f"the rest of the cluster has not come{_elsewhere(near, group)}"
    barrier = cta.barriers[group.barrier]
    wanted = barrier.expected or cta.live_threads
    come = f"barrier {group.barrier} has {barrier.arrived} of {wanted} threads"
    return come + _elsewhere(groups, group)


def _columns(group: _LaneGroup, cta: Any, near: list[_LaneGroup]) -> str:
    """The reason why lanes wait at `tcgen05.alloc`: for the peer, or for free columns."""
    memory: Any = language.structure(TensorMemory).from_address(cta.tensor)
    held = [bool(owner) for owner in memory.owners]
    if group.op.has("cta_group::2"):
        peers = language.structure(state.Resident)
        at = cta.peers + ctypes.sizeof(peers) * (cta.rank ^ 1)
        peer: Any = language.structure(state.Cta).from_address(peers.from_address(at).cta)
        other: Any = language.structure(TensorMemory).from_address(peer.tensor)
        if other.pairs < memory.pairs:
            return f"CTA {peer.rank} of the pair has not come to allocate{_elsewhere(near, group)}"
        held = [mine or bool(owner) for mine, owner in zip(held, other.owners, strict=True)]
    free = BLOCK_COLUMNS * held.count(False)
    return f"{free} of {TENSOR_COLUMNS} columns of tensor memory are free{_elsewhere(near, group)}"


def _mbarrier(reporter: Reporter, group: _LaneGroup, cta: Any, near: list[_LaneGroup]) -> str:
    """What is missing at the mbarrier that lanes poll, and what could supply it; empty for another CTA's."""
    offset = group.mbarrier - cta.shared
    if not 0 <= offset < reporter.atlas.shared_bytes:
        return ""
    value = ctypes.c_uint64.from_address(group.mbarrier).value
    name = reporter.atlas.locate(group.op, state.SHARED, offset).name
    lacks = f"{mbarriers.describe(value)}{_bringers(reporter, name, value)}"
    return f"waiting at the mbarrier {name}: {lacks}{_elsewhere(near, group)}"


def _bringers(reporter: Reporter, name: str, value: int) -> str:
    """The instructions that could complete an mbarrier: those that name it, or a register."""
    said: list[str] = []
    arrivals, missing_bytes = mbarriers.missing(value)
    missing = (("arrivals", arrivals, _arrives), ("bytes", missing_bytes, _brings))
    for what, count, does in missing:
        lines = sorted({op.line for op in reporter.program.ops if does(op) and _may_name(op, name)})
        if count and lines:
            listed = ranges(tuple(lines[:_MOST_LINES])) + ", ..." * (len(lines) > _MOST_LINES)
            said.append(f"{what} could come from line{'s' * (len(lines) > 1)} {listed}")
        elif count:
            said.append(f"no instruction brings {what}")
    return f" ({', '.join(said)})" if said else ""


def _arrives(op: Op) -> bool:
    """Whether an instruction arrives at an mbarrier."""
    deeds = deeds_of(op.node)
    counts = any(isinstance(deed, Count) for deed in deeds) and op.has("arrive", "arrive_drop")
    return counts or any(isinstance(deed, Commit) and deed.tells for deed in deeds)


def _brings(op: Op) -> bool:
    """Whether an instruction reports bytes to an mbarrier."""
    return op.has("complete_tx") or any(isinstance(deed, Issue) and deed.tells for deed in deeds_of(op.node))


def _may_name(op: Op, name: str) -> bool:
    """Whether an instruction names an mbarrier, or no variable of the program: a register may hold any address."""
    named = {text for text in _NAME.findall(op.text) if key_of(op.scope, text) is None}
    return not named or name.partition("+")[0] in named


def _elsewhere(groups: list[_LaneGroup], group: _LaneGroup) -> str:
    """The places of the other threads."""
    lines = sorted({g.op.line for g in groups if g.op.site != group.op.site})
    if not lines:
        return ", no other is left"
    return f", others are at line{'s' if len(lines) > 1 else ''} {ranges(tuple(lines[:4]))}"
