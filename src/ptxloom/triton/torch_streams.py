"""The streams of `torch.cuda` without a GPU: all work is done when a call returns."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

import torch as _torch

from ptxloom.triton import clock, recorded

if TYPE_CHECKING:
    from collections.abc import Generator

# untyped: PyTorch is not a dependency
torch: Any = _torch

_CUDA: Final = torch.device("cuda", 0)
_numbers: Final = count(1)


class Stream:
    """A stream, whose work is done when a call returns."""

    device = _CUDA
    device_index = 0
    priority = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.cuda_stream = self.stream_id = next(_numbers)

    def synchronize(self, *_: Any) -> None:
        """Do nothing: its work is done."""

    wait_stream = wait_event = synchronize

    def record_event(self, event: clock.Event | None = None) -> clock.Event:
        """Record an event now."""
        made = event or clock.Event()
        made.record()
        return made

    def query(self) -> bool:
        """Whether its work is done."""
        return True

    def is_capturing(self) -> bool:
        """Whether its work becomes part of a graph."""
        return recorded.is_on()

    def __enter__(self) -> Self:
        """Make it the current stream, as `torch.cuda.stream` does."""
        self._before, _now["stream"] = _now["stream"], self
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous stream."""
        _now["stream"] = self._before


def _made_default() -> Stream:
    made = Stream()
    made.cuda_stream = made.stream_id = 0
    return made


DEFAULT: Final = _made_default()
_now: Final = {"stream": DEFAULT}


def entered(stream: Stream | None) -> Any:
    """`with torch.cuda.stream(stream):`; None changes nothing."""
    return nullcontext() if stream is None else stream


def set_current(stream: Stream) -> None:
    """Make a stream the current one."""
    _now["stream"] = stream


def current(*_: object, **__: object) -> Stream:
    """The current stream."""
    return _now["stream"]


class DeviceGuard(nullcontext[None]):
    """`with torch.cuda.device(0):`, which changes nothing, as there is only one."""

    def __init__(self, device: object = None) -> None:
        super().__init__()
        self.idx = device


class DeviceOf(DeviceGuard):
    """A guard for a tensor's device."""


@contextmanager
def nvtx_range(*_: object, **__: object) -> Generator[None]:
    """A range that is not recorded."""
    yield
