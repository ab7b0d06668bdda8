"""The findings of many texts: verdicts are cached on disk, and new ones are computed on all cores."""

from __future__ import annotations

import os
import warnings
from base64 import b64decode, b64encode
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ptxloom import __version__, own_python
from ptxloom.campaigns import Killed, Share
from ptxloom.checker.findings.packing import unpacked
from ptxloom.checker.verdicts import Question, kept, verdict
from ptxloom.cli.results.progress import counted
from ptxloom.cli.spreading import carried_on, shards_of
from ptxloom.diagnostics import DistrustWarning, PtxloomError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnostics import Diagnostic

_WORTH_A_PROCESS: Final = 200_000
"""The number of characters that take as long to judge as a process takes to start."""


def findings(
    questions: Sequence[Question], jobs: int | None = None, campaign: Options | None = None
) -> list[tuple[Diagnostic, ...]]:
    """The findings of each text, in the order of the texts.

    Args:
        questions: The texts to judge.
        jobs: The number of processes; by default as many as there are cores and enough work for.
        campaign: The workers that share the work instead, and where verdicts are kept, if options select them.

    Raises:
        PtxloomError: A process was ended from outside.
    """
    if campaign is not None and (campaign.scheduler is not None or campaign.campaign is not None):
        return _spread(questions, campaign)
    known = [kept(one) for one in questions]
    made = iter(_made([one for one, found in zip(questions, known, strict=True) if found is None], jobs))
    verdicts = [next(made) if found is None else found for found in known]
    return [unpacked(found, one.source) for one, found in zip(questions, verdicts, strict=True)]


def _made(asked: Sequence[Question], jobs: int | None) -> list[bytes]:
    """Compute the verdicts on texts without a cached one."""
    if jobs is None:
        jobs = min(_cores(), 1 + sum(len(one.source.text) for one in asked) // _WORTH_A_PROCESS)
    jobs = min(jobs, len(asked))
    if jobs <= 1:
        return [verdict(one) for one in counted(asked, len(asked), "files judged")]
    from ptxloom.checker import walk  # noqa: PLC0415 - once, before there are several processes

    del walk
    try:
        with own_python.safe_path(), ProcessPoolExecutor(jobs, initializer=_hush) as pool:
            return list(counted(pool.map(verdict, asked), len(asked), "files judged"))
    except BrokenProcessPool:
        raise PtxloomError("a process that judged some of the files was ended from outside") from None


def _spread(questions: Sequence[Question], campaign: Options) -> list[tuple[Diagnostic, ...]]:
    """The findings of a campaign: those in its folder, then those of its workers, which the folder keeps.

    Raises:
        PtxloomError: Some texts ended the workers that judged them; all others are judged and kept.
    """
    shares = {one.key: Share(one.key, one) for one in questions}
    shards = shards_of(campaign, {"verb": "check", "ptxloom": __version__})
    with closing(shards) if shards is not None else nullcontext():
        found = dict(
            carried_on(
                _kept_verdict, list(shares.values()), campaign, shards, "files judged", read=partial(_read, shares)
            )
        )
    died = [one.source.name for one in questions if isinstance(found[one.key], Killed)]
    if died:
        raise PtxloomError(f"the worker that judged {died[0]} died; {len(died):,} of {len(questions):,} files did so")
    verdicts = {key: one for key, one in found.items() if not isinstance(one, Killed)}
    return [unpacked(b64decode(verdicts[one.key]), one.source) for one in questions]


def _kept_verdict(question: Question) -> str:
    """The verdict on a text as a line of a campaign keeps it."""
    known = kept(question)
    return b64encode(verdict(question) if known is None else known).decode()


def _read(shares: dict[str, Share[Question]], key: str, said: Any) -> str:
    """Read a verdict in a campaign's folder; raises ValueError, among others, if it is not a verdict on this text."""
    unpacked(b64decode(said, validate=True), shares[key].payload.source)
    return said


def _hush() -> None:
    """Ignore these warnings here: the first process shows them."""
    warnings.simplefilter("ignore", DistrustWarning)


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
