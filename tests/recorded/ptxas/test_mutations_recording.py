"""Our verdicts on more than 20,000 mutated instructions equal those of ptxas 13.5, apart from listed differences."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from ptxloom.isa import judged, opcodes
from recorded.ptxas.mutation_page import CORE, MACHINE, PAGE, counted, dropped, line_of, page, reason
from recorded.ptxas.mutations import PLATFORMS, Case, Judged, Recording, verdicts
from sweeps import part_and_whole

FEWEST = 20_000
SHARE = 0.999
WRITE = "write it again: python tools/record/mutations.py --page"


@cache
def recording() -> Recording:
    return Recording.load()


@pytest.fixture(scope="module", params=part_and_whole(6, 1))
def ours(request: pytest.FixtureRequest) -> tuple[Judged, ...]:
    """Our verdicts on every case, or every sixth."""
    return tuple(verdicts(recording().cases[:: request.param]))


def differing(ours: tuple[Judged, ...]) -> list[Judged]:
    return [one for one in ours if one.differs]


def test_the_recording_covers_the_question() -> None:
    assert recording().ptxas.startswith("13.5")
    assert len(recording().cases) >= FEWEST
    assert {case.platform for case in recording().cases} == set(PLATFORMS)
    per_opcode = Counter(case.opcode for case in recording().cases)
    assert set(per_opcode) == set(opcodes())
    assert [opcode for opcode in per_opcode if not judged(opcode)] == []


def test_nearly_all_verdicts_agree(ours: tuple[Judged, ...]) -> None:
    assert len(differing(ours)) <= (1 - SHARE) * len(ours), list(map(str, differing(ours)))


def test_all_verdicts_on_the_core_and_the_machine_agree(ours: tuple[Judged, ...]) -> None:
    assert [str(one) for one in differing(ours) if one.case.opcode in CORE | MACHINE and not dropped(one)] == []


def test_every_difference_has_a_reason_and_is_listed(ours: tuple[Judged, ...]) -> None:
    assert [str(one) for one in differing(ours) if not reason(one)] == []
    listed = PAGE.read_text(encoding="utf-8").splitlines()
    assert [str(one) for one in differing(ours) if line_of(one) not in listed] == []


def test_errors_stand_on_the_right_line(ours: tuple[Judged, ...]) -> None:
    assert [str(one) for one in ours if one.case.rejected and one.ours and not one.right_line] == []


def test_the_page_counts_what_is_recorded() -> None:
    assert counted(recording()) in PAGE.read_text(encoding="utf-8").splitlines(), WRITE


@pytest.mark.sweep
@pytest.mark.parametrize("ours", [1], indirect=True)
def test_the_page_is_what_comes_of_the_comparison(ours: tuple[Judged, ...]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recording(), ours), WRITE


def test_a_case_reads_its_own_opcode() -> None:
    assert Case("9.5 sm_90a", "guard", "@!predr1 add.u32 b32r0, b32r1, 5;", rejected=False).opcode == "add"
    assert Case("9.5 sm_90a", "none", "ret;", rejected=False).opcode == "ret"
    assert Case("9.5 sm_90a", "none", "@p call (a), f;", rejected=False).opcode == "call"
