"""Our verdicts equal those of ptxas 13.5 on everything that was recorded, apart from the named laxities.

The recording is a few kilobytes: `tools/record/ptxas_verdicts.py` makes it, `ptxas_cases.py` holds the questions.
"""

from __future__ import annotations

from functools import cache

import pytest

from recorded.ptxas.ptxas_cases import TARGETS, VERSIONS, mutant_cases, operand_cases, order_cases, qualifier_cases
from recorded.ptxas.ptxas_verdicts import LAXITIES, Recording, disagreements, laxity, rejections
from sweeps import part_and_whole

RECORDED = Recording.load()
WIDEST = "9.5 sm_100a"  # every form is available here
FORM_RULES = {
    *("unknown-qualifier", "repeated-qualifier", "qualifier-combination", "type-order", "misread-num", "vector-length"),
    *("missing-trans", "missing-aligned", "missing-qualifier", "no-form"),
}


@cache
def accepted(number: int) -> frozenset[str]:
    return frozenset(RECORDED.sets[number])


@cache
def ever_accepted() -> tuple[str, ...]:
    numbers = {number for number in RECORDED.qualifiers.values() if number >= 0}
    return tuple(sorted(set[str]().union(*(accepted(number) for number in numbers))))


def test_the_recording_covers_the_question() -> None:
    assert set(RECORDED.qualifiers) == {f"{version} {target}" for version in VERSIONS for target in TARGETS}
    assert RECORDED.ptxas.startswith("13.5")
    legal = [line for line in ever_accepted() if laxity(line, ("misread-num",)) is None and line[:3] != "mov"]
    assert len(legal) == 90


@pytest.mark.parametrize("every", part_and_whole(5, 1))
def test_every_combination_where_every_form_is_available(every: int) -> None:
    """Of 20,100 combinations; what we reject here is rejected for its form, so on every other platform too."""
    cases = qualifier_cases()[::every]
    ours = rejections("9.5", "sm_100a", cases)
    good = accepted(RECORDED.qualifiers[WIDEST])
    assert disagreements(cases, set(good), ours) == []
    assert all(set(rules) & FORM_RULES for rules in ours.values())
    assert {line for line in cases if line not in ours} == {
        line for line in set(ever_accepted()) & set(cases) if not laxity(line, ours.get(line, ()))
    }


@pytest.mark.sample(every=14)
@pytest.mark.parametrize("target", TARGETS)
def test_every_platform(target: str) -> None:
    """Every line that ptxas accepts anywhere, on every version of a target."""
    for version in VERSIONS:
        number = RECORDED.qualifiers[f"{version} {target}"]
        lines = ever_accepted()
        ours = rejections(version, target, lines)
        assert (number < 0) == ("" in ours), (version, target, ours.get(""))
        if number >= 0:
            assert disagreements(lines, set(accepted(number)), ours) == []


@pytest.mark.parametrize("platform", RECORDED.orders)
def test_orders_and_strangers(platform: str) -> None:
    version, target = platform.split()
    cases = order_cases()
    good = accepted(RECORDED.orders[platform])
    assert disagreements(cases, set(good), rejections(version, target, cases)) == []


@pytest.mark.parametrize("every", part_and_whole(5, 1))
@pytest.mark.parametrize("platform", RECORDED.operands)
def test_operands_and_addresses(platform: str, every: int) -> None:
    version, target = platform.split()
    cases = operand_cases()[::every]
    ours = {case: sum(rejections(version, target, (case,)).values(), ()) for case in cases}
    good = accepted(RECORDED.operands[platform])
    assert disagreements(cases, set(good), ours) == []


@pytest.mark.parametrize("every", part_and_whole(5, 1))
@pytest.mark.parametrize("platform", RECORDED.mutants)
def test_mutants(platform: str, every: int) -> None:
    version, target = platform.split()
    assert len(mutant_cases()) > 2000
    cases = mutant_cases()[::every]
    ours = {case: sum(rejections(version, target, (case,)).values(), ()) for case in cases}
    assert disagreements(cases, set(accepted(RECORDED.mutants[platform])), ours) == []


def test_every_laxity_is_needed() -> None:
    lines = (*qualifier_cases(), *order_cases(), *operand_cases())
    good = {
        *accepted(RECORDED.qualifiers[WIDEST]),
        *accepted(RECORDED.orders[WIDEST]),
        *accepted(RECORDED.operands[WIDEST]),
    }
    ours = rejections("9.5", "sm_100a", tuple(line for line in lines if line in good))
    used = {laxity(line, ours.get(line, ())) for line in lines if line in good}
    assert used == {None, *LAXITIES}
