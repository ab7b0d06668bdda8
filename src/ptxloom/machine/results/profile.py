"""The cost of a run, instruction by instruction: the value that `launch(profile=True)` returns."""

from __future__ import annotations

import ctypes
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.lazy import cached_property
from ptxloom.machine.instruments.profile import Counters, bank_access
from ptxloom.machine.native import language
from ptxloom.machine.program.parts import copied_bytes, parts_of
from ptxloom.machine.results.conflict_fixes import remedies
from ptxloom.machine.results.counts import Counts, ProfileRow, Samples, SourceRow
from ptxloom.machine.runtime import counting, state
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Branch
from ptxloom.names.demangling import demangled
from ptxloom.readings.effects import copies
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Arena
    from ptxloom.machine.memory.piece import Piece
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.conflict_fixes import Remedy
    from ptxloom.syntax.origins import SourceLine

    Area = NDArray[np.uint8]

_SLOT: Final = language.record(counting.CounterSlot)
_TOTALS: Final = ("wavefronts", "ideal", "sectors", "ideal_sectors")


@dataclass(frozen=True, slots=True)
class Facts:
    """The text's facts about an instruction, without its cost."""

    line: int
    instruction: str
    function: str
    origin: SourceLine | None
    site: int
    block: int
    slots: tuple[int, ...]
    access: str
    rounds: int
    moved: int
    predicated: bool


