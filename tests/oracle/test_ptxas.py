"""ptxas itself, asked again about a sample: the recording is what this ptxas says, and what we say.

A release other than the recorded one may differ; then the recording is to be made anew.
"""

from __future__ import annotations

import random

import pytest

from oracle.ptxas import assemble, find_ptxas, release
from ptxloom.isa import instruction_spec
from ptxloom.isa.matrix import MOVES
from recorded.ptxas.ptxas_cases import (
    FIRST_LINE,
    module_text,
    mutant_cases,
    operand_cases,
    order_cases,
    qualifier_cases,
)
from recorded.ptxas.ptxas_verdicts import Recording, disagreements, rejections
from sweeps import part_and_whole

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)"),
]

RECORDED = Recording.load()
PLATFORMS = (*random.Random(13).sample(sorted(RECORDED.qualifiers), 8), "9.5 sm_100a", "9.4 sm_90a")
CASES = 1500  # of each kind in one module
ALONE = (10, 120)  # modules of one case: in every run, and in all


def of_this_release() -> bool:
    return release() == RECORDED.ptxas


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_qualifiers(platform: str) -> None:
    version, target = platform.split()
    chance = random.Random(platform)
    lines = (*chance.sample(qualifier_cases(), CASES), *chance.sample(order_cases(), CASES))
    verdict = assemble(module_text(version, target, lines), target)
    ours = rejections(version, target, lines)
    if not assemble(module_text(version, target, ()), target).accepted:
        assert "" in ours
        return
    assert not verdict.fatal
    good = {line for place, line in enumerate(lines, FIRST_LINE) if place not in verdict.errors}
    assert disagreements(lines, good, ours) == []
    if of_this_release():
        recorded = set(RECORDED.sets[RECORDED.qualifiers[platform]])
        assert good & set(qualifier_cases()) == recorded & set(lines)


@pytest.mark.parametrize(
    ("platform", "kind"), [("9.5 sm_100a", "operands"), ("7.8 sm_90", "operands"), ("9.5 sm_100a", "mutants")]
)
@pytest.mark.parametrize("alone", part_and_whole(*ALONE))
def test_one_by_one(platform: str, kind: str, alone: int) -> None:
    version, target = platform.split()
    cases, numbers = (operand_cases(), RECORDED.operands) if kind == "operands" else (mutant_cases(), RECORDED.mutants)
    lines = random.Random(platform).sample(cases, alone)
    good = {line for line in lines if assemble(module_text(version, target, (line,)), target).accepted}
    ours = {line: sum(rejections(version, target, (line,)).values(), ()) for line in lines}
    assert disagreements(lines, good, ours) == []
    if of_this_release():
        assert good == set(RECORDED.sets[numbers[platform]]) & set(lines)


def test_our_examples_assemble() -> None:
    """The examples of the ISA data are legal, says ptxas."""
    examples = [line for opcode in MOVES for line in instruction_spec(opcode).examples]
    body = " ".join(examples)
    text = (
        ".version 9.5\n.target sm_100a\n.address_size 64\n.entry k() {\n"
        f".reg .b32 r<8>, rows, d, a;\n{body}\nret;\n}}\n"
    )
    verdict = assemble(text, "sm_100a")
    assert verdict.accepted, verdict.output
