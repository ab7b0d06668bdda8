"""Mistakes that tools find: a change mends them if no tool finds anything, and the result is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.suspected import RACE, REVERSED, ROWS, TOOLS, suspected, trials_of
from ptxloom.cli.suspected import in_order
from ptxloom.diagnosis import Diagnosis, Examination
from ptxloom.diagnosis.suspects.hazardous import Concern
from ptxloom.diagnosis.suspects.missing_barriers import barriers
from ptxloom.machine import kernel
from ptxloom.views.runs.diagnoses import ReportedRun, full

_DIVERGED = """\
  .reg .pred %first; setp.lt.u32 %first, %i, 40; // condition
  @!%first bra PAST; // branch
  bar.sync 0; // barrier
PAST:
"""


def _assert_mended(found: list[Diagnosis]) -> None:
    """Each repair by itself silences the tools, and makes the result right."""
    assert found
    for one in found:
        assert (one.silences, one.certain) == (True, False)
        assert one.repair is not None
        made = kernel(one.repair.apply(), "k", target="sm_80")
        arguments = REVERSED.make()
        result = made.launch(REVERSED.grid, REVERSED.block, arguments, threads=1, checks=TOOLS)
        assert not result.hazards
        assert np.array_equal(np.asarray(arguments[1]), REVERSED.reference(*arguments))


def test_a_barrier_that_is_missing_is_proposed_at_an_access_that_races() -> None:
    found = suspected(REVERSED, RACE.text, watched=True)
    _assert_mended(found)
    assert (found[0].cause, found[0].line in RACE.lines) == ("missing-barrier", True)
    assert "no tool finds anything, and the whole result is right" in found[0].detail


def test_a_barrier_that_not_all_threads_reach_is_moved() -> None:
    text = REVERSED.text.replace("  bar.sync 0; // barrier\n", _DIVERGED)
    found = suspected(REVERSED, text, watched=True)
    _assert_mended(found)
    assert any(one.cause == "missing-barrier" for one in found)


@pytest.mark.parametrize(
    ("old", "new", "mark"),
    [
        pytest.param("sub.u32 %j, 63,", "sub.u32 %j, 64,", "other", id="beyond-what-was-written"),
        pytest.param("mul.wide.u32 %at, %i, 4;", "mul.wide.u32 %at, %i, 8;", "stride", id="beyond-the-array"),
    ],
)
def test_an_index_is_followed_to_the_line_that_makes_it(old: str, new: str, mark: str) -> None:
    text = REVERSED.text.replace("mul.wide.u32 %at, %i, 4;", "mul.wide.u32 %at, %i, 4; // stride").replace(old, new)
    found = suspected(REVERSED, text, watched=True)
    _assert_mended(found)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if f"// {mark}" in one)
    assert line in [one.line for one in found]


def test_a_guard_that_lets_in_too_many_is_named_first() -> None:
    text = ROWS.text.replace("sub.u32 %last, %last, 1;", "add.u32 %last, %last, 0;")
    first, *_ = suspected(ROWS, text, watched=True)
    assert "%last" in first.instruction
    assert first.silences


def test_only_what_stands_behind_the_accesses_is_changed() -> None:
    trials = trials_of(REVERSED, REVERSED.text.replace("sub.u32 %j, 63,", "sub.u32 %j, 64,"), watched=True)
    concern = Concern(trials.hazards, trials.kernel.program)
    near = {op.text.partition(",")[0] for op in trials.kernel.program.ops if op.site in concern.scores}
    assert any("%other" in one for one in near)
    assert any("%own" in one for one in near)  # by which the bytes were to be written
    race = trials_of(REVERSED, RACE.text, watched=True)
    concern = Concern([one for one in race.hazards if one.tool == "racecheck"], race.kernel.program)
    of_race = {op.text.partition(",")[0] for op in race.kernel.program.ops if op.site in concern.scores}
    assert any("%own" in one for one in of_race)
    assert not any("%to" in one for one in of_race)


def test_no_barrier_is_tried_where_no_order_is_missing() -> None:
    trials = trials_of(REVERSED, REVERSED.text.replace("sub.u32 %j, 63,", "sub.u32 %j, 64,"), watched=True)
    assert not Concern(trials.hazards, trials.kernel.program).is_order
    race = trials_of(REVERSED, RACE.text, watched=True)
    concern = Concern(race.hazards, race.kernel.program)
    assert concern.is_order
    assert all(one.entire for one in barriers(concern.ops, race.kernel.program))


def test_a_line_that_silences_the_tools_comes_before_what_they_found_unless_they_name_it() -> None:
    text = REVERSED.text.replace("sub.u32 %j, 63,", "sub.u32 %j, 64,")
    trials = trials_of(REVERSED, text, watched=True)
    found = suspected(REVERSED, text, watched=True)
    hazard = next(iter(trials.hazards))
    behind = next(one for one in found if one.line != hazard.line)
    at_it = replace(behind, line=hazard.line)
    told = ReportedRun(Examination((behind,), 0, 0), hazards=tuple(trials.hazards))
    report = full(told)
    assert report.index(behind.detail) < report.index(hazard.rule)
    report = full(replace(told, examined=Examination((at_it,), 0, 0)))
    assert report.index(behind.detail) > report.index(hazard.rule)
    assert in_order((), [behind]) == (behind,)
