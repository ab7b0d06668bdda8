"""Our verdicts on more than 20,000 mutated instructions equal those of ptxas 13.5, apart from listed differences."""

from __future__ import annotations

from collections import Counter
from functools import cache

from ptxloom.isa import judged, opcodes
from recorded.ptxas.mutation_page import CORE, MACHINE, PAGE, page, reason
from recorded.ptxas.mutations import PLATFORMS, Case, Judged, Recording, verdicts

FEWEST = 20_000
SHARE = 0.999


@cache
def recording() -> Recording:
    return Recording.load()


@cache
def ours() -> tuple[Judged, ...]:
    return tuple(verdicts(recording().cases))


def differing() -> list[Judged]:
    return [one for one in ours() if one.differs]


def test_the_recording_covers_the_question() -> None:
    assert recording().ptxas.startswith("13.5")
    assert len(recording().cases) >= FEWEST
    assert {case.platform for case in recording().cases} == set(PLATFORMS)
    per_opcode = Counter(case.opcode for case in recording().cases)
    assert set(per_opcode) == set(opcodes())
    assert [opcode for opcode in per_opcode if not judged(opcode)] == []


def test_nearly_all_verdicts_agree() -> None:
    assert len(differing()) <= (1 - SHARE) * len(ours()), list(map(str, differing()))


def test_all_verdicts_on_the_core_agree() -> None:
    assert [str(one) for one in differing() if one.case.opcode in CORE] == []


def test_all_verdicts_on_the_machine_agree() -> None:
    assert [str(one) for one in differing() if one.case.opcode in MACHINE] == []


def test_every_difference_has_a_reason() -> None:
    assert [str(one) for one in differing() if not reason(one)] == []


def test_errors_stand_on_the_right_line() -> None:
    assert [str(one) for one in ours() if one.case.rejected and one.ours and not one.right_line] == []


def test_the_page_lists_the_differences() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(recording(), ours()), "write it again: python tools/record/mutations.py --page"


def test_a_case_reads_its_own_opcode() -> None:
    assert Case("9.5 sm_90a", "guard", "@!predr1 add.u32 b32r0, b32r1, 5;", rejected=False).opcode == "add"
    assert Case("9.5 sm_90a", "none", "ret;", rejected=False).opcode == "ret"
    assert Case("9.5 sm_90a", "none", "@p call (a), f;", rejected=False).opcode == "call"
