"""Known differences are shown by programs and by a recording, counted apart, and hide no other difference."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.campaigns import Workers
from ptxloom.cli import main
from ptxloom.conformance import read
from ptxloom.conformance.expected import run_here
from ptxloom.conformance.gpu import Gpu
from ptxloom.conformance.verdicts import compared
from ptxloom.conformance.waivers import Waiver, waiver_of, waivers
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion
from ptxloom.syntax import instructions
from recorded.conformance.conformance_cases import FOLDER, known, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ptxloom.conformance import Difference
    from ptxloom.conformance import Path as Question

TARGET, VERSION = Target.parse("sm_90a"), PtxVersion.parse("9.0")
CASES = 128


def row(words: tuple[str, ...]) -> np.ndarray:
    return np.array([[int(word, 16) for word in words]], np.uint64)


def waived(waiver: Waiver, one: Difference) -> bool:
    return bool(waiver.waives(row(one.given), row(one.expected))[0])


def by_path() -> dict[str, Waiver]:
    return {name: one for one in waivers() for name in one.paths}


def test_waivers_are_of_paths_that_there_are() -> None:
    assert len({one.id for one in waivers()}) == len(waivers())
    assert len(by_path()) == sum(len(one.paths) for one in waivers())
    assert set(by_path()) <= set(known())


@pytest.mark.parametrize("waiver", waivers(), ids=lambda one: one.id)
def test_a_waivers_program_shows_it(waiver: Waiver) -> None:
    module = pl.parse(waiver.ptx)
    spelled = {".".join((one.opcode, *one.qualifiers)) for one in instructions(module)}
    assert spelled & {known()[name].form.spelling for name in waiver.paths}
    out = np.zeros(len(waiver.here), np.uint64)
    pl.kernel(module, "k").launch(1, 1, [out, np.array(waiver.given, np.uint64)])
    assert out.tolist() == list(waiver.here) != list(waiver.there)
    assert waiver.waives(np.array([waiver.there], np.uint64), out[None])[0]


def test_all_that_an_h200_leaves_without_optimisation_is_waived() -> None:
    report = recorded("h200_level0")
    assert [one.path for one in report.differing] == sorted(by_path())
    for verdict in report.differing:
        waiver = waiver_of(verdict.path, report.driver, report.target, report.level)
        assert waiver is not None
        assert verdict.path in waiver.paths
        assert all(waived(waiver, one) for one in verdict.first)


def test_a_waiver_is_believed_for_what_it_names_alone() -> None:
    assert waiver_of("cvt.f32.f32", "13.0", "sm_90a", 0) is not None
    others = [
        ("cvt.f32.f32", "13.0", "sm_90a", None),
        ("cvt.f32.f32", "13.0", "sm_90a", 1),
        ("cvt.f32.f32", "13.1", "sm_90a", 0),
        ("cvt.f32.f32", "13.0", "sm_100a", 0),
        ("cvt.f32.f64", "13.0", "sm_90a", 0),
    ]
    assert not any(waiver_of(*one) for one in others)


def canonical(path: Question, *, and_more: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What cvt.f32.f32 leaves where every NaN becomes 0x7fffffff, of `and_more` cases also another number."""
    ours = run_here(path, TARGET, VERSION, CASES)
    theirs = ours.copy()
    nan = (ours & 0x7FFFFFFF) > 0x7F800000
    theirs[nan] = 0x7FFFFFFF
    theirs[np.flatnonzero(~nan)[:and_more]] ^= 1
    return theirs, ours


def test_other_differences_are_not_hidden() -> None:
    path, waiver = known()["cvt.f32.f32"], by_path()["cvt.f32.f32"]
    theirs, ours = canonical(path)
    changed = int((theirs != ours).sum())
    assert changed > 0
    alone = compared(path, CASES, theirs, ours, waiver)
    assert (alone.differ, alone.waived, alone.waiver) == (0, changed, waiver.id)
    unknown = compared(path, CASES, theirs, ours)
    assert (unknown.differ, unknown.waived, unknown.waiver) == (changed, 0, "")
    more = compared(path, CASES, *canonical(path, and_more=2), waiver)
    assert (more.differ, more.waived) == (2, changed)
    assert [waived(waiver, one) for one in more.first[:3]] == [False, False, True]


@pytest.mark.parametrize(("path", "infinity"), [("cvt.f32.f32", 0x7F800000), ("cvt.f64.f64", 2047 << 52)])
def test_a_number_for_a_nan_is_not_waived(path: str, infinity: int) -> None:
    nan = infinity + 1
    theirs = np.array([[nan], [nan], [infinity], [infinity + 2], [nan]], np.uint64)
    ours = np.array([[infinity], [nan + 1], [infinity - 1], [infinity], [nan]], np.uint64)
    assert by_path()[path].waives(theirs, ours).tolist() == [False, True, False, False, False]


def test_the_page_lists_them() -> None:
    page = (FOLDER.parents[2] / "docs" / "conform.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `unoptimised")]
    assert rows == [
        f"| `{one.id}` | {', '.join(f'`{name}`' for name in one.paths)} | {one.what} |" for one in waivers()
    ]


def serial(_: object) -> Workers:
    return Workers(lambda: ThreadPoolExecutor(1), count=1)


class Unoptimised:
    """A driver whose code is not optimised: an H200's, for two conversions."""

    gpu = Gpu("NVIDIA H200", "13.0", TARGET, VERSION)

    def __init__(self, level: int | None = None) -> None:
        self.level = level

    def run(self, paths: list[Question], cases: int) -> Iterator[tuple[Question, np.ndarray]]:
        for path in paths:
            assert cases == CASES
            yield path, canonical(path)[0] if path.name == "cvt.f32.f32" else run_here(path, TARGET, VERSION, cases)

    def close(self) -> None:
        pass


def test_they_are_counted_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptxloom.cli.verbs.agreement.conform.Driver", Unoptimised)
    monkeypatch.setattr("ptxloom.conformance.work._driver", Unoptimised)
    monkeypatch.setattr("ptxloom.cli.verbs.agreement.conform.workers_of", serial)
    file = tmp_path / "report.json"
    words = ["conform", "cvt.f32.f32", "abs.f32", "--full", "--cases", str(CASES), "--report", str(file)]
    assert main([*words, "--level", "0"]) == 0
    said = capsys.readouterr().out
    assert "2 paths, 256 cases, none differ\n  1 waived: " in said
    assert "    unoptimised-cvt-f32: cvt.f32.f32 (" in said
    report = read(file.read_text())
    assert read(report.text()) == report
    assert (report.level, [one.path for one in report.waived]) == (0, ["cvt.f32.f32"])
    assert main(["conform", "--verify", str(file)]) == 0
    assert "results of 2 paths computed here, none differ, 1 waived" in capsys.readouterr().out
    file.write_text(replace(report, driver="12.0").text())
    assert main(["conform", "--verify", str(file)]) == 1
    assert "1 differs\n  cvt.f32.f32 differs" in capsys.readouterr().out
    assert main(words) == 1
    assert "1 differs\n  cvt.f32.f32: " in capsys.readouterr().out
