"""Bugs of public reports: the right kernels are right and not accused; of the others cause and line are named first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.reports.catalogue import REPORTS
from ptxloom.diagnosis import examine
from ptxloom.diagnostics import TOOLS

if TYPE_CHECKING:
    from diagnosis.reports.catalogue import Report
    from ptxloom.diagnosis import Examination
    from ptxloom.machine.results.hazard import Hazard
    from ptxloom.syntax.origins import SourceLine

NOT_NAMED_FIRST: Final[dict[str, str]] = {
    "ldmatrix_origin": "half of A is read where zeros were put: it comes from no array, and is not judged",
    "score_pitch": "initcheck tells of places of the tile that nothing was stored to, at the load",
    "warpgroup_rows": "either side may be the wrong one: the factor's comes first, the store's behind it",
}
"""By report, why something else is named first, or nothing."""


class _Seen(NamedTuple):
    is_right: bool
    hazards: tuple[Hazard, ...]
    examined: Examination


def _seen(report: Report, version: str, says: str | None, checks: tuple[str, ...] = TOOLS) -> _Seen:
    factors = report.make(np.random.default_rng(5))
    result = np.zeros(report.shape, np.float32)
    arguments = [*factors, result, *report.numbers]
    kernel = pl.kernel(pl.parse(report.ptx(version)), report.entry)
    launched = kernel.launch(report.grid, report.block, arguments, report.shared_bytes, checks=checks, provenance=True)
    assert launched.provenance is not None
    wanted = report.reference(*factors)
    return _Seen(
        bool(np.allclose(result, wanted, rtol=1e-2, atol=1e-2)),
        tuple(launched.hazards),
        examine(launched.provenance, says, names=dict(enumerate(report.names))),
    )


def _lines(origin: SourceLine | None) -> set[int]:
    """A line, and those that it was inlined at."""
    found: set[int] = set()
    while origin is not None:
        found.add(origin.line)
        origin = origin.into
    return found


def _first(seen: _Seen) -> tuple[str, set[int], bool]:
    """What is reported first, its lines, and whether it is called certain: what tools find comes before laws."""
    if seen.hazards:
        parties = (seen.hazards[0].party, seen.hazards[0].other)
        return seen.hazards[0].rule, {line for one in parties if one for line in _lines(one.origin)}, False
    for one in seen.examined.found:
        return one.cause, _lines(one.origin), one.certain
    return "", set(), False


@pytest.mark.parametrize("says", [False, True], ids=["laws", "told"])
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_the_kernel_as_it_should_be_is_not_accused(report: Report, says: bool) -> None:
    seen = _seen(report, "right", report.says if says else None)
    assert (seen.is_right, seen.hazards, seen.examined.found) == (True, (), ())


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_what_was_reported_is_named_first(report: Report) -> None:
    seen = _seen(report, "faulty", report.says)
    assert not seen.is_right
    cause, lines, certain = _first(seen)
    named = cause in report.causes and bool(lines & report.lines)
    assert named == (report.name not in NOT_NAMED_FIRST), (cause, lines, report.lines)
    assert cause in report.causes or not certain


@pytest.mark.parametrize("says", [False, True], ids=["laws", "told"])
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_no_wrong_cause_is_certain_where_no_tool_watches(report: Report, says: bool) -> None:
    seen = _seen(report, "faulty", report.says if says else None, checks=())
    certain = {one.cause for one in seen.examined.found if one.certain}
    assert certain <= report.causes


def test_a_tile_stored_by_another_pitch_is_named_where_no_tool_watches() -> None:
    report = next(one for one in REPORTS if one.name == "score_pitch")
    cause, lines, certain = _first(_seen(report, "faulty", report.says, checks=()))
    assert (cause, certain) == ("pitch-mismatch", False)
    assert lines & report.lines
