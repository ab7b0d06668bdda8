"""The tags of bytes of global memory, as native code keeps them: by words, and where that will not do by bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.machine.runtime.provenance.tag_words import SPLIT, WORD
from ptxloom.machine.runtime.structs.trail import KIND, WRITTEN

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class WordTags:
    """The tags of a piece of global memory.

    Attributes:
        heads: (words,) of each word the tag from which those of its bytes follow; `SPLIT`: they stand in `bytes`.
        bytes: (bytes,) of bytes of split words, and of those behind the last word.
    """

    heads: NDArray[np.uint64]
    bytes: NDArray[np.uint64]

    def __len__(self) -> int:
        """The bytes of the piece."""
        return len(self.bytes)

    def of_bytes(self, low: int, high: int) -> NDArray[np.uint64]:
        """The tags of the bytes from `low` to before `high`."""
        first, last = low // WORD, min(-(-high // WORD), len(self.heads))
        start = first * WORD
        result = self.bytes[start : max(high, last * WORD)].copy()
        heads = self.heads[first:last, None]
        follows = (heads != 0) & (heads & np.uint64(KIND) != np.uint64(WRITTEN))
        told = heads + follows * np.arange(WORD, dtype=np.uint64)
        words = result[: told.size].reshape(-1, WORD)
        np.copyto(words, told, where=heads != SPLIT)
        return result[low - start : high - start]

    def clear(self, start: int, size: int) -> None:
        """Treat bytes as never written."""
        end = start + size
        for word in {start // WORD, (end - 1) // WORD} if size else ():
            if word < len(self.heads) and self.heads[word] != SPLIT:
                self.bytes[word * WORD : (word + 1) * WORD] = self.of_bytes(word * WORD, (word + 1) * WORD)
                self.heads[word] = SPLIT
        self.bytes[start:end] = 0
        self.heads[-(-start // WORD) : end // WORD] = 0
