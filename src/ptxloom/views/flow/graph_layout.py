"""Where the boxes and lines of a layered graph drawing go (after Sugiyama, Tagawa and Toda, 1981).

Boxes stand in rows so that lines run downwards save those that close a cycle; lines that pass a row get a place of
their own in it. Rows are ordered to have few crossings, then every box moves towards the middle of its neighbours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP_X: Final = 24
GAP_Y: Final = 44
_LANE: Final = 10  # the width of a line that passes a row
_SWEEPS: Final = 12
_MOST_PASSED: Final = 100_000
"""Rows that all lines pass together: each of them takes a place."""


@dataclass(frozen=True, slots=True)
class Route:
    """A line from one box to another: the (x, y) where it leaves, passes each row's top and bottom, and arrives."""

    source: int
    target: int
    points: tuple[tuple[float, float], ...]
    backwards: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """The left upper corners of the boxes, the lines, and the size of it all."""

    corners: tuple[tuple[float, float], ...]
    routes: tuple[Route, ...]
    width: float
    height: float


@dataclass(slots=True)
class _Cell:
    """A box, or the place of a line in a row that it passes."""

    width: float
    height: float
    row: int
    above: list[int]
    below: list[int]
    x: float = 0.0  # the middle


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], order: Sequence[int]) -> Drawing:
    """Lay a graph out.

    Args:
        sizes: The (width, height) of each box.
        edges: The (source, target) of each line.
        order: Every box once; a line from a later to an earlier one, or to itself, runs backwards.

    Raises:
        UsageError: The lines pass more rows than a picture has room for.
    """
    place = {box: at for at, box in enumerate(order)}
    rows = _rows(len(sizes), edges, place)
    passed = sum(abs(rows[target] - rows[source]) for source, target in edges)
    if passed > _MOST_PASSED:
        seen = f"{len(sizes):,} blocks whose lines pass {passed:,} rows"
        raise UsageError("graph", seen, f"at most {_MOST_PASSED:,} rows in a picture; text and DOT have no limit")
    cells = [_Cell(*size, row, [], []) for size, row in zip(sizes, rows, strict=True)]
    chains = [_chain(cells, source, target, place) for source, target in edges]
    table: list[list[int]] = [[] for _ in range(max(rows, default=0) + 1)]
    for number in (*order, *range(len(sizes), len(cells))):
        table[cells[number].row].append(number)
    table = _untangled(cells, table)
    _spread(cells, table)
    tops, height = _tops(cells, table)
    left = min((cell.x - cell.width / 2 for cell in cells), default=0.0)
    for cell in cells:
        cell.x -= left
    ports = _ports(cells, chains)
    routes = [
        _route(cells, chain, edge, tops, (ports.get((line, 0), 0.0), ports.get((line, 1), 0.0)))
        for line, (chain, edge) in enumerate(zip(chains, edges, strict=True))
    ]
    corners = tuple((cell.x - cell.width / 2, tops[cell.row]) for cell in cells[: len(sizes)])
    right = max((cell.x + cell.width / 2 for cell in cells), default=0.0)
    right = max(right, max((x for route in routes for x, _ in route.points), default=0.0))
    return Drawing(corners, tuple(routes), right, height)


def _rows(count: int, edges: Sequence[tuple[int, int]], place: dict[int, int]) -> list[int]:
    """The row of each box: one below the lowest of the boxes that come before it and that a line joins it to."""
    rows = [0] * count
    after: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        upper, lower = sorted(edge, key=place.__getitem__)
        if upper != lower:
            after[upper].append(lower)
    for box in sorted(place, key=place.__getitem__):
        for target in after[box]:
            rows[target] = max(rows[target], rows[box] + 1)
    return rows


def _chain(cells: list[_Cell], source: int, target: int, place: dict[int, int]) -> list[int]:
    """Make the places of a line in the rows that it passes; the cells from its upper to its lower end."""
    upper, lower = (source, target) if place[source] < place[target] else (target, source)
    if upper == lower:
        return [upper]
    chain = [upper]
    for row in range(cells[upper].row + 1, cells[lower].row):
        cells.append(_Cell(_LANE, 0, row, [], []))
        chain.append(len(cells) - 1)
    chain.append(lower)
    for one, other in pairwise(chain):
        cells[one].below.append(other)
        cells[other].above.append(one)
    return chain


def _untangled(cells: list[_Cell], table: list[list[int]]) -> list[list[int]]:
    """The rows with their cells sorted by the middle of their neighbours, as often as crossings get fewer."""
    best, fewest = [list(row) for row in table], _crossings(cells, table)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        for number in range(1, len(table)) if downwards else range(len(table) - 2, -1, -1):
            fixed = table[number - 1] if downwards else table[number + 1]
            spot = {cell: at for at, cell in enumerate(fixed)}
            mine = {cell: at for at, cell in enumerate(table[number])}
            keys = {
                cell: _mean([spot[one] for one in (cells[cell].above if downwards else cells[cell].below)], mine[cell])
                for cell in table[number]
            }
            table[number].sort(key=lambda cell, keys=keys: keys[cell])
        crossings = _crossings(cells, table)
        if crossings < fewest:
            best, fewest = [list(row) for row in table], crossings
    return best


