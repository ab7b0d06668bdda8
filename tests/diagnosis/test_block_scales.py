"""Scales of `.block_scale`: the diagnoses of those of other rows and blocks, and of unknown orders."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from diagnosis.planted import scaled_bugs
from diagnosis.planted.kernels import SCALED_BY_ROWS, SCALED_E4M3
from diagnosis.planted.launching import launch
from ptxloom.diagnosis import diagnose, examine
from ptxloom.machine.results.provenance_operands import scale_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, RightKernel
    from ptxloom.machine import ProvenanceRecord

BY_NAME: Final = {bug.id: bug for bug in scaled_bugs.BUGS}
SAID: Final = [
    ("scaled-e4m3/ids-of-b-turned", "the four scales of a word are taken in another order"),
    ("scaled-e4m3/sa-two-tiles-apart", "its rows are taken to be 2 tiles apart; they are 3"),
    ("scaled-e4m3/scales-exchanged", "they come from SB, whose size is that of the other factor's scales"),
    ("scaled-e4m3-by-rows/sb-rows-of-eight", "its rows are taken to be 8 apart; they are 12"),
]


def recorded(case: RightKernel, text: str, arguments: Sequence[Argument]) -> ProvenanceRecord:
    record = launch(case, text, arguments, provenance=True).provenance
    assert record is not None
    return record


@pytest.mark.parametrize(("name", "detail"), SAID)
def test_what_is_wrong_is_said_in_words_and_is_not_certain(name: str, detail: str) -> None:
    bug = BY_NAME[name]
    (found,) = diagnose(recorded(bug.kernel, bug.text, bug.kernel.make()))
    assert (found.law, found.detail, found.certain) == ("block", detail, False)
    assert found.line in bug.lines


def test_twenty_bugs_are_planted() -> None:
    assert len(scaled_bugs.BUGS) >= 20


@pytest.mark.parametrize("shape", [(-1,), (2, 3, 512)])
def test_tiles_are_known_by_their_size_whatever_the_shape_of_the_array(shape: tuple[int, ...]) -> None:
    *others, of_a, of_b = SCALED_E4M3.make()
    assert isinstance(of_a, np.ndarray)
    assert examine(recorded(SCALED_E4M3, SCALED_E4M3.text, [*others, of_a.reshape(shape), of_b])).verdict == "clean"


def test_scales_in_an_order_of_their_own_are_left_open() -> None:
    """Rows lie the other way round, and nothing declares whether that is meant."""
    *others, of_a, of_b = SCALED_BY_ROWS.make()
    assert isinstance(of_a, np.ndarray)
    turned = "xor.b32 r51, r51, 255; mul.lo.u32 r51, r51, 12; // sa-pitch"
    text = SCALED_BY_ROWS.text.replace("mul.lo.u32 r51, r51, 12; // sa-pitch", turned)
    mixed = replace(SCALED_BY_ROWS, text=text)
    found = examine(recorded(mixed, text, [*others, of_a[::-1].copy().ravel(), of_b]))
    assert found.found == ()
    assert any("in an order of its own" in one.why for one in found.unjudged)


def test_a_record_knows_the_columns_of_scales() -> None:
    record = recorded(SCALED_E4M3, SCALED_E4M3.text, SCALED_E4M3.make())
    numbers = np.flatnonzero(record.raw.events["site"] == record.raw.events["site"][0])
    assert scale_columns(record.raw, numbers, "a").tolist() == [64] * len(numbers)
    assert np.unique(scale_columns(record.raw, numbers, "b")).tolist() == [80, 82]
