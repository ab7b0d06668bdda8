"""The search: changes from the likeliest on, many in one kernel, until one mends the whole result."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, process_time
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.suspects.addresses import missing_indices
from ptxloom.diagnosis.suspects.bounds import bounds
from ptxloom.diagnosis.suspects.changes import together
from ptxloom.diagnosis.suspects.computed_numbers import solved, unknowns
from ptxloom.diagnosis.suspects.confusions import confusions
from ptxloom.diagnosis.suspects.everywhere import everywhere
from ptxloom.diagnosis.suspects.evidence import Evidence
from ptxloom.diagnosis.suspects.hazardous import Concern
from ptxloom.diagnosis.suspects.literals import literals, of_pool
from ptxloom.diagnosis.suspects.missing_barriers import barriers
from ptxloom.diagnosis.suspects.operands import DefUse
from ptxloom.diagnosis.suspects.parts import ALL, part_of
from ptxloom.diagnosis.suspects.ranking import Ranking
from ptxloom.diagnosis.suspects.resets import resets
from ptxloom.diagnosis.suspects.search_outcome import Found
from ptxloom.diagnosis.suspects.shifts import numbers_between, shifted
from ptxloom.diagnosis.suspects.sources import Sources
from ptxloom.diagnosis.suspects.strides import strides_of
from ptxloom.diagnosis.suspects.terms import missing_in_operands, missing_terms
from ptxloom.diagnosis.suspects.transposed import pitches_of, transposed
from ptxloom.diagnosis.suspects.trial_batches import AT_ONCE, batches, in_turn, still
from ptxloom.diagnosis.suspects.variants import form_of, with_all
from ptxloom.diagnosis.suspects.widths import wider, writers
from ptxloom.machine.kernel import Kernel
from ptxloom.machine.launch.launch_limits import may_fill_a_warp
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.readings.effects import stops
from ptxloom.syntax import tree
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.diagnosis.suspects.computed_numbers import Unknown
    from ptxloom.diagnosis.suspects.parts import CtaRange
    from ptxloom.diagnosis.suspects.trials import Judged, Trials

_WATCHED_AT_ONCE: Final = 48  # the same if all tools watch, which makes the code longer
_LINES: Final = 6  # instructions that a change adds
_COMPILE: Final = 0.2e-3  # seconds that an instruction takes to be compiled
_TRIAL: Final = 1.0e-3  # seconds that a launch takes, beside its instructions
_RUN: Final = 8e-9  # seconds that an instruction of a warp takes
_PATIENCE: Final = (
    7.0  # of such seconds: what the search may cost. It is counted, not measured, so that each search is the same
)
_DEAREST: Final = 3  # seconds of a processor for each of these: instructions may be dear, as products of matrices are
_SOLVED_AT_ONCE: Final = 64  # numbers that are looked for in one kernel
_FEW: Final = 4  # instructions that are changed one by one, too
_LARGEST: Final = 1 << 16  # of the numbers of a program that may stand for another
_MOST_NUMBERS: Final = 40
_MOST_BOUNDS: Final = 8
_LEAST_TIMEOUT: Final = 20.0  # seconds: only what waits for ever takes as long
_MOST_TURNS: Final = (1 << 32) - 1
_FIRST_TURNS: Final = 1024  # of loops that a thread may take, or
_TIMES_TURNS: Final = 4  # what it takes by itself
_HAZARDOUS_TURNS: Final = 1 << 13  # the same if a tool ends the kernel
_LEAST_AT_WORST: Final = 1 << 16  # instructions in that case until a trial is ended
_TIMES: Final = 50  # what the kernel takes by itself


def search(trials: Trials, *, patience: float = _PATIENCE, seconds: float | None = None) -> Found:
    """Try changes of a kernel whose result is wrong.

    Args:
        trials: The launch and its required results.
        patience: The budget, in counted seconds.
        seconds: Of a processor, that the search may take at most; by default three for each of these.
    """
    most = _DEAREST * patience
    return _Search(trials, patience, most if seconds is None else min(most, seconds)).found()


class _Search:
    def __init__(self, trials: Trials, patience: float, seconds: float) -> None:
        self._trials = trials
        self._left = patience
        self._end = process_time() + seconds
        self._dear = 0.0  # seconds of processor time per compiled instruction
        self._part: CtaRange | None = None
        self._most = 0  # elements that a trial of a part has made right
        program = trials.kernel.program
        self._program = program
        self._checks = frozenset(trials.checks)
        self._concern = Concern(trials.hazards, program) if trials.hazards else None
        self._line_of: dict[int, object] = {op.site: home_line(program.module, op.node.start) for op in program.ops}
        source = program.module.source
        self._ops = [
            op for op in program.ops if op.node.source is source and op.node.start < op.node.end and not stops(op.node)
        ]
        if self._concern is not None:
            self._ops = [op for op in self._ops if op.site in self._concern.scores]
        self._written_by = writers(program.ops)
        self._is_whole = may_fill_a_warp(program.entry.node.directives)
        self._sources = Sources(program, self._line_of, trials.kernel.needs.parameters)
        self._operands = DefUse(program, self._line_of, self._sources)

    def found(self) -> Found:
        """Run the search."""
        trials = self._trials
        unchanged = self._compiled([])
        if unchanged is None:
            return Found(trials.run(trials.kernel))
        trials.run(unchanged.kernel)
        start = monotonic()
        found = Found(trials.run(unchanged.kernel))
        self._turns = self._turns_of(unchanged.kernel) if found.before.finished else _HAZARDOUS_TURNS
        self._ends_at_worst = _TIMES_TURNS * found.before.instructions
        self._timeout = max(_LEAST_TIMEOUT, _TIMES * (monotonic() - start))
        if self._concern is not None:
            return found if found.before.ran else self._of_hazards(found, self._concern)
        if not (found.before.ran and found.before.wrong.any()):
            return found
        self._part = self._part_of(unchanged.kernel, found.before)
        seen = found.before.wrong if self._part is None else found.before.wrong & self._part.owned
        self._evidence = Evidence(found.before._replace(wrong=seen))
        self._score = self._evidence.score
        shown = True if self._part is None else self._part.owned
        self._ranking = Ranking(seen, ~found.before.wrong & shown)
        self._disturb()
        unlikely: list[Change] = []
        for tier, entire in (
            ((self._likeliest, self._registers), (self._resets,)),
            ((self._numbers, self._terms, self._shifts), (self._solved_literals, self._everywhere)),
            ((self._accesses, self._farther), (self._solved_terms,)),
        ):
            alike = together((one for several in tier for one in several()), self._line_of)
            more = (one for several in entire for one in several(found))
            scored = self._scored(sorted((*alike, *more), key=lambda one: one.rank))
            self._try_all(in_turn([one for one in scored if one.score]), found)
            if found.mends or not found.is_complete:
                break
            unlikely += (one for one in scored if not one.score)
        else:
            self._try_all(unlikely, found)
        found.nearly.sort(key=lambda one: -one[0])
        if not found.mends:
            found.suspected = self._ranking.suspected(self._ops, self._evidence, self._program)
        return found

    def _of_hazards(self, found: Found, concern: Concern) -> Found:
        """Try changes of the instructions that cause the hazards; there, the tools judge."""
        self._score, self._ranking = concern.score, Ranking(found.before.wrong, ~found.before.wrong)
        self._ends_at_worst = max(self._ends_at_worst, _LEAST_AT_WORST)
        for tier in (
            (self._likeliest, self._registers),
            (self._numbers, self._terms, self._shifts),
            (self._accesses, self._farther),
        ):
            alike = together((one for several in tier for one in several()), self._line_of)
            ordered = barriers(concern.ops, self._program) if tier[0] == self._likeliest and concern.is_order else ()
            self._try_all(in_turn(self._scored((*ordered, *alike))), found)
            if found.mends or not found.is_complete:
                break
        return found

    def _is_spent(self) -> bool:
        """Whether the budget is used up."""
        return self._left < 0 or process_time() > self._end

    def _turns_of(self, unchanged: Kernel) -> int:
        """The number of loop iterations that a thread may make; beyond it, a loop counts as endless."""
        turns = _FIRST_TURNS
        while (
            turns < _MOST_TURNS
            and not self._trials.run(unchanged, (0, 0, 0, 0, turns // _TIMES_TURNS, 0, *ALL)).finished
        ):
            turns *= _TIMES_TURNS
        return min(turns, _MOST_TURNS)

    def _disturb(self) -> None:
        """Determine what each instruction affects, within half of the search's budget."""
        kept, end = self._left / 2, (process_time() + self._end) / 2
        for batch in batches(self._evidence.changes(self._ops, self._line_of)):
            made = self._compiled(batch)
            for number, change in enumerate(batch if made is not None else (), 1):
                assert made is not None  # noqa: S101 - the loop would be empty
                if self._left < kept or process_time() > end:
                    return
                after = self._run(change, made.kernel, (number, 0, 0, 0))
                self._evidence.note([op.site for op, _ in change.rewrites], after)

    def _part_of(self, unchanged: Kernel, before: Judged) -> CtaRange | None:
        """The part of the grid that trials run."""

        def run(ctas: tuple[int, int]) -> Judged:
            after = self._trials.run(unchanged, (0, 0, 0, 0, self._turns, 0, *ctas))
            self._left -= _TRIAL + _RUN * after.instructions
            return after

        return part_of(run, before, self._trials.initial, self._trials.ctas)

    def _scored(self, changes: Iterable[Change]) -> list[Change]:
        """The changes with their scores: 0 for those that seem to affect no wrong element."""
        return [replace(one, score=self._score(one)) for one in changes]

    # --- what is tried ---

    def _likeliest(self) -> Iterator[Change]:
        for op in self._ops:
            yield from confusions(op)
            yield from literals(op, self._program)
            yield from wider(op, self._written_by)

    def _registers(self) -> Iterator[Change]:
        for op in self._ops:
            yield from self._operands.others(op)

    def _farther(self) -> Iterator[Change]:
        for op in self._ops:
            yield from self._operands.farther(op)

    def _numbers(self) -> Iterator[Change]:
        own = {one.value for op in self._ops for one in op.operands if isinstance(one, tree.Integer)}
        given = {number + step for number in self._trials.numbers for step in (0, 1, -1)}
        pool = sorted(given)[:_MOST_NUMBERS] + sorted(n for n in own - given if abs(n) < _LARGEST)[:_MOST_NUMBERS]
        for op in self._ops:
            yield from of_pool(op, pool, self._program)

    def _shifts(self) -> Iterator[Change]:
        numbers = numbers_between(self._trials.numbers)
        for op in self._ops:
            yield from shifted(op, numbers)

    def _resets(self, _found: Found) -> Iterator[Change]:
        yield from resets(self._ops)

    def _everywhere(self, _found: Found) -> Iterator[Change]:
        yield from everywhere(self._ops, self._operands, self._line_of, numbers_between(self._trials.numbers))

    def _solved_literals(self, found: Found) -> Iterator[Change]:
        yield from self._solved(found, [one for one in unknowns(self._ops, self._line_of) if one.is_literal])

    def _solved_terms(self, found: Found) -> Iterator[Change]:
        yield from self._solved(found, [one for one in unknowns(self._ops, self._line_of) if not one.is_literal])

    def _solved(self, found: Found, every: list[Unknown]) -> Iterator[Change]:
        """The changes by a number that is computed, of those that have one; if no other change mends half of all."""
        if any(2 * mended >= np.count_nonzero(found.before.wrong) for mended, _ in found.nearly):
            return
        wanted, before = self._trials.wanted, found.before
        if self._part is not None:
            before = before._replace(wrong=before.wrong & self._part.owned)
        every = [one for one in every if self._evidence.score(one.change(one.first))]
        every.sort(key=lambda one: one.change(one.first).likelihood)
        for start in range(0, len(every), _SOLVED_AT_ONCE):
            batch = every[start : start + _SOLVED_AT_ONCE]
            made = self._compiled([one.change(one.first) for one in batch])
            for number, one in zip(made.numbers if made is not None else (), batch, strict=made is not None):
                if self._is_spent():
                    return

                def run(change: Change, number: int = number, made: _Compiled | None = made) -> Judged:
                    assert made is not None  # noqa: S101 - the loop would be empty
                    found.tried += 1
                    return self._run(change, made.kernel, (number, 0, change.value, change.source))

                change = solved(one, run, before, wanted)
                if change is not None:
                    yield change

    def _terms(self) -> Iterator[Change]:
        own = sorted({one.value for op in self._ops for one in op.operands if isinstance(one, tree.Integer)})
        bytes_of = strides_of(self._trials.arrays, self._trials.numbers, own)
        strides = [sign * one for one in bytes_of for sign in (1, -1)]
        for op in self._ops:
            yield from missing_terms(op, self._operands)
            yield from missing_in_operands(op, self._operands)
            yield from missing_indices(op, self._operands, strides)

    def _accesses(self) -> Iterator[Change]:
        numbers = [one for one in dict.fromkeys(self._trials.numbers) if one > 1][:_MOST_BOUNDS]
        pitches = pitches_of(self._trials.arrays, self._trials.numbers)
        for op in self._ops:
            yield from bounds(op, self._operands, numbers)
            yield from transposed(op, self._operands, pitches)

    # --- how ---

    def _try_all(self, changes: list[Change], found: Found) -> None:
        waiting = list(batches(changes, AT_ONCE if self._concern is None else _WATCHED_AT_ONCE))
        while waiting:
            if self._is_spent():
                found.is_complete = False
                return
            batch = still(waiting.pop(0), found)
            if not batch:
                continue
            if process_time() + self._dear * (len(self._program.ops) + _LINES * len(batch)) > self._end:
                found.is_complete = False
                continue  # a smaller one may be left
            made = self._compiled(batch)
            if made is not None:
                self._try(batch, made, found)
            elif len({form_of(one) for one in batch}) > 1:
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]]

    def _compiled(self, batch: list[Change]) -> _Compiled | None:
        """A kernel with all of them; None if the machine cannot run one."""
        own = self._trials.kernel
        try:
            module, numbers = with_all(self._program.module, batch, self._sources, self._program.ops)
            made = Kernel(module, own.name, own.needs.target, unchecked=True)
            self._left -= _COMPILE * len(made.program.ops)
            start = process_time()
            made.code.address(whole=self._is_whole, checks=self._checks)  # before the time of a trial is measured
        except UnsupportedInstruction:
            return None
        if batch:
            self._dear = max(self._dear, (process_time() - start) / len(made.program.ops))
        return _Compiled(made, numbers)

    def _try(self, batch: list[Change], made: _Compiled, found: Found) -> None:
        for number, change in zip(made.numbers, batch, strict=True):
            if not still([change], found):
                continue
            self._try_one(change, made.kernel, (number, 0, change.value, change.source), found)
            if 1 < len(change.rewrites) <= _FEW and not change.entire:
                for single in change.singles:
                    choice = number, single.rewrites[0][0].site + 1, change.value, change.source
                    self._try_one(single, made.kernel, choice, found)

    def _run(self, change: Change, kernel: Kernel, choice: tuple[int, ...], *, whole: bool = False) -> Judged:
        """Run a trial, on the part of the grid with wrong elements or on the whole, and charge its cost."""
        part = None if whole else self._part
        start, began = monotonic(), process_time()
        parts = kernel.code.known_address(whole=False, checks=self._checks)
        after = self._trials.run(kernel, (*choice, self._turns, 0, *(part or ALL)[:2]), timeout=self._timeout)
        hung = not after.instructions and monotonic() - start > self._timeout
        compiled = parts != kernel.code.known_address(whole=False, checks=self._checks)  # which took the time
        if hung and compiled:
            return self._run(change, kernel, choice, whole=whole)
        if hung and process_time() - began < self._timeout / 2:  # other programs had the processor
            self._timeout *= 2
            return self._run(change, kernel, choice, whole=whole)
        self._left -= self._timeout if hung else _TRIAL + _RUN * (after.instructions or self._ends_at_worst)
        return after if part is None else part.told(after)

    def _try_one(self, change: Change, kernel: Kernel, choice: tuple[int, ...], found: Found) -> None:
        if self._is_spent():
            found.is_complete = False
            return
        after, is_whole = self._run(change, kernel, choice), self._part is None
        found.tried += 1
        self._ranking.note(change, after)
        if not is_whole and (after.promising or self._mended(after, found) > self._most):
            seen, is_whole = self._mended(after, found), True
            after = self._run(change, kernel, choice, whole=True)
            if self._mended(after, found):
                self._most = max(self._most, seen)
        if after.promising:
            found.mends.append(change)
        elif is_whole and (mended := self._mended(after, found)):
            found.nearly.append((mended, change))

    @staticmethod
    def _mended(after: Judged, found: Found) -> int:
        """The number of elements that a change makes right; 0 if it makes any wrong."""
        before = found.before.wrong
        if not after.ran or (after.wrong & ~before).any():
            return 0
        return int(np.count_nonzero(before & ~after.wrong))


class _Compiled(NamedTuple):
    kernel: Kernel
    numbers: tuple[int, ...]
