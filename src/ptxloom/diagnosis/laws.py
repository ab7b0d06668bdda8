"""The laws of a matrix product, checked for every product of a run; they need no reference.

- *rows*: each row of A comes from one row of its array, each column of B from one column.
- *k*: the k of an element of A is that of the element of B that it is multiplied with.
- *place*: the element stored at (m, n) is made of row m and column n, and nothing else is stored there.
- *once*: every k is multiplied once into an element of the result.

An operand that breaks one is a `Suspect`, with its contents by the others, and the possible explanations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.explanations import explanations
from ptxloom.diagnosis.origins.tiles import Wanted, all_of, common_columns, common_rows, counted, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.arrays.coverage import Coverage
    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.explanations import Explanation
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Truth

ROWS: Final = "rows"
K: Final = "k"
PLACE: Final = "place"
ONCE: Final = "once"

_ALONG_K: Final = ("ab", "ba")  # whose k, of a sparse product, its metadata relates

SHARED: Final = {
    "a": (("d", 0), ("b", 0)),
    "b": (("a", 1), ("d", 1)),
    "d": (("a", 0), ("b", 1)),
}
"""For each axis of an operand, the role that shares it, and that role's axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Suspect:
    """An operand that breaks a law.

    Attributes:
        law: Which one.
        evidence: The instruction and its products.
        tile: The operand as it is, of the products that break the law.
        wanted: Its contents by the other operands.
        events: (events,) the numbers of the products among the instruction's.
        explained: The possible explanations, none of them smaller than another.
        sure: Whether this operand, and no other, is wrong.
        lost: The k that never occur, if others occur twice.
        alternative: Whether another operand is the likelier one.
    """

    law: str
    evidence: SiteEvidence
    tile: Tile
    wanted: Wanted
    events: Integers
    explained: tuple[Explanation, ...]
    sure: bool
    lost: Integers | None = None
    alternative: bool = False

    @property
    def stack(self) -> Stack:
        """Where the operand of all products of the instruction comes from."""
        return next(stack for stack in self.evidence.stacks if stack.role == self.tile.role)


def suspects(evidence: SiteEvidence, reading: Reading, coverage: Coverage) -> tuple[Suspect, ...]:
    """The operands of an instruction that break a law, the likeliest first."""
    tiles = tiles_of(evidence, reading)
    one = {role: all_of(whole(tile)) for role, tile in tiles.items()}
    broken = [role for role, right in one.items() if not right.all()]
    found = [_suspect(evidence, tiles, one, role, ROWS if role != "d" else PLACE) for role in broken]
    found = [
        replace(s, sure=_is_alone(tiles[s.tile.role], _wanted(evidence, tiles, one, s.tile.role), coverage))
        for s in found
    ]
    if not found:
        found = list(_disagreeing(evidence, tiles, one, coverage))
    if not found and evidence.form.sparse:
        found = list(_unordered(evidence, tiles, one))
    return tuple(replace(suspect, lost=coverage.loses(suspect.tile.role)) for suspect in found)


def _is_alone(tile: Tile, wanted: Wanted, coverage: Coverage) -> bool:
    """Whether an operand agrees with the others where it is complete; or, where it is not, these leave out nothing."""
    apart = all_of(whole(tile)) & ~all_of(whole(tile, wanted))
    if not apart.any():
        return True
    return not any(coverage.gaps(other, axis) for other, axis in SHARED[tile.role] if (other, axis) in coverage.missing)


def _unordered(evidence: SiteEvidence, tiles: dict[str, Tile], one: dict[str, Truth]) -> Iterator[Suspect]:
    """The second factor of a sparse product, whose k no other operand determines: they should be consecutive."""
    if "b" not in tiles:
        return
    tile, lines = tiles["b"], common_rows(tiles["b"])
    first: Integers = lines.min(axis=1)
    if (lines < 0).any() or (first % lines.shape[1]).any():
        return
    wanted = Wanted(counted(first, lines.shape[1]), _wanted(evidence, tiles, one, "b").columns)
    explained = explanations(tile, wanted)
    if explained:
        yield Suspect(K, evidence, tile, wanted, np.arange(len(tile.rows)), explained, sure=False)


def _wanted(evidence: SiteEvidence, tiles: dict[str, Tile], one: dict[str, Truth], role: str) -> Wanted:
    """The contents of an operand by the others; empty where these break a law themselves."""
    said: list[Integers | None] = []
    for other, axis in SHARED[role]:
        if other not in tiles or (evidence.form.sparse and role + other in _ALONG_K):
            said.append(None)
            continue
        lines = common_columns(tiles[other]) if axis else common_rows(tiles[other])
        trusted = np.where(one[other][:, None], lines, -1)
        said.append(trusted if one[other].all() else None)
    return Wanted(*said)


