"""Lanes and lines in words."""

from __future__ import annotations


def lanes_text(lanes: tuple[int, ...]) -> str:
    """`lane 3`, or `lanes 0-3, 7`.

    Example:
        >>> lanes_text((0, 1, 2, 3, 7)), lanes_text((3,))
        ('lanes 0-3, 7', 'lane 3')
    """
    return f"lane{'s' if len(lanes) != 1 else ''} {ranges(lanes)}"


def ranges(numbers: tuple[int, ...]) -> str:
    """`0-3, 7` for (0, 1, 2, 3, 7)."""
    parts: list[str] = []
    start = None
    for at, number in enumerate(numbers):
        if start is None:
            start = number
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            parts.append(str(number) if number == start else f"{start}-{number}")
            start = None
    return ", ".join(parts)


def lanes_of(mask: int) -> tuple[int, ...]:
    """The lanes of a mask, in order."""
    return tuple(lane for lane in range(32) if mask >> lane & 1)
