"""The suite: all tests, paths of one instruction and scenes, and the input of a judge for each."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

import numpy as np

from ptxloom.conformance import expected, kernel_text
from ptxloom.conformance.operands import CELL_BYTES
from ptxloom.conformance.paths import SMOKE, Path, all_paths, forms_of
from ptxloom.conformance.scenes import Scene, scenes
from ptxloom.conformance.scenes.here import arrays, run_scene
from ptxloom.conformance.scenes.scene import CASES_A_SCENE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

Subject: TypeAlias = "Path | Scene"
"""A test: both kinds have a name, a form, and lanes per case."""

_CELL = CELL_BYTES // 8


def suite(target: Target, version: PtxVersion, only: Sequence[str] = (), *, smoke: bool = False) -> tuple[Subject, ...]:
    """All tests for a target and a PTX version, in the order of names.

    Args:
        target: Such as sm_90a.
        version: The version of PTX that a judge reads.
        only: Glob patterns of names; empty: all.
        smoke: Whether to take only a fixed sample: `SMOKE` forms of every syntax line.
    """
    every: list[Subject] = [*all_paths(target, version), *scenes(forms_of(target, version))]
    found = sorted(every, key=lambda one: one.name)
    chosen = _part(found) if smoke else found
    return tuple(one for one in chosen if not only or any(fnmatchcase(one.name, pattern) for pattern in only))


def _part(found: Iterable[Subject]) -> Iterator[Subject]:
    by_line: dict[tuple[str, int, bool], list[Subject]] = {}
    several = list(found)
    for one in several:
        by_line.setdefault((one.form.opcode, one.form.line.line, isinstance(one, Path)), []).append(one)
    chosen = {
        one.name for rows in by_line.values() for one in sorted(rows, key=lambda one: crc32(one.name.encode()))[:SMOKE]
    }
    return (one for one in several if one.name in chosen)


def cases_of(one: Subject, cases: int) -> int:
    """The number of a test's cases for a number of cases of a single instruction."""
    if isinstance(one, Scene):
        return max(1, cases // CASES_A_SCENE)
    return expected.threads_of(one, cases) // one.lanes


def text_of(kernel: str, one: Subject, cases: int) -> str:
    """The text of a test's kernel, with that name."""
    if isinstance(one, Scene):
        return one.text(kernel)
    return kernel_text.kernel_text(kernel, one, expected.threads_of(one, cases))


def ctas_of(one: Subject, cases: int) -> int:
    """The number of CTAs that run a test."""
    return cases_of(one, cases) if isinstance(one, Scene) else expected.threads_of(one, cases) // kernel_text.BLOCK


def arrays_of(one: Subject, cases: int) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """The arrays `out` and `in` of a test's kernel."""
    if isinstance(one, Scene):
        return arrays(one, cases_of(one, cases))
    threads = expected.threads_of(one, cases)
    return np.zeros(expected.result_words(one, threads), np.uint64), expected.input_words(one, threads)


def run_here(one: Subject, target: Target, version: PtxVersion, cases: int) -> Words:
    """The results of a test on this machine: the words of `out`.

    Raises:
        PtxloomError: The machine cannot run it.
    """
    if isinstance(one, Scene):
        return run_scene(one, target, version, cases_of(one, cases))
    return expected.run_here(one, target, version, cases)


def rows_of(one: Subject, cases: int, words: Words) -> Words:
    """The results by thread: for a single instruction its results, then its cell."""
    if isinstance(one, Scene):
        return words.reshape(cases_of(one, cases) * one.lanes, -1)
    return _of_threads(one, expected.threads_of(one, cases), words, kernel_text.results_of(one))


def inputs_of(one: Subject, cases: int) -> Words:
    """The inputs, by thread.

    None for scenes, whose inputs are long and follow from their names and the cases' numbers.
    """
    if isinstance(one, Scene):
        return np.zeros((cases_of(one, cases) * one.lanes, 0), np.uint64)
    threads = expected.threads_of(one, cases)
    return _of_threads(one, threads, expected.input_words(one, threads), kernel_text.inputs_of(one))


def _of_threads(path: Path, threads: int, words: Words, count: int) -> Words:
    rows = words[: count * threads].reshape(count, threads).T if count else np.zeros((threads, 0), np.uint64)
    return rows if path.cell is None else np.hstack((rows, words[count * threads :].reshape(threads, _CELL)))
