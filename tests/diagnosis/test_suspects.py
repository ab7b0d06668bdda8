"""Where a reference says that a result is wrong: the line whose change mends it is named, and nothing is certain."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from diagnosis.planted.launching import outcome
from diagnosis.suspected import (
    BUGS,
    FOUR_ROWS,
    HOISTED,
    LARGE,
    LOOP,
    PAIRED,
    PRODUCT,
    ROWS,
    SHIFTED,
    TURNS,
    TWICE,
    from_number,
    suspected,
    trials_of,
)
from ptxloom.checker import check
from ptxloom.diagnosis import Repair
from ptxloom.diagnosis.suspects import diagnoses, parts, search
from ptxloom.diagnosis.suspects.changes import CHOICE, Change, Rewrite
from ptxloom.diagnosis.suspects.computed_numbers import solved, unknowns
from ptxloom.diagnosis.suspects.everywhere import everywhere
from ptxloom.diagnosis.suspects.evidence import Evidence
from ptxloom.diagnosis.suspects.literals import literals
from ptxloom.diagnosis.suspects.operands import DefUse
from ptxloom.diagnosis.suspects.parts import ALL, part_of
from ptxloom.diagnosis.suspects.shifts import numbers_between
from ptxloom.diagnosis.suspects.sources import Sources
from ptxloom.diagnosis.suspects.trial_batches import in_turn
from ptxloom.diagnosis.suspects.trials import Judged, Trials
from ptxloom.diagnosis.suspects.variants import with_all
from ptxloom.machine import LaunchError, kernel
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from diagnosis.planted.model import PlantedBug
    from ptxloom.diagnosis.suspects.parts import CtaRange
    from ptxloom.machine import Kernel


SEARCH: Final = sys.modules["ptxloom.diagnosis.suspects.search"]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_line_is_named_first_and_its_repair_mends(bug: PlantedBug) -> None:
    first, *others = suspected(ROWS, bug.text)
    assert (first.cause, first.line in bug.lines) == (bug.cause, True)
    assert not any(one.certain for one in (first, *others))
    assert first.repair is not None
    mended = first.repair.apply()
    assert [one for one in check(mended) if one.severity.name == "ERROR"] == []
    found, wanted = outcome(ROWS, mended.source.text, ROWS.make())
    assert np.array_equal(found, wanted)


def test_what_unrolling_multiplied_takes_each_the_value_of_its_own_turn() -> None:
    text = TWICE.text.replace("add.f32 %y0, %y0, %x0", "add.f32 %y0, %y0, %y0").replace(
        "add.f32 %y1, %y1, %x1", "add.f32 %y1, %y1, %y1"
    )
    first = next(one for one in suspected(TWICE, text) if one.line in TWICE.lines("sum"))
    assert first.cause == "wrong-operand"
    assert first.repair is not None
    assert ["%x0" in new or "%x1" in new for _, new in first.repair.edits] == [True, True]
    one, two = (node.span.line for node, _ in first.repair.edits)
    told = str(first.repair)
    assert (told.count("\n"), told.startswith(f"line {one}: "), told.endswith(f", and so in line {two}")) == (
        0,
        True,
        True,
    )


def test_edits_of_a_source_line_that_differ_are_listed_by_themselves() -> None:
    program = trials_of(TWICE, TWICE.text).kernel.program
    first, second = (one.node for one in program.ops if one.spelling == "mul.f32")
    module = program.module
    alike = Repair(module, ((first, "mul.f32 %y0, %x0, %x0;"), (second, "mul.f32 %y1, %x1, %x1;")))
    unlike = Repair(module, ((first, "mul.f32 %y0, %x0, %x0;"), (second, "mul.f32 %y1, %x1, %y1;")))
    assert [str(one).count("line ") for one in (alike, unlike)] == [2, 2]
    assert [len(str(one).split("\n")) for one in (alike, unlike)] == [1, 2]


def test_what_its_own_repair_does_not_mend_is_not_named() -> None:
    trials = trials_of(ROWS, BUGS[0].text)
    found = search(trials)
    mends, op = found.mends[0], found.mends[0].op
    assert diagnoses(replace(found, mends=[mends]), trials)
    other = replace(mends, rewrites=((op, Rewrite((op.node.span.text.strip(),))),))
    assert diagnoses(replace(found, mends=[other]), trials) == []


def test_what_seems_not_to_reach_the_wrong_elements_is_changed_last() -> None:
    first = suspected(PAIRED, PAIRED.text.replace("xor.b32 %j, %i, 2;", "xor.b32 %j, %i, 4;"))[0]
    assert (first.line in PAIRED.lines("partner"), first.cause) == (True, "wrong-constant")


def test_what_is_no_number_before_and_after_tells_nothing() -> None:
    trials = trials_of(ROWS, BUGS[0].text)
    op = trials.kernel.program.ops[-2]
    nothing = Judged(np.ones(2, bool), ran=True, instructions=1, values=np.full(2, np.nan))
    evidence = Evidence(nothing)
    evidence.note([op.site], nothing)
    assert evidence.score(Change("", "", ((op, Rewrite(())),))) == 0.5
    seen = nothing._replace(values=np.array([np.nan, 1.0]))
    evidence = Evidence(seen)
    evidence.note([op.site], seen)
    assert evidence.score(Change("", "", ((op, Rewrite(())),))) == 0.0


def _grid(share: int = 10_000, elements: int = 8) -> tuple[Judged, Callable[[tuple[int, int]], Judged]]:
    """What 8 CTAs write, an element each, of which those of 2 and 5 are wrong; and their runs by themselves."""
    wrong = np.isin(np.arange(elements), (2, 5))
    before = Judged(wrong, ran=True, instructions=8 * share, values=np.ones(elements))

    def run(ctas: tuple[int, int]) -> Judged:
        own = np.isin(np.arange(elements), range(ctas[0], sum(ctas)))
        return Judged(wrong | ~own, ran=True, instructions=ctas[1] * share, values=own.astype(float))

    return before, run


def test_trials_run_the_part_of_a_grid_that_shows_what_is_wrong() -> None:
    before, run = _grid()
    initial = np.zeros(8)
    part = part_of(run, before, initial, 8)
    assert part is not None
    assert (part.first, part.ctas, part.owned.tolist()) == (5, 1, [n == 5 for n in range(8)])
    alone = run((5, 1))
    unmended, mended = part.told(alone), part.told(alone._replace(wrong=alone.values == 0))
    assert (unmended.promising, unmended.wrong.tolist()) == (False, before.wrong.tolist())
    assert (mended.promising, np.flatnonzero(mended.wrong).tolist()) == (True, [2])


def test_a_grid_whose_ctas_depend_on_one_another_is_run_as_a_whole() -> None:
    before, run = _grid()
    assert part_of(lambda ctas: run(ctas)._replace(values=np.full(8, ctas[0] + 2.0)), before, np.zeros(8), 8) is None
    small, run = _grid(share=10)
    assert part_of(run, small, np.zeros(8), 8) is None


def test_a_part_finds_what_the_whole_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_LEAST", 0)
    monkeypatch.setattr(parts, "_LEAST_CTAS", 2)
    monkeypatch.setattr(parts, "_SHARE", 1)
    searched: list[CtaRange | None] = []

    def noted(
        run: Callable[[tuple[int, int]], Judged], before: Judged, initial: NDArray[np.float64], ctas: int
    ) -> CtaRange | None:
        searched.append(part_of(run, before, initial, ctas))
        return searched[-1]

    monkeypatch.setattr(SEARCH, "part_of", noted)
    bug = next(one for one in BUGS if one.name == "mean-added")
    first = suspected(ROWS, bug.text)[0]
    assert (first.line in bug.lines, first.cause, len(searched)) == (True, bug.cause, 1)
    assert searched[0] is not None
    assert searched[0].ctas == 1


def test_evidence_and_the_order_of_the_text_take_turns() -> None:
    op = trials_of(ROWS, ROWS.text).kernel.program.ops[0]
    several = [Change("", str(n), ((op, Rewrite(())),), score=n / 8) for n in range(6)]
    assert [one.what for one in in_turn(several)] == ["5", "0", "4", "1", "3", "2"]


def test_beside_a_change_that_mends_all_only_what_is_as_likely_is_tried() -> None:
    trials = trials_of(ROWS, BUGS[0].text)
    found = search(trials)
    assert found.mends
    assert not found.is_complete
    said = diagnoses(found, trials)[0].detail
    assert "the whole result is right" in said
    assert "no other line would do" not in said


def test_another_number_is_said_in_words() -> None:
    said = [
        suspected(LOOP, LOOP.text.replace(*one))[0].detail
        for one in ((", %n, 8", ", %n, 6"), ("%y, 0f00000000", "%y, 0f40000000"))
    ]
    assert [one.split(" the whole")[0] for one in said] == ["with a number 2 larger", "with 0 in place of the number"]


def test_a_change_that_hangs_costs_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every change hangs, no more are tried than the search may cost; half of it goes to disturbances."""
    clock, hung, run = [0.0], [0.0], Trials.run

    def hanging(trials: Trials, kernel: Kernel, choice: tuple[int, ...] | None = None, **options: float) -> Judged:
        judged = run(trials, kernel)
        if choice is None or not choice[0]:
            return judged
        clock[0] += 1.01 * options["timeout"]
        hung[0] += options["timeout"]
        return judged._replace(ran=False, instructions=0)

    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(SEARCH, name, lambda: clock[0])
    monkeypatch.setattr(Trials, "run", hanging)
    found = search(trials_of(ROWS, BUGS[0].text), patience=100.0)
    assert (found.mends, found.is_complete, found.tried > 0) == ([], False, True)
    assert hung[0] <= 140


