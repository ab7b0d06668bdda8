"""Which elements of two sequences belong together: common ends, what is unique in both, then the longest rest."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

MOST_BITS: Final = 1 << 28
"""The product of the lengths of what is compared at once. That many bits are kept until the way back is found."""
_MOST_ROUNDS: Final = 8  # of looking for what is unique, within what was unique


class Range(NamedTuple):
    """A part of both sequences."""

    a: int
    a_end: int
    b: int
    b_end: int

    @property
    def bits(self) -> int:
        """What aligning it by the longest common subsequence takes."""
        return (self.a_end - self.a) * (self.b_end - self.b)


class Alignment(NamedTuple):
    """Pairs of places, in the order of both; `whole` is False where a part was too long to be compared."""

    pairs: tuple[tuple[int, int], ...]
    whole: bool


def aligned(
    a: Sequence[Hashable], b: Sequence[Hashable], exact: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> Alignment:
    """Pair equal elements of `a` and `b`, in order.

    Args:
        a: What is compared.
        b: With what.
        exact: For both, what distinguishes elements that are equal here: what is unique by it in both anchors the rest.

    Example:
        >>> aligned("xaby", "xbay", ("xaby", "xbay"))
        Alignment(pairs=((0, 0), (2, 1), (3, 3)), whole=True)
    """
    found: list[tuple[int, int]] = []
    whole = True
    waiting = [(Range(0, len(a), 0, len(b)), 0)]
    while waiting:
        part, rounds = waiting.pop()
        part, ends = _trimmed(a, b, part)
        found += ends
        if not part.bits:
            continue
        anchors = _anchors(*exact, part) if rounds < _MOST_ROUNDS else []
        if anchors:
            found += anchors
            waiting += [(between, rounds + 1) for between in _between(anchors, part)]
        elif part.bits <= MOST_BITS:
            found += longest_common(a, b, part)
        else:
            whole = False
    return Alignment(tuple(sorted(found)), whole)


def _trimmed(a: Sequence[Hashable], b: Sequence[Hashable], part: Range) -> tuple[Range, list[tuple[int, int]]]:
    """What is left when both ends that are equal are taken away, and these."""
    i, i_end, j, j_end = part
    found: list[tuple[int, int]] = []
    while i < i_end and j < j_end and a[i] == b[j]:
        found.append((i, j))
        i, j = i + 1, j + 1
    while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
        found.append((i_end, j_end))
    return Range(i, i_end, j, j_end), found


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], part: Range) -> list[tuple[int, int]]:
    """The longest series, in the order of both, of elements that each has once."""
    in_a, in_b = Counter(a[part.a : part.a_end]), Counter(b[part.b : part.b_end])
    places = {b[j]: j for j in range(part.b, part.b_end) if in_b[b[j]] == 1 and in_a[b[j]] == 1}
    once = [(i, places[a[i]]) for i in range(part.a, part.a_end) if a[i] in places]
    return _increasing(once)


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of pairs, ordered by their first, whose second increase as well."""
    lowest: list[int] = []  # by length less one: the smallest end of a series of that length
    ends: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(lowest, j)
        before.append(ends[at - 1] if at else -1)
        lowest[at : at + 1] = [j]
        ends[at : at + 1] = [number]
    found: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _between(anchors: Sequence[tuple[int, int]], part: Range) -> Iterator[Range]:
    """The parts before, between and after anchors."""
    i, j = part.a, part.b
    for i_next, j_next in (*anchors, (part.a_end, part.b_end)):
        yield Range(i, i_next, j, j_next)
        i, j = i_next + 1, j_next + 1


def longest_common(a: Sequence[Hashable], b: Sequence[Hashable], part: Range) -> Iterator[tuple[int, int]]:
    """The longest common subsequence, a row of bits an element of `a` (Hyyrö 2004).

    In a row, a bit of 0 means that the common part so far is longer with that element of `b` than without.
    """
    count = part.b_end - part.b
    places: dict[Hashable, int] = {}
    for at in range(count):
        one = b[part.b + at]
        places[one] = places.get(one, 0) | 1 << at
    full = (1 << count) - 1
    row, rows, size = full, list[bytes](), count // 8 + 1
    for i in range(part.a, part.a_end):
        both = row & places.get(a[i], 0)
        row = (row + both | row - both) & full
        rows.append(row.to_bytes(size, "little"))
    up, left = len(rows), count
    while up and left:
        if _bit(rows[up - 1], left - 1):
            left -= 1
            continue
        up -= 1
        if not up or _bit(rows[up - 1], left - 1):
            left -= 1
            yield part.a + up, part.b + left


def _bit(row: bytes, at: int) -> int:
    return row[at >> 3] >> (at & 7) & 1
