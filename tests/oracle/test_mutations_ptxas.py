"""Our verdicts on mutated instructions against ptxas: others than the recorded ones, a few of every instruction."""

from __future__ import annotations

import pytest

from oracle.cubin import machine_code
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
PART = 12  # one opcode in 12 is asked about in every run


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


_TENSOR_MODULE = """
.version 9.5
.target sm_100a
.entry k(.param .b32 first, .param .b32 second) {{
.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<3>;
ld.param.b32 %r1, [first]; ld.param.b32 %r2, [second];
setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r2, 2;
tcgen05.mma.{spelling} {operands};
ret; }}
"""
_DENSE, _SPARSE = "[%r3], %rd1, %rd2, %r4", "[%r3], [%r5], %rd2, [%r6], %r4"


@pytest.mark.parametrize(
    ("spelling", "operands", "scale"),
    [
        ("cta_group::1.kind::f16", _DENSE, ", 1"),
        ("cta_group::1.kind::i8", _DENSE, ""),
        ("sp.cta_group::1.kind::tf32.collector::a::fill", _SPARSE, ", 1"),
        ("sp.cta_group::2.kind::i8", _SPARSE, ""),
    ],
)
def test_the_second_of_two_predicates_is_dropped(spelling: str, operands: str, scale: str) -> None:
    """Why we refuse what ptxas accepts: with a predicate for the mask of lanes, it drops the next operand."""

    def code(tail: str) -> dict[str, bytes]:
        text = _TENSOR_MODULE.format(spelling=spelling, operands=f"{operands}, {tail}{scale}")
        return machine_code(text, "sm_100a")

    assert code("%p1, %p2") == code("%p1, %p1") == code("%p1, !%p2") == code("%p1")
    assert code("%p1, %p2") != code("%p2")
