"""Planted bugs are found: the cause, the operand and the line are named first, and nothing wrong is called certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from diagnosis.planted.catalogue import BUGS
from diagnosis.planted.diagnosing import diagnoses_of, named

if TYPE_CHECKING:
    from diagnosis.planted.model import PlantedBug

IMAGE = "the first factor is an image, and the taps that the weights say are wrong ones: none of its elements fits them"
NOT_NAMED_FIRST: Final = {
    "gemm-32x32-tf32/a-trans-on-tf32": "a word is made of halves of two elements: it is neither of them",
    "convolution/a-trans-too-much": IMAGE,
    "convolution/b-registers": IMAGE,
    "convolution/weights-leading-dimension": IMAGE,
    "blackwell-f16/columns-by-the-row": "the `mad` that adds the columns is named, not the index that they are of",
}
"""By bug, why the diagnosis names something else first, or nothing."""


@pytest.mark.sample(every=18)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_the_cause_the_operand_and_the_line_are_named_first(bug: PlantedBug) -> None:
    found = diagnoses_of(bug)
    assert (named(bug, found) is not None) == (bug.id in NOT_NAMED_FIRST), named(bug, found)
    wrong = [one.cause for one in found if one.certain and one.cause not in {bug.cause, *bug.other_causes}]
    assert wrong == []
    planted = {bug.operand, "", *(edit.mark[0] for edit in bug.edits)}  # a mark begins with the operand's letter
    assert not bug.operand or not [one.operand for one in found if one.certain and one.operand not in planted]


@pytest.mark.parametrize(("name", "certain"), [
    ("gemm-128x128-f16/a-swizzle-of-other-rows", False),
    ("gemm-64x64-f16/b-swizzle-of-fewer-bits", False),
    ("gemm-64x64-s8/a-read-without-swizzle", True),
    ("gemm-64x64-s8/b-written-without-swizzle", True),
])  # fmt: skip
def test_of_two_sides_with_a_swizzle_each_neither_is_wrong_for_certain(name: str, *, certain: bool) -> None:
    [bug] = (one for one in BUGS if one.id == name)
    first = diagnoses_of(bug)[0]
    assert (first.cause, first.certain) == ("swizzle-mismatch", certain)
    assert ("either may be meant" in first.detail) == (not certain)


def test_places_that_are_stored_twice_accuse_no_factor() -> None:
    [bug] = (one for one in BUGS if one.id == "blackwell-f16-m64/rows-of-four-warps-by-32")
    assert [(one.cause, one.operand) for one in diagnoses_of(bug)] == [("stored-twice", "d")]


def test_nineteen_of_twenty_are_named_first() -> None:
    assert NOT_NAMED_FIRST.keys() <= {bug.id for bug in BUGS}
    assert 20 * len(NOT_NAMED_FIRST) <= len(BUGS)
    assert len(BUGS) >= 60
