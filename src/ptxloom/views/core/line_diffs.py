"""Two texts as a unified diff, in time that grows with them.

`difflib` alone takes the square where many lines are equal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FEW: Final = 200  # lines of both sides, whose differences are found by trying all
_DEEPEST: Final = 20  # of parts inside of parts, then they are halved
_AROUND: Final = 3  # lines that stay, on each side of a change


def unified(old: str, new: str, before: str, after: str) -> str:
    r"""The differences of two texts; empty if they are equal.

    Args:
        old: The first text.
        new: The second.
        before: What the first is called.
        after: What the second is called.

    Returns:
        A diff that `patch` reads.

    Example:
        >>> print(unified("a\nb\n", "a\nc\n", "k.ptx", "k.ptx (formatted)"), end="")
        --- k.ptx
        +++ k.ptx (formatted)
        @@ -1,2 +1,2 @@
         a
        -b
        +c
    """
    one, other = old.splitlines(keepends=True), new.splitlines(keepends=True)
    out: list[str] = []
    for group in _Lines(one, other).get_grouped_opcodes(_AROUND):
        (_, start, _, into, _), (_, _, end, _, behind) = group[0], group[-1]
        out.append(f"@@ -{_range(start, end)} +{_range(into, behind)} @@\n")
        for tag, i, j, m, n in group:
            if tag == "equal":
                out += [f" {line}" for line in one[i:j]]
            else:
                out += [f"-{line}" for line in one[i:j]]
                out += [f"+{line}" for line in other[m:n]]
    return "".join((f"--- {before}\n", f"+++ {after}\n", *out)) if out else ""


def _range(start: int, end: int) -> str:
    """Lines as the head of a part names them."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + bool(count)},{count}"


class _Lines(SequenceMatcher[str]):
    """Lines that both texts have: where they begin, end and agree on lines that each has once, then between these."""

    def __init__(self, one: list[str], other: list[str]) -> None:
        super().__init__(None, one, other, autojunk=False)
        self._one = one
        self._other = other

    def get_matching_blocks(self) -> list[Match]:
        """The stretches that are equal, in order, and an empty one at the end."""
        found: list[tuple[int, int, int]] = []
        for start, into, size in _equal(self._one, self._other):
            if found and sum(found[-1][::2]) == start and found[-1][1] + found[-1][2] == into:
                found[-1] = (*found[-1][:2], found[-1][2] + size)
            elif size:
                found.append((start, into, size))
        return [*(Match(*one) for one in found), Match(len(self._one), len(self._other), 0)]


def _equal(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The places of equal stretches in both texts and their numbers of lines, in order."""
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        i, j, m, n, depth = waiting.pop()
        head = 0
        while i + head < j and m + head < n and a[i + head] == b[m + head]:
            head += 1
        tail = 0
        while i + head < j - tail and m + head < n - tail and a[j - tail - 1] == b[n - tail - 1]:
            tail += 1
        yield i, m, head
        if tail:
            waiting.append((j - tail, j, n - tail, n, depth))
        i, j, m, n = i + head, j - tail, m + head, n - tail
        if i == j or m == n:
            continue
        if j - i + n - m <= _FEW:
            pairs = SequenceMatcher(None, a[i:j], b[m:n], autojunk=False).get_matching_blocks()
            waiting += [(i + x, i + x + size, m + y, m + y + size, depth) for x, y, size in reversed(pairs)]
            continue
        cuts = _once(a[i:j], b[m:n]) if depth < _DEEPEST else []
        ends = [(i + x, m + y) for x, y in cuts] or [((i + j) // 2, (m + n) // 2)]
        starts = [(i, m), *ends]
        waiting += [
            (x, u, y, v, depth + 1) for (x, y), (u, v) in reversed([*zip(starts, [*ends, (j, n)], strict=True)])
        ]


def _once(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Where lines are that both have once: as many as are in the same order in both."""
    counted, other = Counter(a), Counter(b)
    places = {line: at for at, line in enumerate(b) if other[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(a) if counted[line] == 1 and line in places]
    tops: list[int] = []  # the least end of a chain of each length,
    ends: list[int] = []  # which pair that is,
    before: list[int] = []  # and for each pair the one before it
    for number, (_, into) in enumerate(pairs):
        at = bisect_left(tops, into)
        before.append(ends[at - 1] if at else -1)
        tops[at : at + 1] = [into]
        ends[at : at + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]
