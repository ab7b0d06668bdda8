"""Near misses: the known words that a mistyped or foreign one probably stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CALLED: Final = {
    "t": "trans", "half": "f16", "float16": "f16", "fp16": "f16", "bfloat16": "bf16", "float": "f32", "float32": "f32",
    "fp32": "f32", "double": "f64", "float64": "f64", "fp64": "f64", "tfloat32": "tf32", "int8": "s8", "int16": "s16",
    "int32": "s32", "int": "s32", "int64": "s64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
"""The words of CUDA, CuTe, NumPy and BLAS for some qualifiers."""

_LONGEST = 64  # a longer word is not a typing error; this bounds the work


def near_misses(word: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """The known words within a third of the word's length in edits, the nearest first, then by common prefix.

    Example:
        >>> near_misses("m8n9", ["m8n8", "m16n16", "x4"])
        ('m8n8',)
    """
    if len(word) > _LONGEST:
        return ()
    reach = max(1, len(word) // 3)
    ranked = [
        (distance, -_alike(word, other), place, other)
        for place, other in enumerate(known)
        if abs(len(word) - len(other)) <= reach and (distance := edits(word, other)) <= reach and distance < len(word)
    ]
    return tuple(other for *_, other in sorted(ranked)[:limit])


def edits(first: str, second: str) -> int:
    """The number of insertions, deletions, replacements and swaps of neighbours between two words."""
    before: list[int] = []
    above = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        row = [i]
        for j, other in enumerate(second, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def _alike(first: str, second: str) -> int:
    """The length of two words' common prefix."""
    return next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