def test_a_loop_that_a_change_makes_endless_is_left_after_as_many_turns_as_a_trial_allows() -> None:
    """No clock ends it: how many changes are tried does not depend on what else this machine does."""
    trials = trials_of(LOOP, LOOP.text)
    program = trials.kernel.program
    steps = [op for op in program.ops if op.line in LOOP.lines("step")]
    own = Change("", "", tuple((op, Rewrite(())) for op in steps))
    sources = Sources(program, {}, trials.kernel.needs.parameters)
    made = kernel(with_all(program.module, [own], sources, program.ops).module, "k", unchecked=True)
    assert not trials.run(made, (0, 0, 0, 0, 8, 0, *ALL)).wrong.any()
    assert not trials.run(made, (0, 0, 0, 0, 7, 0, *ALL)).ran
    made.global_array(CHOICE)[...] = (1, 0, 0, 0, 1000, 0, *ALL)
    with pytest.raises(LaunchError, match="trap"):
        trials.launch(made)


def test_a_loop_without_an_end_costs_a_search_no_more_than_a_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    run = Trials.run

    def timed(trials: Trials, kernel: Kernel, choice: tuple[int, ...] | None = None, **options: float) -> Judged:
        judged = run(trials, kernel, choice)  # without a limit of time
        waited.append(0 if judged.ran else 1)
        return judged

    monkeypatch.setattr(Trials, "run", timed)
    text = LOOP.text.replace("add.f32 %y, %y, %x;", "sub.f32 %y, %y, %x;")
    first = suspected(LOOP, text)[0]
    assert first.line in LOOP.lines("sum")
    assert sum(waited) > 8


