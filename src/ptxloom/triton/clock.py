"""The modelled clock: the time that `do_bench` and `autotune` read instead of a GPU's.

A launch takes the cost of its profile (`Counts.cost`): a cycle for each warp instruction issued, one for each wavefront
of shared memory, one for four sectors of global memory, shared by the multiprocessors at one gigahertz. That ranks
configurations by work and bank conflicts; it does not predict a GPU's time. An event takes half a microsecond, the
resolution of CUDA's events; so does a run that launches nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CLEARING_MS: Final = 100.0
_CYCLES_A_MS: Final = 1e6
_EVENT_MS: Final = 0.0005

_now: Final = {"ms": 0.0, "watched": 0.0}


def advance(milliseconds: float) -> None:
    """Let time pass."""
    _now["ms"] += milliseconds


def is_watched() -> bool:
    """Whether a measurement is running, so that launches must be profiled."""
    return bool(_now["watched"])


def launched(cost: float) -> None:
    """Record a launch of `cost` cycles."""
    from ptxloom.machine.port.prepare import multiprocessors  # noqa: PLC0415 - it takes NumPy, `import triton` does not

    advance(cost / multiprocessors() / _CYCLES_A_MS)


class Event:
    """A moment by the modelled clock, as `torch.cuda.Event`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.at = 0.0

    def record(self, *_: Any) -> None:
        """Set it to now. From here on launches are profiled, until a difference is read."""
        advance(_EVENT_MS)
        self.at = _now["ms"]
        _now["watched"] = 1.0

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this moment to another."""
        _now["watched"] = 0.0
        return end.at - self.at

    def synchronize(self) -> None:
        """Launches are over when they return."""

    wait = synchronize

    def query(self) -> bool:
        """Whether it has passed."""
        return True


class DeviceInterface:
    """The part of `torch.cuda` that benchmarks use."""

    Event = Event

    @staticmethod
    def synchronize(*_: Any) -> None:
        """Launches are over when they return."""

    @staticmethod
    def current_device() -> int:
        """The number of the only device."""
        return 0


def benchmarker() -> Callable[..., Any]:
    """The benchmark function of `triton.autotune`: Triton's own, which reads the modelled clock.

    If `PTXLOOM_AUTOTUNE` is `first`, all take the same time, so that the first is chosen and no other is compiled.

    Raises:
        UsageError: `PTXLOOM_AUTOTUNE` is something else.
    """
    from triton.testing import do_bench  # noqa: PLC0415 - which imports who imports this

    match os.environ.get("PTXLOOM_AUTOTUNE") or "all":
        case "all":
            return do_bench
        case "first":
            return _untried
        case other:
            raise UsageError("PTXLOOM_AUTOTUNE", other, "all or first")


def _untried(_fn: Callable[[], Any], *, quantiles: Sequence[float], **_: Any) -> list[float]:
    return [_EVENT_MS] * len(quantiles)


def benchmark_graphs() -> None:
    """Measure graphs like plain launches: on this clock no time passes between launches, and one shows the time."""
    from triton import testing  # noqa: PLC0415 - which imports who imports this

    def do_bench_cudagraph(fn: Callable[[], Any], rep: int = 20, **how: Any) -> Any:
        return testing.do_bench(fn, rep=rep, **how)

    testing.do_bench_cudagraph = do_bench_cudagraph
