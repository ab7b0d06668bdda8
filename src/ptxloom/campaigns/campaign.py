"""A campaign: shares with ids, each a pure function's argument, carried out in any order, each counted once.

A worker that dies loses its share, and in a pool of processes also the shares of all others. These shares are done
again one at a time; only a share that then kills its worker is reported as `Killed`.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from ptxloom.campaigns.executors import Workers

P = TypeVar("P")
R = TypeVar("R")

_AHEAD: Final = 2
"""Shares that a worker has waiting."""


@dataclass(frozen=True, slots=True)
class Share(Generic[P]):
    """A part of a campaign.

    Attributes:
        id: Its name, in this campaign and in those that continue it.
        payload: The argument of the work.
    """

    id: str
    payload: P


@dataclass(frozen=True, slots=True)
class Killed:
    """A share that took its worker along, alone: memory, a signal."""

    why: str


def carried_out(
    work: Callable[[P], R], shares: Iterable[Share[P]], workers: Workers
) -> Iterator[tuple[Share[P], R | Killed]]:
    """The results of shares, as they come.

    Args:
        work: A function of a module, so that other processes find it. Its exceptions are raised here.
        shares: The shares; taken no faster than they are done.
        workers: The workers.
    """
    waiting = iter(shares)
    suspects: deque[Share[P]] = deque()
    executor = workers.make()
    try:
        while True:
            yield from _together(work, waiting, executor, workers, suspects)
            if not suspects:
                return
            while suspects:
                executor = _whole(executor, workers)
                share = suspects.popleft()
                yield share, _alone(work, share, executor, workers)
            executor = _whole(executor, workers)
    finally:
        workers.end(executor)


def _whole(executor: Executor, workers: Workers) -> Executor:
    """An executor none of whose workers died."""
    if workers.lasts:
        return executor
    workers.end(executor)
    return workers.make()


def _together(
    work: Callable[[P], R],
    waiting: Iterator[Share[P]],
    executor: Executor,
    workers: Workers,
    suspects: deque[Share[P]],
) -> Iterator[tuple[Share[P], R]]:
    """Results until all is done, or a worker died: then what was under way are suspects."""
    under_way: dict[Future[R], Share[P]] = {}
    exhausted = False
    while True:
        while not exhausted and not suspects and len(under_way) < _AHEAD * workers.count:
            share = next(waiting, None)
            if share is None:
                exhausted = True
                break
            try:
                under_way[executor.submit(work, share.payload)] = share
            except workers.broken:
                suspects.append(share)
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            share = under_way.pop(future)
            try:
                result = future.result()
            except workers.broken:
                suspects.append(share)
                continue
            yield share, result


def _alone(work: Callable[[P], R], share: Share[P], executor: Executor, workers: Workers) -> R | Killed:
    try:
        return executor.submit(work, share.payload).result()
    except workers.broken as error:
        return Killed(_words(error))


def _words(error: BaseException) -> str:
    """The first sentence of an executor's message about a worker's death."""
    said: Any = str(error).partition("\n")[0]
    return said or type(error).__name__