def test_a_right_kernel_is_left_in_peace() -> None:
    assert suspected(ROWS, ROWS.text) == []


def test_a_change_that_is_not_chosen_changes_nothing() -> None:
    found = search(trials_of(ROWS, BUGS[0].text), patience=0.1)
    first = trials_of(ROWS, BUGS[0].text)
    assert np.array_equal(found.before.wrong, first.run(first.kernel).wrong)
    assert int(found.before.wrong.sum()) == 1


def test_variables_are_as_they_were_for_each_trial() -> None:
    text = ROWS.text.replace(".visible", ".global .u32 runs = 0;\n.visible").replace(
        "  mov.u32 %cta, %ctaid.x;",
        "  atom.global.add.u32 %cta, [runs], 0;\n  st.global.u32 [runs], 5;\n  mov.u32 %cta, %ctaid.x;",
    )
    trials = trials_of(ROWS, text)
    made = trials.kernel
    for _ in range(2):
        assert not trials.run(made).wrong.any()
        assert made.global_array("runs") == 5


def test_a_whole_number_may_be_off_where_no_literal_says_so() -> None:
    """By one, or by the difference of two numbers of the launch."""
    for added, said in (
        (4, "what is computed 1 larger"),
        (34, "what is computed 31 larger"),
    ):
        case = replace(SHIFTED, reference=from_number(added))
        first = suspected(case, case.text)[0]
        assert (first.line in case.lines("sum"), first.cause) == (True, "missing-term")
        assert said in first.detail
    assert numbers_between([24, 40]) == [1, -1, 16, -16, 24, -24, 40, -40]


