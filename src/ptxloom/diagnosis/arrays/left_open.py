"""Correct kernels in which a k occurs twice, or never: origins alone cannot distinguish them from mistakes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.coverage import Coverage
    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.machine.results.provenance import ProvenanceRecord

_FACTORS = (("a", 1), ("b", 0))  # and the axis that is k


def has_computed_factor(reading: Reading, arrays: int) -> bool:
    """Whether a factor is not an array of the launch: its values may be 0 where lines of the other are repeated."""
    return any(role not in reading.planes or reading.planes[role].array >= arrays for role in "ab")


def k_left_open(reading: Reading, coverage: Coverage, record: ProvenanceRecord) -> str:
    """Why the law that every k occurs once cannot be checked; empty if it can be.

    A line that replaces all lines beyond the end (a clamped index) is right if the weights there are 0. Rows whose
    pitch exceeds their length have a tail that is never multiplied: then the kernel gets both numbers.
    """
    if has_computed_factor(reading, len(record.arrays)):
        lines = [held for role in coverage.twice if len(held := coverage.twice[role]) == 1]
        if lines:
            return f"k {int(lines[0][0])} occurs more than once, which is right only if the weights of the others are 0"
    if reading.image:
        return ""
    for role, axis in _FACTORS:
        plane = reading.planes.get(role)
        if plane is not None and not reading.stated and coverage.overruns(role, plane.extents[axis]):
            return (
                f"{role.upper()} was read with {plane.extents[axis]} k, and far more are multiplied: "
                "the reading was rejected"
            )
    absent = [coverage.absent.get(role) for role, _ in _FACTORS]
    if any(lines is None or not len(lines) for lines in absent):
        return ""
    first, second = (lines for lines in absent if lines is not None)
    extent = reading.planes["a"].extents[1]
    start = int(first[0])
    tail = np.arange(start, extent)
    others = (reading.planes["a"].extents[0], reading.planes["b"].extents[1])
    told = words_of(record)
    is_tail = np.array_equal(first, tail) and np.array_equal(second, tail)
    if is_tail and told[extent] and is_told(start, others, told):
        return f"k {start} to {extent - 1} is never multiplied, which is right only if rows are padded"
    return ""


def is_told(length: int, others: Sequence[int], told: Counter[int]) -> bool:
    """Whether the kernel receives the length of rows: a number that is not one of other axes, such as m or n."""
    return told[length] > others.count(length)


def numbers_of(record: ProvenanceRecord) -> frozenset[int]:
    """The numbers of 32 bits that the kernel is given."""
    return frozenset(words_of(record))


def words_of(record: ProvenanceRecord) -> Counter[int]:
    """The same numbers, each as often as it is given."""
    given = record.raw.parameters
    words: list[int] = np.frombuffer(given[: len(given) // 4 * 4], np.uint32).tolist()
    return Counter(words)
