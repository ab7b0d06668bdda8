"""The laws of a matrix product, checked for sums of products term by term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.left_open import is_told
from ptxloom.diagnosis.explanations import moves_of
from ptxloom.diagnosis.origins.permutations import COPIED, Named
from ptxloom.diagnosis.origins.tiles import Plane, Target, Tile, whole
from ptxloom.diagnosis.wrong_strides import Axis, of_strides, offsets_at

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.sums.einsum import Axes
    from ptxloom.diagnosis.sums.terms import Terms

ROLES: Final = "abd"
_UNKNOWN: Final = Named("unknown", "no single change explains it", 9)
_TILE: Final = 8  # k that tiles have at least
_TILES: Final = (8, 16, 32, 64)  # lines that a pointer is moved on by at once
_MOST: Final = 1 << 16  # terms that changes are tried on


class Broken(NamedTuple):
    """Terms that break a law.

    Attributes:
        law: Which one.
        named: The cause.
        role: "a" or "b", the factor; "d", where the sum is stored; empty: the sum itself.
        wrong: (terms,) those that do; of `once`, those that are there too often, or all.
        wrongs: The number of wrong ones.
        total: The number of terms.
        sure: Whether this side is the likely culprit.
        others: Other explanations.
        proved: Whether no other side can be wrong.
    """

    law: str
    named: Named
    role: str
    wrong: Truth
    wrongs: int
    total: int
    sure: bool = True
    others: tuple[str, ...] = ()
    proved: bool = True


def broken(terms: Terms, axes: Axes, told: Counter[int], *, complete: bool) -> tuple[Broken, ...]:
    """The errors of a sum, empty if every term is in its place and occurs once.

    Args:
        terms: Its terms.
        axes: Their axes.
        told: The numbers that the kernel receives, each as often as it does.
        complete: Whether every element of the result was stored.
    """
    held = [axes.indices(number, one) for number, one in enumerate(_elements(terms))]
    apart = {
        (left, right): letters
        for left, right in ((0, 2), (1, 2), (0, 1))
        if (
            letters := [one for one in held[left] if one in held[right] and (held[left][one] != held[right][one]).any()]
        )
    }
    if not apart:
        return tuple(_once(terms, axes, held, told))
    side = _blamed(terms, axes, apart, complete=complete)
    either = _Blamed(2, proved=False) if side.may_be_stored else None
    return tuple(_explained(terms, axes, held, one) for one in (side, either) if one is not None)


def _elements(terms: Terms) -> tuple[Integers, Integers, Integers]:
    first, second = terms.factors["element"].T
    return first, second, terms.result


class _Blamed(NamedTuple):
    """Which of the three arrays is read or stored at the wrong place, and how likely that is.

    Attributes:
        number: Which.
        likely: Whether it is likelier than others.
        proved: Whether no other can be wrong.
        may_be_stored: Whether the result may be stored at other places instead: the factor lacks nothing.
    """

    number: int
    likely: bool = True
    proved: bool = True
    may_be_stored: bool = False


def _blamed(terms: Terms, axes: Axes, apart: dict[tuple[int, int], list[str]], *, complete: bool) -> _Blamed:
    counts = [sum(number in pair for pair in apart) for number in range(3)]
    odd = [number for number, count in enumerate(counts) if count > 1]
    if len(odd) == 1:
        return _Blamed(odd[0])
    pair = next(iter(apart))
    if pair != (0, 1):
        is_whole = _oddness(terms, axes, pair[0])[0] == 0
        stored = _Blamed(2, likely=False)
        return _Blamed(pair[0], proved=not is_whole, may_be_stored=is_whole) if complete else stored
    used = [_oddness(terms, axes, number) for number in pair]
    left_out = sorted(share for share, _ in used)  # an order of its own proves nothing
    return _Blamed(pair[int(used[1] > used[0])], used[0] != used[1], left_out[0] == 0 < left_out[1])


def _oddness(terms: Terms, axes: Axes, number: int) -> tuple[float, int]:
    """How implausible the elements of a factor are: elements left out, and steps back along a sum."""
    elements = _elements(terms)[number]
    order = np.lexsort((-terms.depth, terms.result))
    same = terms.result[order][1:] == terms.result[order][:-1]
    steps = np.diff(elements[order])[same]
    usual = np.median(steps) if len(steps) else 0
    return 1 - len(np.unique(elements)) / float(np.prod(axes.shapes[number])), int(np.count_nonzero(steps != usual))


def _explained(terms: Terms, axes: Axes, held: list[dict[str, Integers]], blamed: _Blamed) -> Broken:
    """The change of index that explains a wrong side."""
    side = blamed.number
    letters = axes.letters[side]
    wanted: dict[str, Integers] = {}
    for other in (number for number in (2, 0, 1) if number != side):
        for letter, values in held[other].items():
            wanted.setdefault(letter, values)
    wrong = np.zeros(len(terms.result), np.bool_)
    for letter in letters:
        wrong |= held[side][letter] != wanted[letter]
    law = "place" if side == 2 else "rows" if any(
        one in axes.letters[2] and (held[side][one] != wanted[one]).any() for one in letters
    ) else "k"  # fmt: skip
    found = changes_of(axes, side, held[side], wanted, wrong)
    named = found[0] if found else _UNKNOWN
    others = tuple(dict.fromkeys(one.cause for one in found if one.cause != named.cause and one.steps == named.steps))
    count = int(np.count_nonzero(wrong))
    return Broken(
        law, named, ROLES[side], wrong, count, len(wrong), blamed.likely and bool(found), others, blamed.proved
    )


def changes_of(
    axes: Axes, side: int, held: dict[str, Integers], wanted: dict[str, Integers], wrong: Truth
) -> list[Named]:
    """The changes of index that explain a side, the plainest first."""
    letters = axes.letters[side]
    at = np.flatnonzero(wrong)[:_MOST]
    rest = np.flatnonzero(~wrong)[: _MOST // 4]
    apart = "".join(one for one in letters if (held[one] != wanted[one]).any())
    if len(letters) > 2 and apart and apart in letters[-2:]:
        letters = letters[-2:]  # matrices of a batch, each in its place
    if len(letters) == 1:
        return list(_of_axis(axes, side, held, wanted, at))
    if len(letters) != 2:
        several = [*_of_stride(axes, side, held, wanted), *_of_axis(axes, side, held, wanted, at)]
        return sorted(several, key=lambda named: named.steps)
    at = np.concatenate((at, rest))
    slow, fast = letters
    found: list[Named] = []
    down, right = (held[letter][at] - wanted[letter][at] for letter in letters)
    if _turned(held, wanted, letters, at):
        found.append(Named("order-exchanged", "row and column are exchanged", 1))
    elif down.any() and (down == -right).all():
        found.append(Named("transposed", "row and column are exchanged within tiles", 2))
    lines, pitch = axes.shapes[side][-2:]
    plane = Plane(side, pitch, slow_rows=True, lines=lines, unit_bits=32)
    one = (-1, 1, 1)
    tile = Tile(
        "copy", COPIED[8], plane, held[slow][at].reshape(one), held[fast][at].reshape(one),
        np.ones((len(at), 1, 1), np.bool_),
    )  # fmt: skip
    target = Target(wanted[slow][at].reshape(-1, 1), wanted[fast][at].reshape(-1, 1))
    found += [
        change.named
        for change in moves_of(tile, target)
        if whole(change.repaired, target).all() and change.named.cause != "tile-exchanged"
    ]
    found += _of_pitch(held[slow][at] * pitch + held[fast][at], wanted[slow][at], wanted[fast][at], pitch)
    found += _of_axis(axes, side, held, wanted, at)
    return sorted(found, key=lambda named: named.steps)


def _turned(held: dict[str, Integers], wanted: dict[str, Integers], letters: str, at: Integers) -> bool:
    slow, fast = letters
    straight = (held[slow][at] == wanted[fast][at]) & (held[fast][at] == wanted[slow][at])
    return bool(straight.all())


def _of_pitch(flat: Integers, slow: Integers, fast: Integers, pitch: int) -> Iterator[Named]:
    """Lines that are read with a wrong pitch, in elements."""
    lines = slow > 0
    if not lines.any():
        return
    quotient, rest = np.divmod(flat - fast, np.maximum(slow, 1))
    other = int(quotient[lines][0])
    if not rest[lines].any() and (quotient[lines] == other).all() and (flat == fast)[~lines].all() and other != pitch:
        yield Named("leading-dimension", f"rows are taken to be {other} elements apart; they are {pitch}")
        return
    for tile in _TILES:
        first, inner = np.divmod(slow, tile)
        for count, along, where in ((inner, first, "within"), (first * tile, inner, "between")):
            rest = flat - fast - (slow - count) * pitch
            own = count > 0
            if not own.any() or not (along > 0).any() or rest[~own].any():
                continue
            other = int(rest[own][0] // count[own][0])
            if other > 0 and other != pitch and (rest == count * other).all():
                detail = f"rows are taken to be {other} elements apart {where} tiles of {tile}; they are {pitch}"
                yield Named("leading-dimension", detail, 2)
                return


def _of_stride(axes: Axes, side: int, held: dict[str, Integers], wanted: dict[str, Integers]) -> Iterator[Named]:
    """Indices along one of several axes, or two, that are read with a wrong stride, in elements."""
    shape, letters = axes.shapes[side], axes.letters[side]
    strides: list[int] = np.cumprod((1, *shape[:0:-1]))[::-1].tolist()
    counted = [("rows", "matrices")] * (len(letters) - 2) + [("rows", "rows"), ("columns", "columns")]
    named_axes = [Axis(*one, stride) for one, stride in zip(counted, strides, strict=True)]
    flat = offsets_at(np.stack([held[letter] for letter in letters]), named_axes)
    named = of_strides(flat, np.stack([wanted[letter] for letter in letters]), named_axes)
    if named is not None:
        yield named


def _of_axis(
    axes: Axes, side: int, held: dict[str, Integers], wanted: dict[str, Integers], at: Integers
) -> Iterator[Named]:
    """One wrong index: off by a distance, or always the same."""
    letters = axes.letters[side]
    apart = [letter for letter in letters if (held[letter][at] != wanted[letter][at]).any()]
    if len(apart) != 1:
        return
    (letter,) = apart
    word = "column" if letter == letters[-1] else "row"
    own, other = held[letter][at], wanted[letter][at]
    distances = np.unique((own - other)[own != other])
    along_k = letter in axes.summed
    if len(distances) == 1 and along_k and not distances[0] % _TILE:
        yield Named("k-tile-mismatch", f"its k is {int(distances[0]):+d} from that of the other factor", 2)
    elif len(distances) == 1:
        yield Named(f"{word}s-shifted", f"some are shifted by {int(distances[0]):+d} along {letter}", 3)
    elif _stands_for_others([held[one][at] for one in letters], [wanted[one][at] for one in letters]):
        yield Named(f"{word}s-repeated", f"some stand for others along {letter}", 4)
    else:
        yield Named(f"{word}s-permuted", f"they are in another order along {letter}", 5)


def _stands_for_others(held: Sequence[Integers], wanted: Sequence[Integers]) -> bool:
    """Whether fewer elements are used than should be, so that some replace others."""
    return len(np.unique(np.stack(held), axis=1).T) < len(np.unique(np.stack(wanted), axis=1).T)


def _once(terms: Terms, axes: Axes, held: list[dict[str, Integers]], told: Counter[int]) -> Iterator[Broken]:
    """Every product must occur once: those that are missing from sums, or occur twice."""
    extent = 1
    key = terms.result.astype(np.int64)
    for letter in axes.summed:
        size = min(axes.extents[letter])
        key, extent = key * size + held[0][letter], extent * size
    different, times = np.unique(key, return_counts=True)
    results = len(np.unique(terms.result))
    twice = int(np.count_nonzero(times > 1))
    missing = results * extent - len(different)
    everywhere = np.ones(len(key), np.bool_)
    if twice:
        again = np.isin(key, different[times > 1])
        detail = f"{twice // results or 'some'} of {extent} k are multiplied twice into each element"
        yield Broken("once", Named("k-twice", detail), "", again, twice, results * extent)
    elif missing and (axes.stated or not is_padded(different % extent, extent, axes.kept, told)):
        detail = f"{missing // results or 'some'} of {extent} k are never multiplied"
        yield Broken("once", Named("k-missing", detail), "", everywhere, missing, results * extent, sure=axes.stated)


def ends_early(terms: Terms, axes: Axes, told: Counter[int]) -> bool:
    """Whether the last k of rows are left out, and they may be padded."""
    if axes.stated:
        return False
    key, extent = np.zeros(len(terms.result), np.int64), 1
    held = axes.indices(0, terms.factors["element"][:, 0])
    for letter in axes.summed:
        size = min(axes.extents[letter])
        key, extent = key * size + held[letter], extent * size
    return is_padded(key, extent, axes.kept, told)


def is_padded(present: Integers, extent: int, others: Sequence[int], told: Counter[int]) -> bool:
    """Whether the existing k are consecutive from 0, and rows may be padded.

    They may be if the kernel receives their length and their pitch, or not their pitch.

    Args:
        present: The existing k.
        extent: The pitch of rows.
        others: The extents of other axes: a number that the kernel receives may be one of these instead.
        told: The numbers that it receives.
    """
    found = np.unique(present)
    is_tail = len(found) < extent and bool((found == np.arange(len(found))).all())
    return is_tail and (is_told(len(found), others, told) or not told[extent])
