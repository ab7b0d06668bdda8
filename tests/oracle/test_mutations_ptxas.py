"""Our verdicts on mutated instructions against ptxas: others than the recorded ones, a few of every instruction."""

from __future__ import annotations

import pytest

from oracle.mutations import asked, questions
from oracle.ptxas import find_ptxas, release
from ptxloom.isa import judged, opcodes
from recorded.ptxas.mutation_page import CORE
from recorded.ptxas.mutations import verdicts
from sweeps import part_and_whole

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)"),
    pytest.mark.skipif(not release().startswith("13.5"), reason="the rules are those of ptxas 13.5"),
]

SAMPLE = "fresh"
SHARE = 0.99
PART = 12  # one opcode of so many is asked about in every run


@pytest.mark.parametrize("every", part_and_whole(PART, 1))
def test_fresh_mutations_are_judged_alike(every: int) -> None:
    names = [opcode for opcode in opcodes() if judged(opcode)][every // 2 :: every]
    made = (asked(questions(opcode, SAMPLE, most=5, alone=0, elsewhere=0)) for opcode in names)
    ours = verdicts(case for some in made for case in some)
    differing = [str(one) for one in ours if one.differs]
    assert len(ours) > 4 * len(names)
    assert len(differing) <= (1 - SHARE) * len(ours), differing
    assert [str(one) for one in ours if one.differs and one.case.opcode in CORE] == []
    assert [str(one) for one in ours if one.case.rejected and one.ours and not one.right_line] == []
