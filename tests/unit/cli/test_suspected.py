"""In which order `why` names broken laws and what a search with a reference found."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

import ptxloom as pl
from ptxloom.cli.suspected import in_order
from ptxloom.diagnosis.model import Diagnosis, Repair

REPAIR: Final = Repair(pl.parse(".version 9.0 .target sm_90 .address_size 64"), ())


def at(line: int, law: str = "reference", repair: Repair | None = None) -> Diagnosis:
    return Diagnosis(law, "", "C", "unknown", "", False, (), line, "", None, (line,), 1, 2, repair)


@pytest.mark.parametrize(
    ("laws", "mending", "suspected", "order"),
    [
        ([7], [], [3, 4], [7, 3, 4]),
        ([7, 8], [], [8, 3], [7, 8, 3]),
        ([7, 8], [3], [4], [3, 7, 8, 4]),
        ([7, 8], [8, 3], [4, 7], [8, 8, 3, 7, 4]),
        ([], [], [3, 4], [3, 4]),
    ],
)
def test_what_is_only_suspected_comes_last(
    laws: list[int], mending: list[int], suspected: list[int], order: list[int]
) -> None:
    found = [*(at(line, repair=REPAIR) for line in mending), *map(at, suspected)]
    told = in_order([replace(at(line), law="rows") for line in laws], found)
    assert [one.line for one in told] == order
    assert [one.law for one in told].count("rows") == len(laws)


def test_a_law_that_explains_an_error_comes_before_a_change_elsewhere_that_mends_it() -> None:
    unexplained, explained = replace(at(7), law="rows"), replace(at(8), law="k", cause="rows-shifted")
    told = in_order([unexplained, explained], [at(3, repair=REPAIR), at(4)])
    assert [one.line for one in told] == [8, 3, 7, 4]
    told = in_order([explained], [at(3, repair=REPAIR)])
    assert [one.line for one in told] == [8, 3]
    told = in_order([explained, unexplained], [at(7, repair=REPAIR)])
    assert [(one.line, one.law) for one in told] == [(7, "rows"), (8, "k"), (7, "reference")]
