"""Over whom a campaign of the command line is spread, and where its results lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom.campaigns import Shards, of_cluster, of_processes
from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from ptxloom.campaigns import Workers
    from ptxloom.cli.command_line import Options


class NoCluster(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """Nobody answers where a cluster's scheduler should be."""


def workers_of(options: Options) -> Workers:
    """The workers that the options name: this machine's cores by default.

    Raises:
        PtxloomError: The cluster is not there, or Dask is not.
    """
    if options.scheduler is None:
        return of_processes(options.jobs or os.cpu_count() or 1)
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