def _suspect(evidence: SiteEvidence, tiles: dict[str, Tile], one: dict[str, Truth], role: str, law: str) -> Suspect:
    """An operand, with the changes that explain all of it, or else only the wrong products."""
    tile, wanted = tiles[role], _wanted(evidence, tiles, one, role)
    events = np.arange(len(tile.rows))
    explained = explanations(tile, wanted)
    wrong = ~all_of(whole(tile, wanted))
    if not explained and not wrong.all():
        events = np.flatnonzero(wrong)
        tile, wanted = tile.chosen(wrong), wanted.chosen(wrong)
        explained = explanations(tile, wanted)
    return Suspect(law, evidence, tile, wanted, events, explained, sure=True)


def _disagreeing(
    evidence: SiteEvidence, tiles: dict[str, Tile], one: dict[str, Truth], coverage: Coverage
) -> tuple[Suspect, ...]:
    """The operands that are complete by themselves but do not match each other."""
    apart = [
        (first, second, law)
        for first, second, law in (("a", "b", K), ("a", "d", PLACE), ("b", "d", PLACE))
        if first in tiles and second in tiles and not (evidence.form.sparse and law == K)
        if _differ(tiles, first, second)
    ]
    if not apart:
        return ()
    blamed = [role for role in tiles if sum(role in pair[:2] for pair in apart) > 1]
    if len(blamed) == 1:
        first = _suspect(evidence, tiles, one, blamed[0], apart[0][2])
        others = evidence.described if blamed == ["d"] else ""
        found = [_suspect(evidence, tiles, one, role, PLACE) for role in others if role in tiles]
        return (first, *(replace(s, sure=False, alternative=True) for s in found))
    first, second, law = apart[0]
    odd = {role: _oddness(evidence, tiles[role], _axis_of(role, first, second), coverage) for role in (first, second)}
    roles = sorted((first, second), key=lambda role: odd[role], reverse=True)
    likely = odd[first] != odd[second]
    sure = likely and odd[roles[0]].proves(odd[roles[1]])
    found = [_suspect(evidence, tiles, one, role, law) for role in roles]
    if sure and found[0].explained:
        return (found[0],)
    return tuple(replace(s, sure=sure and s is found[0], alternative=likely and s is not found[0]) for s in found)


def _axis_of(role: str, first: str, second: str) -> int:
    """The axis of an operand on which two of them differ."""
    other = second if role == first else first
    return next(axis for axis, (shared, _) in enumerate(SHARED[role]) if shared == other)


def _differ(tiles: dict[str, Tile], first: str, second: str) -> bool:
    axis = _axis_of(first, first, second)
    other = SHARED[first][axis][1]
    left, right = (
        common_columns(tiles[role]) if along else common_rows(tiles[role])
        for role, along in ((first, axis), (second, other))
    )
    return bool(((left != right) & (left >= 0) & (right >= 0)).any())


class _Oddness(NamedTuple):
    """How unlikely an operand is as it is.

    Attributes:
        bent: Whether its lines are not in order.
        strays: Whether they are not those of its chain.
        gaps: How many are left out, or taken twice.
        turned: Whether they go back.
    """

    bent: bool
    strays: bool
    gaps: int
    turned: bool

    def proves(self, other: _Oddness) -> bool:
        """Whether this operand is wrong and not the other: the result is complete by the other's lines, not by its own.

        Lines that go back prove nothing: an array may store its tiles in another order.
        """
        return self[:2] > other[:2] or (self[:2] == other[:2] and self.gaps > 0 == other.gaps)


def _oddness(evidence: SiteEvidence, tile: Tile, axis: int, coverage: Coverage) -> _Oddness:
    """How unlikely an operand is as it is."""
    lines = common_columns(tile) if axis else common_rows(tile)
    known = lines >= 0
    straight = counted(lines[:, 0], lines.shape[1])
    along = (tile.role, axis) in {("a", 1), ("b", 0)}
    return _Oddness(
        bool(((lines != straight) & known).any() or (lines[:, 0] % 8).any()),
        not along and coverage.strays.get(tile.role, False),
        coverage.gaps(tile.role, axis),
        coverage.turned.get(tile.role, False) if along else _goes_back(evidence, lines[:, 0]),
    )


def _goes_back(evidence: SiteEvidence, first: Integers) -> bool:
    """Whether the lines of a chain ever go back, or stay."""
    order = np.lexsort((evidence.numbers, evidence.chain))
    same = evidence.chain[order][1:] == evidence.chain[order][:-1]
    return bool((np.diff(first[order])[same] <= 0).any())
