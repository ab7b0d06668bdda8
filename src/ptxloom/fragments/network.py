"""A rearrangement of elements between 16-byte vectors, in as few interleavings as its digits allow.

Both sides of a matrix move are vectors of 16 bytes: addressed rows on one, neighbouring registers of a warp on the
other. On each side the digits of a fragment give the vector of an element and its place there. Interleaving two vectors
that differ in one digit brings that digit inside, as the lowest, and puts the highest inner digit outside. So the inner
digits of the target are brought in one after the other, except the first of them that are inside already. If necessary,
each vector is first reordered so that those stay, and those that are brought in later leave in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.fragments.model import Digit

    Vectors = Mapping[frozenset[Digit], str]  # the outer digits that are 1 -> the vector's name


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a rearrangement.

    Attributes:
        outer: The digits of the vector's number, highest first.
        inner: The digits of the place in it, highest first.
    """

    outer: tuple[Digit, ...]
    inner: tuple[Digit, ...]

    def vectors(self) -> Iterator[tuple[int, frozenset[Digit]]]:
        """Each vector's number and the outer digits that are 1 for it."""
        for number in range(1 << len(self.outer)):
            ones = (digit for place, digit in enumerate(reversed(self.outer)) if number >> place & 1)
            yield number, frozenset(ones)


def rearrange(source: Vectors, start: Side, target: Side, element: str) -> tuple[list[str], Vectors]:
    """The LLVM instructions that take the vectors of one side to those of the other.

    Args:
        source: The vectors at the start.
        start: Their composition.
        target: The required composition.
        element: The LLVM type of an element.

    Returns:
        The instructions, and the vectors of the target.
    """
    vectors = dict(source)
    inner = _favourable(start.inner, target.inner)
    lines: list[str] = []
    if inner != start.inner:
        for number, ones in enumerate(sorted(vectors, key=_ordered)):
            lines.append(_reordered(f"%m{number}", vectors[ones], start.inner, inner, element))
            vectors[ones] = f"%m{number}"
    kept = next(k for k in range(len(inner), -1, -1) if inner[len(inner) - k :] == target.inner[:k])
    for step, digit in enumerate(target.inner[kept:]):
        leaving, inner = inner[0], (*inner[1:], digit)
        following: dict[frozenset[Digit], str] = {}
        for number, ones in enumerate(sorted((key for key in vectors if digit not in key), key=_ordered)):
            pair = vectors[ones], vectors[ones | {digit}]
            for half, key in enumerate((ones, ones | {leaving})):
                name = f"%n{step}.{number}.{half}"
                lines.append(_interleaved(name, pair, half, len(inner), element))
                following[key] = name
        vectors = following
    return lines, vectors


def _favourable(inner: tuple[Digit, ...], wanted: tuple[Digit, ...]) -> tuple[Digit, ...]:
    """The initial order of the inner digits: those that leave and return, that leave for good, that stay."""
    stays = next(wanted[:k] for k in range(len(wanted), -1, -1) if set(wanted[:k]) <= set(inner))
    returns = tuple(digit for digit in wanted[len(stays) :] if digit in inner)
    leaves = tuple(digit for digit in inner if digit not in wanted)
    return (*returns, *leaves, *stays)


def _ordered(ones: frozenset[Digit]) -> list[Digit]:
    """A key that makes the order of vectors the same in every run."""
    return sorted(ones)


def _interleaved(name: str, pair: tuple[str, str], half: int, digits: int, element: str) -> str:
    """The low (0) or high (1) halves of two vectors, element by element in turn."""
    count = 1 << digits
    first = half * count // 2
    mask = ", ".join(f"i32 {place}, i32 {place + count}" for place in range(first, first + count // 2))
    shape = f"<{count} x {element}>"
    return f"  {name} = shufflevector {shape} {pair[0]}, {shape} {pair[1]}, <{count} x i32> <{mask}>"


def _reordered(name: str, vector: str, old: tuple[Digit, ...], new: tuple[Digit, ...], element: str) -> str:
    """One vector with its inner digits in another order."""
    count = 1 << len(old)
    weight = {digit: 1 << place for place, digit in enumerate(reversed(old))}
    picks = [sum(weight[digit] for i, digit in enumerate(reversed(new)) if place >> i & 1) for place in range(count)]
    mask = ", ".join(f"i32 {pick}" for pick in picks)
    shape = f"<{count} x {element}>"
    return f"  {name} = shufflevector {shape} {vector}, {shape} poison, <{count} x i32> <{mask}>"