def test_an_access_whose_row_and_column_are_exchanged_is_named_wherever_its_address_is_computed() -> None:
    first = suspected(PRODUCT, PRODUCT.text)[0]
    assert (first.line in PRODUCT.lines("b"), first.cause) == (True, "order-exchanged")
    assert "with row and column exchanged, of `B` with 6 and 6 in a row the whole result is right" in first.detail
    assert first.repair is not None
    found, wanted = outcome(PRODUCT, first.repair.apply().source.text, PRODUCT.make())
    assert np.array_equal(found, wanted)


def test_a_bound_that_is_not_checked_is_named_where_others_are() -> None:
    case = FOUR_ROWS
    named = [one for one in suspected(case, case.text) if one.line in case.lines("guard")]
    assert [one.cause for one in named] == ["tail-not-masked"]
    assert "is not below 4 the whole result is right" in named[0].detail
    assert named[0].repair is not None
    found, wanted = outcome(case, named[0].repair.apply().source.text, case.make())
    assert np.array_equal(found, wanted)


def test_a_number_one_smaller_and_minus_one_are_two_changes() -> None:
    text = LOOP.text.replace("%y, 0f00000000", "%y, 0f3F800000")
    op = next(one for one in trials_of(LOOP, text).kernel.program.ops if "0f3F800000" in one.text)
    whats = [one.key for one in literals(op, trials_of(LOOP, text).kernel.program)]
    assert len(whats) == len(set(whats))


