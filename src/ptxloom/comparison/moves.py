"""What the elements that differ hold instead: a constant, a multiple, or what belongs somewhere else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison.model import Pattern
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[Any]
    _Candidate = tuple[str, str, Array, NDArray[np.bool_] | None]
    """Kind, sentence, the values as they would be, and where one comes from somewhere."""

_FEWEST: Final = 4  # elements that must differ: fewer prove nothing
_SAMPLES: Final = 48
_MOST_CANDIDATES: Final = 32  # places that hold what a sample holds; more prove nothing
_LOOKED_THROUGH: Final = 1 << 20  # elements among which a sample is looked for
_MOST_ROWS: Final = 2048
_TILES: Final = (2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """Arrays as matrices: leading axes are rows."""

    got: Array
    wanted: Array
    allowed: Array
    wrong: NDArray[np.bool_]

    def explained(self, moved: Array, valid: NDArray[np.bool_] | None = None) -> int:
        """The number of wrong elements moved from elsewhere; 0 if any was not, or half of them have no source."""
        asked = self.wrong if valid is None else self.wrong & valid
        count = int(asked.sum())
        if 2 * count < int(self.wrong.sum()) or count < _FEWEST:
            return 0
        with np.errstate(all="ignore"):
            near = np.abs(self.got[asked] - moved[asked]) <= 2 * self.allowed[asked]
        return count if near.all() else 0


def moves(got: Array, wanted: Array, allowed: Array, wrong: NDArray[np.bool_]) -> tuple[Pattern, ...]:
    """What the differing elements hold: the simplest explanation that fits all of them.

    Args:
        got: The actual values, in double precision.
        wanted: The expected values.
        allowed: The allowed distances.
        wrong: Which elements differ.
    """
    if int(wrong.sum()) < _FEWEST:
        return ()
    columns = got.shape[-1] if got.ndim else 1
    case = _Case(*(one.reshape(-1, columns) for one in (got, wanted, allowed, wrong)))
    plain = _constant(case) or _scaled(case)
    if plain:
        return (plain,)
    if len(np.unique(case.got[case.wrong][:4096])) < 3:
        return ()
    for candidates in (_transposed(case.wanted), _voted(case)):
        best, pattern = 0, None
        for kind, sentence, moved, valid in candidates:
            explained = case.explained(moved, valid)
            if explained > best:
                best, pattern = explained, Pattern(kind, sentence)
        if pattern is not None:
            return (pattern,)
    found = _permuted(case, "row") or _permuted(_turned(case), "column")
    return (found,) if found else ()


def _constant(case: _Case) -> Pattern | None:
    held = case.got[case.wrong]
    value = held.flat[0]
    if not (np.isnan(held).all() or (held == value).all()):
        return None
    zero = ": zero, as where nothing was stored" if value == 0 else ""
    return Pattern("constant", f"they all hold {'NaN' if np.isnan(value) else f'{value:.6g}'}{zero}")


def _scaled(case: _Case) -> Pattern | None:
    """A multiple of what is wanted."""
    wanted = case.wanted[case.wrong]
    with np.errstate(all="ignore"):
        ratios = (case.got[case.wrong] / wanted)[np.abs(wanted) > 8 * case.allowed[case.wrong]]
    ratios = ratios[np.isfinite(ratios)]
    if len(ratios) < _FEWEST or np.iscomplexobj(ratios):
        return None
    factor = float(np.median(ratios))
    if abs(factor) < 1e-6 or not case.explained(factor * case.wanted):
        return None
    return Pattern("scaled", f"they hold {factor:.6g} times the right value")


def _transposed(wanted: Array) -> Iterator[_Candidate]:
    """The matrix, or each of its tiles."""
    rows, columns = wanted.shape
    if min(rows, columns) < 2:
        return
    if rows == columns:
        yield "transposed", "the matrix is transposed: [i, j] holds what belongs at [j, i]", wanted.T, None
    else:
        column_major = np.ascontiguousarray(wanted.T).reshape(rows, columns)
        yield "transposed", "the matrix is stored column by column", column_major, None
    for size in _TILES:
        if rows % size or columns % size or (rows == columns == size):
            continue
        tiles = wanted.reshape(rows // size, size, columns // size, size)
        each = f"each tile of {size} x {size}"
        yield "transposed", f"{each} is transposed", tiles.swapaxes(1, 3).reshape(rows, columns), None
        if rows == columns:
            exchanged = tiles.swapaxes(0, 2).reshape(rows, columns)
            yield "exchanged", f"{each} is where its mirror image at the diagonal belongs", exchanged, None


def _voted(case: _Case) -> Iterator[_Candidate]:
    """Shifts and exchanges suggested by samples: places where a value found here belongs."""
    rows, columns = case.wanted.shape
    votes: Counter[tuple[str, int, int]] = Counter()
    for (row, column), (from_row, from_column) in _sightings(case):
        down, right = row - from_row, column - from_column
        votes["shift", down, right] += 1
        votes["cyclic", down % rows, right % columns] += 1
        votes["flat", down * columns + right, 0] += 1
        votes["xor", row ^ from_row, column ^ from_column] += 1
    order = {"xor": 0, "shift": 1, "cyclic": 2, "flat": 3}
    ranked = sorted(votes.items(), key=lambda vote: (-vote[1], order[vote[0][0]], abs(vote[0][1]) + abs(vote[0][2])))
    for (kind, first, second), _ in ranked[:16]:
        match kind:
            case "xor":
                yield from _exchanged(case.wanted, first, second)
            case "shift":
                moved, valid = _shifted(case.wanted, first, second)
                yield "shifted", f"they hold what belongs {_way(first, second)}", moved, valid
            case "cyclic":
                near = [n if 2 * n <= extent else n - extent for n, extent in ((first, rows), (second, columns))]
                moved = np.roll(case.wanted, (first, second), (0, 1))
                yield "shifted", f"they hold what belongs {_way(*near)}, cyclically", moved, None
            case _:
                flat = [one.reshape(rows, columns) for one in _shifted(case.wanted.reshape(1, -1), 0, first)]
                side = "before" if first > 0 else "after"
                away = f"{abs(first):,} element{'s' * (abs(first) != 1)} {side}, in memory"
                yield "shifted", f"they hold what belongs {away}", flat[0], flat[1]


def _sightings(case: _Case) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """A sample of differing elements, and places where their values belong."""
    columns = case.wanted.shape[1]
    spots = np.flatnonzero(case.wrong)
    picked = spots[np.linspace(0, len(spots) - 1, min(_SAMPLES, len(spots))).astype(np.intp)]
    begin = max(0, int(picked[0]) - _LOOKED_THROUGH // 4) if case.wanted.size > _LOOKED_THROUGH else 0
    wanted, allowed = (one.ravel()[begin : begin + _LOOKED_THROUGH] for one in (case.wanted, case.allowed))
    for spot in picked.tolist():
        with np.errstate(all="ignore"):
            same = np.flatnonzero(np.abs(wanted - case.got.ravel()[spot]) <= 2 * allowed) + begin
        if len(same) <= _MOST_CANDIDATES:
            yield from ((divmod(spot, columns), divmod(source, columns)) for source in same.tolist())


def _shifted(wanted: Array, down: int, right: int) -> tuple[Array, NDArray[np.bool_]]:
    """Values moved `down` rows and `right` columns, and the place of one of them."""
    rows, columns = np.ogrid[: wanted.shape[0], : wanted.shape[1]]
    rows, columns = rows - down, columns - right
    valid = (rows >= 0) & (rows < wanted.shape[0]) & (columns >= 0) & (columns < wanted.shape[1])
    return np.roll(wanted, (down, right), (0, 1)), valid


def _way(down: int, right: int) -> str:
    sides = ((down, "row", "above", "below"), (right, "column", "to the left", "to the right"))
    return " and ".join(
        f"{abs(by)} {noun}{'s' * (abs(by) != 1)} {before if by > 0 else after}"
        for by, noun, before, after in sides
        if by
    )


def _exchanged(wanted: Array, rows: int, columns: int) -> Iterator[_Candidate]:
    """Rows, columns or both exchanged by flipping bits of their numbers."""
    sources: list[NDArray[np.intp]] = [
        np.arange(extent) ^ by for extent, by in zip(wanted.shape, (rows, columns), strict=True)
    ]
    if any(source.max() >= len(source) for source in sources):
        return
    told = [f"{noun}s i and i ^ {by}" for noun, by in (("row", rows), ("column", columns)) if by]
    yield "exchanged", f"{' and '.join(told)} are exchanged", wanted[np.ix_(*sources)], None


def _turned(case: _Case) -> _Case:
    return _Case(case.got.T, case.wanted.T, case.allowed.T, case.wrong.T)


def _permuted(case: _Case, noun: str) -> Pattern | None:
    """Rows in another order; each row that differs equals another whole row."""
    chosen = np.flatnonzero(case.wrong.any(axis=1))
    if not 2 <= len(chosen) <= _MOST_ROWS or case.wanted.shape[1] < _FEWEST or len(case.wanted) > _MOST_ROWS:
        return None
    pairs: list[tuple[int, int]] = []
    for row in chosen.tolist():
        source = _source_of(case, row)
        if source is None:
            return None
        pairs.append((row, source))
    told = ", ".join(f"{noun} {row} holds {source}" for row, source in pairs[:4])
    return Pattern("permuted", f"{noun}s are in another order: {told}{', ...' * (len(pairs) > 4)}")


def _source_of(case: _Case, row: int) -> int | None:
    """The only row whose values this one holds."""
    asked = np.flatnonzero(case.wrong[row])
    if len(asked) < _FEWEST:
        return None
    found = np.arange(len(case.wanted))
    for column in asked.tolist():
        with np.errstate(all="ignore"):
            near = np.abs(case.wanted[found, column] - case.got[row, column]) <= 2 * case.allowed[found, column]
        found = found[near]
        if not len(found):
            return None
    return int(found[0]) if len(found) == 1 else None