def _mean(values: list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(cells: list[_Cell], table: list[list[int]]) -> int:
    """The number of crossing pairs of lines, counted with a tree of partial sums."""
    total = 0
    for upper, lower in pairwise(table):
        spot = {cell: at for at, cell in enumerate(lower)}
        sums = [0] * (len(lower) + 1)
        seen = 0
        for cell in upper:
            ends = sorted(spot[one] for one in cells[cell].below)
            for end in ends:
                at, left = end + 1, 0
                while at:
                    left += sums[at]
                    at &= at - 1
                total += seen - left
            for end in ends:
                seen += 1
                at = end + 1
                while at <= len(lower):
                    sums[at] += 1
                    at += at & -at
    return total


def _spread(cells: list[_Cell], table: list[list[int]]) -> None:
    """Set every cell's x: as near as may be to its neighbours, in the order of its row, without overlap."""
    for row in table:
        _settle(cells, row, [0.0] * len(row))
    for sweep in range(_SWEEPS * 2):
        downwards = sweep % 2 == 0
        for row in table if downwards else reversed(table):
            wanted: list[float] = []
            for number in row:
                near = cells[number].above if downwards else cells[number].below
                near = near or (cells[number].below if downwards else cells[number].above)
                wanted.append(sum(cells[one].x for one in near) / len(near) if near else cells[number].x)
            _settle(cells, row, wanted)


def _settle(cells: list[_Cell], row: list[int], wanted: list[float]) -> None:
    """Place a row's cells: the least sum of squares from `wanted` that keeps them apart (pool adjacent violators)."""
    offsets: list[float] = []
    at = 0.0
    for number in row:
        half = cells[number].width / 2
        offsets.append(at + half)
        at += 2 * half + GAP_X
    pools: list[tuple[float, float]] = []  # (sum of what is wanted, how many)
    for offset, one in zip(offsets, wanted, strict=True):
        total, many = one - offset, 1.0
        while pools and pools[-1][0] / pools[-1][1] > total / many:
            more, others = pools.pop()
            total, many = total + more, many + others
        pools.append((total, many))
    base = [total / many for total, many in pools for _ in range(int(many))]
    for number, offset, start in zip(row, offsets, base, strict=True):
        cells[number].x = start + offset


def _tops(cells: list[_Cell], table: list[list[int]]) -> tuple[list[float], float]:
    """The y of each row's upper edge, and that of the lower edge of the last."""
    tops: list[float] = []
    at = 0.0
    for row in table:
        tops.append(at)
        at += max((cells[number].height for number in row), default=0.0) + GAP_Y
    return tops, at - GAP_Y


def _ports(cells: list[_Cell], chains: list[list[int]]) -> dict[tuple[int, int], float]:
    """The x at which each line, by (number, 0 at its upper or 1 at its lower end), meets its box: side by side."""
    ends: dict[tuple[int, int], list[tuple[float, int]]] = {}  # (box, end) -> [(x of the next cell, line)]
    for line, chain in enumerate(chains):
        if len(chain) > 1:
            ends.setdefault((chain[0], 0), []).append((cells[chain[1]].x, line))
            ends.setdefault((chain[-1], 1), []).append((cells[chain[-2]].x, line))
    found: dict[tuple[int, int], float] = {}
    for (box, end), lines in ends.items():
        step = min(cells[box].width / (len(lines) + 1), 2 * GAP_X)
        for at, (_, line) in enumerate(sorted(lines)):
            found[line, end] = cells[box].x + step * (at - (len(lines) - 1) / 2)
    return found


def _route(
    cells: list[_Cell], chain: list[int], edge: tuple[int, int], tops: list[float], ports: tuple[float, float]
) -> Route:
    """The points of a line, in its own direction."""
    source, target = edge
    upper, lower = cells[chain[0]], cells[chain[-1]]
    if source == target:
        right, top, bottom = upper.x + upper.width / 2, tops[upper.row], tops[upper.row] + upper.height
        out = right + GAP_X / 2
        points = ((right, bottom - 8), (out, bottom - 8), (out, top + 8), (right, top + 8))
        return Route(source, target, points, backwards=True)
    points = [(ports[0], tops[upper.row] + upper.height)]
    row_bottom = tops[upper.row + 1] - GAP_Y
    if points[0][1] < row_bottom:  # past the taller boxes beside it
        points.append((ports[0], row_bottom))
    for number in chain[1:-1]:
        cell = cells[number]
        points += [(cell.x, tops[cell.row]), (cell.x, tops[cell.row + 1] - GAP_Y)]
    points.append((ports[1], tops[lower.row]))
    backwards = chain[0] == target
    return Route(source, target, tuple(reversed(points) if backwards else points), backwards)
