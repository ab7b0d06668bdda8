"""The ISA data against ptxas: a few forms of every syntax line, and forms with one qualifier changed."""

from __future__ import annotations

import pytest

from oracle.isa_forms import disagrees, said
from oracle.ptxas import find_ptxas
from ptxloom.isa import judged, opcodes
from ptxloom.isa.matrix import MOVES
from recorded.ptxas.isa_cases import Case, expected, legal, mutants
from sweeps import part_and_whole

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)"),
]

JUDGED = tuple(opcode for opcode in opcodes() if judged(opcode) and opcode not in MOVES)
FORMS = 2  # of each syntax line
PART = 48  # one opcode in 48 is asked about in every run
BATCH = 2000
SHARE = 0.99  # the rest is listed, with reasons, in recorded/ptxas/isa_forms.json


@pytest.mark.parametrize("platform", ["9.5 sm_100a", "8.0 sm_90"])
@pytest.mark.parametrize("every", part_and_whole(PART, 1))
def test_ptxas_agrees(platform: str, every: int) -> None:
    asked = JUDGED[every // 2 :: every]
    cases: dict[str, Case] = {}
    for opcode in asked:
        cases |= {case.text: case for case in (*legal(opcode, FORMS), *mutants(opcode, FORMS))}
    texts = list(cases)
    complaints: dict[str, str] = {}
    for start in range(0, len(texts), BATCH):
        complaints |= said(platform, texts[start : start + BATCH])
    wrong = [
        f"{text} // ptxas: {complaints.get(text, 'accepted')}"
        for text, case in cases.items()
        if disagrees(platform, text, expected(case, *platform.split()), complaints)
        and not any(sign in complaints.get(text, "") for sign in ("32-bit", "32-Bit", "ptxas info"))
    ]
    assert len(cases) > len(asked)
    assert len(wrong) <= (1 - SHARE) * len(cases), wrong
