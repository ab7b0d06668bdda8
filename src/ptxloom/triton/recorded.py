"""What is done while a CUDA graph is captured, to be done again: launches, and calls of PyTorch's operators."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Step = Callable[[], None]

_captured: Final[list[list[Step]]] = []  # one list, while a graph is captured


def is_on() -> bool:
    """Whether a graph is captured."""
    return bool(_captured)


def begin() -> None:
    """Keep steps from now on."""
    _captured.append([])


def end() -> list[Step]:
    """Keep no more of them.

    Returns:
        The steps since `begin`.
    """
    return _captured.pop()


def note(step: Step) -> None:
    """Keep a step, if a graph is captured."""
    if _captured:
        _captured[-1].append(step)


def count() -> int:
    """How many steps have been kept."""
    return len(_captured[-1]) if _captured else 0


def drop_since(number: int) -> None:
    """Drop steps: the host's, which does them once."""
    if _captured:
        del _captured[-1][number:]


@contextmanager
def aside() -> Generator[None]:
    """What is done in this context is not a step."""
    number = count()
    try:
        yield
    finally:
        drop_since(number)
