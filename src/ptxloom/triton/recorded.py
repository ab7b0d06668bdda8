"""The steps of a captured CUDA graph, for its replay: launches, and calls of PyTorch's operators."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Step = Callable[[], None]

_captured: Final[list[list[Step]]] = []  # one list, while a graph is captured


def is_on() -> bool:
    """Whether a graph is being captured."""
    return bool(_captured)


def begin() -> None:
    """Start recording steps."""
    _captured.append([])


def end() -> list[Step]:
    """Stop recording.

    Returns:
        The steps since `begin`.
    """
    return _captured.pop()


def note(step: Step) -> None:
    """Record a step, if a graph is being captured."""
    if _captured:
        _captured[-1].append(step)


def count() -> int:
    """The number of recorded steps."""
    return len(_captured[-1]) if _captured else 0


def drop_since(number: int) -> None:
    """Drop the steps since a number: the host performs them only once."""
    if _captured:
        del _captured[-1][number:]


@contextmanager
def aside() -> Generator[None]:
    """Record no steps in this context."""
    number = count()
    try:
        yield
    finally:
        drop_since(number)
