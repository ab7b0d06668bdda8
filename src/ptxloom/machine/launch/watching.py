"""Watchers of launches: they add tools to a launch, and see its result."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ptxloom.machine.launch.asked import Launchable
    from ptxloom.machine.results.outcome import LaunchResult


@dataclass(frozen=True, slots=True)
class Watch:
    """A watcher of launches.

    Attributes:
        checks: The tools that watch every launch, besides those that it asks for.
        tell: Called with the kernel's name and the result of each launch that ended well.
        provenance: Whether launches follow where bytes come from.
        may: Called with the kernel before a launch; returns whether it runs. A launch that does not run is over at
            once. By default all run.
    """

    checks: tuple[str, ...]
    tell: Callable[[str, LaunchResult], object]
    provenance: bool = False
    may: Callable[[Launchable], bool] | None = None


_WATCHES: Final[list[Watch]] = []


@contextmanager
def watching(
    checks: Sequence[str],
    tell: Callable[[str, LaunchResult], object],
    *,
    provenance: bool = False,
    may: Callable[[Launchable], bool] | None = None,
) -> Generator[None]:
    """Watch all launches of this process meanwhile.

    Args:
        checks: As in `Kernel.launch`, already checked.
        tell: As of `Watch`.
        provenance: Likewise.
        may: Likewise.

    Yields:
        Nothing.
    """
    watch = Watch(tuple(checks), tell, provenance, may)
    _WATCHES.append(watch)
    try:
        yield
    finally:
        _WATCHES.remove(watch)


def watch_always(checks: Sequence[str], tell: Callable[[str, LaunchResult], object]) -> None:
    """Watch all launches of this process from now on, and follow where bytes come from.

    Args:
        checks: As of `watching`.
        tell: Likewise.
    """
    _WATCHES.append(Watch(tuple(checks), tell, provenance=True))


def present() -> tuple[Watch, ...]:
    """All watchers: what was determined about launches holds as long as they stay the same."""
    return tuple(_WATCHES)


def watched_checks() -> tuple[str, ...]:
    """The tools of all watchers."""
    return tuple(check for watch in _WATCHES for check in watch.checks) if _WATCHES else ()


def watched_provenance() -> bool:
    """Whether a watcher wants to know where bytes come from."""
    return bool(_WATCHES) and any(watch.provenance for watch in _WATCHES)


def may_run(kernel: Launchable) -> bool:
    """Whether all watchers let a kernel run."""
    return not _WATCHES or all(watch.may is None or watch.may(kernel) for watch in tuple(_WATCHES))


def tell(kernel: str, result: LaunchResult) -> LaunchResult:
    """Report a result to all watchers, and return it."""
    for watch in tuple(_WATCHES):
        watch.tell(kernel, result)
    return result
