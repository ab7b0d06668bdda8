"""A judge's verdicts on paths: how many cases differ, the first ones in hexadecimal, a digest of all results."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.conformance.suite import cases_of, inputs_of, rows_of
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.suite import Subject
    from ptxloom.conformance.waivers import Waiver

MOST_SHOWN: Final = 20
"""The most differing cases that are kept for a path."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A thread of a case that differs.

    Attributes:
        case: The number of the case.
        lane: The thread in it.
        inputs: Its input registers, then its cell, in hexadecimal.
        given: The judge's results, then the cell.
        expected: ptxloom's.
    """

    case: int
    lane: int
    inputs: tuple[str, ...]
    given: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on a path.

    Attributes:
        path: Its name.
        cases: The number of cases.
        differ: The number of them with other bits than here, without waived ones.
        digest: The digest of all of the judge's results, 16 hexadecimal digits; empty if there are none.
        refused: Why the judge did not run it; empty if it did.
        first: The first cases that differ, waived ones last.
        waived: The number of cases that differ in a known way.
        waiver: The known way; empty if nothing is waived.
    """

    path: str
    cases: int
    differ: int = 0
    digest: str = ""
    refused: str = ""
    first: tuple[Difference, ...] = ()
    waived: int = 0
    waiver: str = ""

    def record(self) -> dict[str, Any]:
        """The verdict as JSON; empty members are left out."""
        return {name: value for name, value in asdict(self).items() if value or name in {"path", "cases", "differ"}}


def digest(words: Words) -> str:
    """The digest of a path's results: BLAKE2b, 64 bits, over little-endian bytes."""
    return blake2b(words.astype("<u8").tobytes(), digest_size=8).hexdigest()


def compared(path: Subject, cases: int, given: Words, expected: Words, waiver: Waiver | None = None) -> Verdict:
    """The verdict on one path: `given` and `expected` are its kernel's results, `(result_words,)`."""
    asked, cases = cases, cases_of(path, cases)
    if np.array_equal(given, expected):
        return Verdict(path.name, cases, digest=digest(given))
    theirs, ours = rows_of(path, asked, given), rows_of(path, asked, expected)
    known = waiver.waives(theirs, ours) if waiver is not None else np.zeros(len(ours), np.bool_)
    unequal = (theirs != ours).any(axis=1) & ~known
    wrong, waived = (lanes.reshape(cases, path.lanes).any(axis=1) for lanes in (unequal, known))
    inputs = inputs_of(path, asked)
    first = tuple(
        Difference(int(at) // path.lanes, int(at) % path.lanes, _hex(inputs[at]), _hex(theirs[at]), _hex(ours[at]))
        for at in (*np.flatnonzero(unequal), *np.flatnonzero(known))[:MOST_SHOWN]
    )
    apart = int((waived & ~wrong).sum())
    name = waiver.id if waiver is not None and apart else ""
    return Verdict(path.name, cases, int(wrong.sum()), digest(given), first=first, waived=apart, waiver=name)


def _hex(row: NDArray[np.uint64]) -> tuple[str, ...]:
    return tuple(f"{int(word):x}" for word in row)