@dataclass(frozen=True, eq=False)
class Profile:
    """The cost of a run.

    Attributes:
        kernel: The kernel's name.
        countable: What was counted.
        areas: The counters of each worker; they are read on demand.
        locate: Says which variables shared memory holds.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90 .entry k() { .shared .b32 s[64]; .reg .b32 %r; mov.u32 %r, %tid.x; "
        >>> text += "shl.b32 %r, %r, 3; st.shared.u32 [%r], %r; ret; }"
        >>> profile = kernel(parse(text), "k").launch(1, 32, profile=True).profile
        >>> profile.totals.wavefronts, profile.totals.conflicts
        (2, 1)
    """

    kernel: str
    countable: Countable = field(repr=False)
    areas: tuple[Area, ...] = field(repr=False)
    locate: Callable[[], tuple[Piece, ...]] = field(repr=False)

    _repr_mimebundle_ = mimebundle

    @property
    def facts(self) -> tuple[Facts, ...]:
        """The text's facts about each instruction."""
        return self.countable.facts

    @cached_property
    def arrays(self) -> tuple[Piece, ...]:
        """The variables in shared memory."""
        return self.locate()

    @cached_property
    def _slots(self) -> list[NDArray[Any]]:
        return [self.countable.counters.slots_in(area) for area in self.areas]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(instructions, 10) int64, the fields of `Counts` in order."""
        counters, facts = self.countable.counters, self.facts
        numbers = np.sum([area[: counters.start].view(np.int64) for area in self.areas], axis=0)
        whole, part, lanes, active, divergent, moved = counters.split(numbers)
        sites, blocks = (np.array([getattr(f, name) for f in facts], np.int64) for name in ("site", "block"))
        predicated = np.array([f.predicated for f in facts], np.bool_)
        first, second = (np.array([(*f.slots, -1, -1)[n] for f in facts], np.int64) for n in (0, 1))
        ran = np.where(predicated, active[sites], 32 * whole[blocks] + lanes[blocks])
        memory = self._memory()
        costs = memory[first] + memory[second]
        rounds = np.array([f.rounds for f in facts], np.int64)
        conflicts = (costs[:, 0] - costs[:, 1]) // rounds
        columns = [whole[blocks] + part[blocks], ran, costs[:, :2], conflicts, costs[:, 2:], divergent[sites]]
        columns.append(moved.reshape(-1, 2)[sites])
        return np.column_stack(columns).astype(np.int64)

    def _memory(self) -> NDArray[np.int64]:
        """(slots and one that nothing reaches, costs)."""
        memory = np.zeros((len(self.countable.counters.keys) + 1, len(_TOTALS)), np.int64)
        for one in self._slots:
            for column, name in enumerate(_TOTALS):
                of_patterns = (one["patterns"]["hits"] * one["patterns"][name]).sum(1)
                memory[:-1, column] += (one[name] + of_patterns).astype(np.int64)
        return memory

    @cached_property
    def kept(self) -> Mapping[int, NDArray[Any]]:
        """The patterns of addresses that were met, by instruction; those that reached no shared memory are absent."""
        kept: dict[int, NDArray[Any]] = {}
        for index in np.flatnonzero(self.counts[:, 2]).tolist():
            if self.facts[index].access:
                patterns = np.concatenate([one["patterns"][n] for one in self._slots for n in self.facts[index].slots])
                kept[index] = patterns[(patterns["hits"] > 0) & (patterns["wavefronts"] > 0)]
        return kept

    def __str__(self) -> str:
        return f"{demangled(self.kernel)}: {self.totals}"

    @cached_property
    def rows(self) -> tuple[ProfileRow, ...]:
        """Every instruction in the order of the text, those that never ran included."""
        return tuple(
            ProfileRow(
                fact.line, fact.instruction, fact.function, fact.origin, Counts(*numbers),
                _samples(fact, self.kept[n]) if n in self.kept else None,
            )
            for n, (fact, numbers) in enumerate(zip(self.facts, self.counts.tolist(), strict=True))
        )  # fmt: skip

    @property
    def totals(self) -> Counts:
        """All instructions together."""
        return Counts(*self.counts.sum(axis=0).tolist())

    @property
    def by_cost(self) -> tuple[ProfileRow, ...]:
        """Those instructions that ran, the costliest first."""
        ran = [row for row in self.rows if row.counts.executions]
        return tuple(sorted(ran, key=lambda row: (-row.counts.cost, row.line)))

    @property
    def by_source(self) -> tuple[SourceRow, ...]:
        """The lines of the compiled program, the costliest first; empty if the module names no lines."""
        found: dict[tuple[str, int], SourceRow] = {}
        for row in self.rows:
            if row.origin is not None and row.counts.executions:
                key = (row.origin.file, row.origin.line)
                seen = found.get(key)
                counts = row.counts if seen is None else seen.counts + row.counts
                found[key] = SourceRow(row.origin if seen is None else seen.origin, counts)
        return tuple(sorted(found.values(), key=lambda row: (-row.counts.cost, row.origin.file, row.origin.line)))

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """Remedies for the bank conflicts, for the instruction with the most conflicts first."""
        return remedies(self.rows, self.arrays)

    def line(self, number: int) -> Counts:
        """The cost of a PTX line.

        Args:
            number: The line, from 1.

        Returns:
            The counts of its instructions together.
        """
        return sum((row.counts for row in self.rows if row.line == number), Counts())


class Countable:
    """A program's counters, and the facts of every instruction that the text holds, in its order."""

    def __init__(self, program: Program) -> None:
        self.counters = Counters(program)
        self.target = program.target
        self.facts = tuple(sorted(self._facts(program), key=lambda facts: facts.line))

    def _facts(self, program: Program) -> Iterator[Facts]:
        origins = origins_in(program.module)
        slots: dict[int, list[int]] = {}
        for number, (site, _) in enumerate(self.counters.keys):
            slots.setdefault(site, []).append(number)
        for block in program.blocks:
            for op in block.ops:
                if op.node.end > op.node.start:
                    site, moved = self.counters.twins.get(op.site, (op.site, 0))
                    yield Facts(
                        op.line, op.text, op.function.name, origins.at(op.node.start), op.site, block.number,
                        tuple(slots.get(site, ())), *(_access(op) if site in slots else ("", 1)), moved,
                        op.node.predicate is not None and Branch() not in deeds_of(op.node),
                    )  # fmt: skip

    def profile(self, kernel: str, areas: Iterable[Area], locate: Callable[[], tuple[Piece, ...]]) -> Profile:
        """The profile from the counters of all workers."""
        return Profile(kernel, self, tuple(area.copy() for area in areas), locate)

    def make_room(self, arena: Arena) -> Area:
        """Memory for a worker's counters, as bytes."""
        counters = self.counters
        at = arena.take(counters.bytes, "the counters of the profile")
        area: Area = np.ctypeslib.as_array((ctypes.c_uint8 * counters.bytes).from_address(at))
        slots = counters.slots_in(area)
        slots["current"] = at + counters.start + _SLOT.size * np.arange(len(slots)) + _SLOT.offsets["patterns"]
        return area


def _access(op: Op) -> tuple[str, int]:
    """The access that shared memory sees, if it sees one, and how often it takes its wavefronts."""
    size = op.type.bits // 8 * parts_of(op) if op.types and not copies(op.node) else copied_bytes(op)
    of = bank_access(op, size)
    return ("", 1) if of is None else (of.spelling, of.rounds)


def _samples(fact: Facts, patterns: NDArray[Any]) -> Samples:
    """What patterns hold, each as it came first and as it came last."""
    first, masks = patterns["addresses"], patterns["mask"]
    moved = first + (patterns["last"] - first[np.arange(len(first)), _lowest(masks)])[:, None]
    addresses = np.concatenate([first, moved]).astype(np.int64) + fact.moved & (state.WINDOW_BYTES - 1)
    times = patterns["hits"].astype(np.int64)
    return Samples(
        fact.access, addresses, np.concatenate([masks, masks]), np.concatenate([times - times // 2, times // 2])
    )


def _lowest(masks: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The lowest lane of each mask."""
    return (masks[:, None] >> np.arange(32, dtype=np.uint32) & 1).argmax(axis=1)
