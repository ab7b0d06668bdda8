"""The tags of global memory by words give each byte the tag that it would have alone."""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np

from ptxloom.machine.results.word_tags import WordTags
from ptxloom.machine.runtime.provenance.tag_words import SPLIT, WORD
from ptxloom.machine.runtime.structs.trail import COMPUTED, EXACT, TWICE, WRITTEN

SIZES: Final = (1, 3, 4, 7, 64, 101)


def _drawn(chance: Random, size: int) -> tuple[WordTags, list[int]]:
    """Tags of a number of bytes, and those of each byte."""
    words = WordTags(
        np.zeros(size // WORD, np.uint64), np.array([chance.randrange(99) for _ in range(size)], np.uint64)
    )
    wanted = [int(tag) for tag in words.bytes]
    for word in range(size // WORD):
        place = EXACT | chance.randrange(1000)
        head = chance.choice([0, WRITTEN, WRITTEN | TWICE, place, COMPUTED | 8 | TWICE, SPLIT])
        words.heads[word] = head
        if head != SPLIT:
            step = head not in {0, WRITTEN, WRITTEN | TWICE}
            wanted[word * WORD : (word + 1) * WORD] = [head + n * step for n in range(WORD)]
    return words, wanted


def test_any_stretch_has_the_tags_of_its_bytes() -> None:
    chance = Random(1)
    for size in SIZES * 20:
        words, wanted = _drawn(chance, size)
        low = chance.randrange(size)
        high = chance.randint(low, size)
        assert words.of_bytes(low, high).tolist() == wanted[low:high]


def test_bytes_that_are_cleared_are_as_never_written_and_others_stay() -> None:
    chance = Random(2)
    for size in SIZES * 20:
        words, wanted = _drawn(chance, size)
        start = chance.randrange(size)
        count = chance.randint(0, size - start)
        words.clear(start, count)
        assert words.of_bytes(0, size).tolist() == [*wanted[:start], *[0] * count, *wanted[start + count :]]
