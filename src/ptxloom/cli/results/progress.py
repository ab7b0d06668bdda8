"""The progress of a long search through many files: a line on the terminal that disappears at the end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")

_MANY: Final = 100
"""With fewer items, no progress is shown."""
_STEP: Final = 20


def counted(items: Iterable[T], total: int, done: str) -> Iterator[T]:
    """Items in turn; with many items, and standard error on a terminal, it shows how many are done.

    Args:
        items: The items.
        total: The number of items.
        done: The noun for the count, such as "files read".
    """
    stream: TextIO | None = sys.stderr
    if stream is None or total < _MANY or not stream.isatty():
        yield from items
        return
    try:
        for number, item in enumerate(items):
            if number % _STEP == 0:
                stream.write(f"\r{number:,} of {total:,} {done}\x1b[K")
                stream.flush()
            yield item
    finally:
        stream.write("\r\x1b[K")
        stream.flush()
