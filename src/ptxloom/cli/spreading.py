"""Which workers share a campaign of the command line, and where its results are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ptxloom.campaigns import Killed, Shards, carried_out, of_cluster, of_mpi, of_processes
from ptxloom.cli.results.progress import counted
from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.campaigns import Share, Workers
    from ptxloom.cli.command_line import Options

P = TypeVar("P")
R = TypeVar("R")


class NoCluster(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """No cluster scheduler responds at its address."""


def workers_of(options: Options) -> Workers:
    """The workers that the options name: this machine's cores by default.

    Raises:
        PtxloomError: The cluster is not there, or Dask is not.
    """
    if options.scheduler is None:
        return of_processes(options.jobs or os.cpu_count() or 1)
    if options.scheduler == "mpi":
        return of_mpi()
    try:
        return of_cluster(options.scheduler)
    except (OSError, ValueError) as error:
        raise NoCluster(f"no scheduler answers at {options.scheduler}: {error}") from None


def shards_of(options: Options, campaign: dict[str, Any]) -> Shards | None:
    """Where results are kept, if anywhere.

    Raises:
        PtxloomError: The folder cannot be used, or holds another campaign.
    """
    if options.campaign is None:
        return None
    try:
        return Shards(Path(options.campaign), campaign)
    except OSError as error:
        raise PtxloomError(f"{options.campaign} cannot hold a campaign: {error.strerror}") from None


def carried_on(
    work: Callable[[P], R],
    shares: Sequence[Share[P]],
    options: Options,
    shards: Shards | None,
    done: str,
    *,
    read: Callable[[str, Any], R],
) -> Iterator[tuple[str, R | Killed]]:
    """Yield the results of shares with their ids: the kept ones, then the others as they come, which are kept too.

    Args:
        work: A function of a module; what it returns is kept as JSON.
        shares: The shares of work.
        options: The options that select workers.
        shards: Where results are kept, if anywhere.
        done: What the count on a terminal means, such as "kernels judged".
        read: Makes a result from its id and what the folder holds; raises as described at `Shards.done` if it is not a
            result.
    """
    kept = {} if shards is None else shards.done(read)
    known = [one for one in shares if one.id in kept]
    yield from ((one.id, kept[one.id]) for one in known)
    rest = [one for one in shares if one.id not in kept]
    if not rest:
        return
    for share, result in counted(carried_out(work, rest, workers_of(options)), len(rest), done):
        if shards is not None and not isinstance(result, Killed):
            shards.append(share.id, result)
        yield share.id, result