def test_what_a_change_mends_is_counted_in_the_whole_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two mistakes, so that no change mends all: what a part of the grid shows is not said of the rest."""
    for name, value in (("_LEAST", 0), ("_LEAST_CTAS", 2), ("_SHARE", 1)):
        monkeypatch.setattr(parts, name, value)
    both = [one for one in BUGS if one.name in ("mean-added", "bias-forgotten")]
    text = ROWS.text
    for bug in both:
        for one in bug.edits:
            text = text.replace(one.old, one.new)
    trials = trials_of(ROWS, text)
    found = search(trials)
    assert not found.mends
    assert found.nearly
    for mended, change in found.nearly[:3]:
        made = kernel(
            Repair(trials.kernel.module, tuple((op.node, new.lines[0]) for op, new in change.rewrites)).apply(), "k"
        )
        wrong = trials.run(made).wrong
        assert not (wrong & ~found.before.wrong).any()
        assert int((found.before.wrong & ~wrong).sum()) == mended


def test_what_is_not_set_again_is_named_where_the_loop_first_takes_it() -> None:
    text = TURNS.text.replace("  mov.f32 %y, 0f00000000; // again\n", "// again\n")
    first = suspected(TURNS, text)[0]
    assert "`%y` set to 0 whenever a turn of the loop at line" in first.detail
    assert first.line in replace(TURNS, text=text).lines("sum")
    assert first.repair is not None
    found, wanted = outcome(TURNS, first.repair.apply().source.text, TURNS.make())
    assert np.allclose(found, wanted, rtol=1e-5)


def test_a_number_that_no_list_holds_is_computed() -> None:
    first = suspected(TURNS, TURNS.text.replace("0f3F4CCCCD", "0f3EC5E354"))[0]  # 0.3865
    assert (first.line in TURNS.lines("sum"), first.cause) == (True, "wrong-constant")
    assert "with 0.8 in place of 0.3865 the whole result is right" in first.detail


def test_no_number_is_computed_where_the_elements_need_different_ones() -> None:
    trials = trials_of(TURNS, TURNS.text)
    unknown = next(one for one in unknowns(trials.kernel.program.ops, {}) if one.is_literal)
    tried: list[float] = []

    def run(change: Change) -> Judged:
        tried.append(change.value)
        return Judged(np.ones(4, bool), ran=True, instructions=1, values=np.array([1.0, 2.0, 3.0, 4.0]) * len(tried))

    before = Judged(np.ones(4, bool), ran=True, instructions=1, values=np.zeros(4))
    assert solved(unknown, run, before, np.array([1.0, -2.0, 3.0, -4.0])) is None
    assert len(tried) == 1


def test_what_has_no_line_is_named_where_its_result_is_used() -> None:
    first = suspected(HOISTED, HOISTED.text.replace("mul.lo.u32 %at0, %i, %d", "mul.lo.u32 %at0, %i, 3"))[0]
    assert first.line in HOISTED.lines("hoisted")
    assert first.origin is not None
    assert (first.origin.file, first.origin.line) == ("hoisted.cu", 5)


def test_a_product_that_was_cut_is_named() -> None:
    first = suspected(LARGE, LARGE.text)[0]
    assert (first.line in LARGE.lines("product"), first.cause) == (True, "wrong-operation")
    assert "all 64 bits of the product" in first.detail
    assert first.repair is not None
    found, wanted = outcome(LARGE, first.repair.apply().source.text, LARGE.make())
    assert np.array_equal(found, wanted)


def test_a_line_takes_another_value_wherever_it_reads_it() -> None:
    """No single instruction mends it: two of one line read what they should not."""
    text = TWICE.text.replace("%y0, %x0; // sum", "%y1, %y1; // sum").replace("%y1, %x1; // sum", "%y1, %y1; // sum")
    program = trials_of(TWICE, text).kernel.program
    line_of = {op.site: home_line(program.module, op.node.start) for op in program.ops}
    sources = Sources(program, line_of, ())
    ops = [op for op in program.ops if op.spelling in {"add.f32", "mul.f32", "ld.global.f32"}]
    both = [one for one in everywhere(ops, DefUse(program, line_of, sources), line_of, ()) if len(one.rewrites) > 1]
    assert {tuple(op.spelling for op, _ in one.rewrites) for one in both} == {("ld.global.f32", "ld.global.f32")}


def _of_sines(x: NDArray[np.float32], *_: object) -> NDArray[np.float32]:
    """What no change of one instruction makes of X."""
    return np.sin(x) * np.arange(x.size, dtype=np.float32).reshape(x.shape)


def test_where_no_change_mends_all_lines_are_suspected_and_none_is_certain() -> None:
    case = replace(ROWS, reference=_of_sines)
    found = suspected(case, ROWS.text)
    assert 0 < len(found) <= 3
    assert {(one.cause, one.certain) for one in found} == {("unknown", False)}
    assert all("suspected: no change that was tried mends all" in one.detail for one in found)
    assert [one.alternative for one in found] == [False, True, True][: len(found)]


def test_what_only_stores_or_copies_is_suspected_after_what_computes() -> None:
    case = replace(ROWS, reference=_of_sines)
    first = suspected(case, ROWS.text)[0]
    assert first.instruction.split(".")[0] not in {"st", "mov", "ld"}


def test_masks_and_shifts_may_be_a_bit_off() -> None:
    text = ROWS.text.replace(
        "  sub.f32 %y, %x, %m; // minus", "  and.b32 %i, %i, 127;\n  shl.b32 %i, %i, 3;\n  sub.f32 %y, %x, %m;"
    )
    program = trials_of(ROWS, text).kernel.program
    mask, shift = (next(op for op in program.ops if op.spelling == word) for word in ("and.b32", "shl.b32"))
    tried = {op.spelling: {one.value for one in literals(op, program)} for op in (mask, shift)}
    assert {255, 63, 127 ^ 32, 2**32 - 128} <= tried["and.b32"]
    assert set(range(32)) - {3} <= tried["shl.b32"]


def test_an_operand_may_lack_a_factor() -> None:
    def wanted(x: NDArray[np.float32], means: NDArray[np.float32], bias: NDArray[np.float32], *_: object) -> object:
        return np.maximum(x - (means * means)[:, None], 0) + bias

    first = suspected(replace(ROWS, reference=wanted), ROWS.text)[0]
    assert (first.cause, first.line in ROWS.lines("minus")) == ("missing-term", True)
    assert "mul" in first.detail


def test_a_line_takes_a_number_one_larger_wherever_it_reads_it() -> None:
    program = trials_of(TWICE, TWICE.text).kernel.program
    line_of = {op.site: home_line(program.module, op.node.start) for op in program.ops}
    of_line = [op for op in program.ops if op.spelling == "mul.wide.u32"]
    made = everywhere((*of_line, *of_line), DefUse(program, line_of, Sources(program, line_of, ())), line_of, (5,))
    off = {one.value for one in made if one.cause == "missing-term"}
    assert {1, -1, 5} <= off
