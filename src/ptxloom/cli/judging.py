"""What is wrong with many texts: verdicts are kept on disk, and what has to be made is made on every core."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from ptxloom import disk_cache, own_python
from ptxloom.checker.findings.packing import packed, unpacked
from ptxloom.cli.progress import counted
from ptxloom.diagnostics import DistrustWarning, PtxloomError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.source import Source

_WORTH_A_PROCESS: Final = 200_000
"""Characters that take as long to judge as a process takes to start."""


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and for whom it is judged.

    Attributes:
        source: The text.
        target: Instead of the text's own.
        ptx_version: Instead of the text's own.
        hints: Whether rules speak that do so only when they are asked.
    """

    source: Source
    target: str | None = None
    ptx_version: str | None = None
    hints: bool = False

    @property
    def key(self) -> str:
        """What the verdict depends on, beside ptxloom itself; a text is judged alike under any name."""
        text = sha256(self.source.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"check {text} {self.target} {self.ptx_version} {self.hints}"


def findings(questions: Sequence[Question], jobs: int | None = None) -> list[tuple[Diagnostic, ...]]:
    """The findings of each text, in the order of the texts.

    Args:
        questions: What is asked.
        jobs: How many processes judge; by default as many as there are cores and work for.

    Raises:
        PtxloomError: A process was ended from outside.
    """
    kept = [disk_cache.kept(one.key) for one in questions]
    asked = [one for one, verdict in zip(questions, kept, strict=True) if verdict is None]
    made = iter(_made(asked, jobs))
    verdicts = [next(made) if verdict is None else verdict for verdict in kept]
    return [unpacked(verdict, one.source) for one, verdict in zip(questions, verdicts, strict=True)]


def _made(asked: Sequence[Question], jobs: int | None) -> list[bytes]:
    """The verdicts on texts that nothing is known of."""
    if jobs is None:
        jobs = min(_cores(), 1 + sum(len(one.source.text) for one in asked) // _WORTH_A_PROCESS)
    jobs = min(jobs, len(asked))
    if jobs <= 1:
        return [_verdict(one) for one in counted(asked, len(asked), "files judged")]
    from ptxloom.checker import walk  # noqa: PLC0415 - once, before there are several processes

    del walk
    try:
        with own_python.safe_path(), ProcessPoolExecutor(jobs, initializer=_hush) as pool:
            return list(counted(pool.map(_verdict, asked), len(asked), "files judged"))
    except BrokenProcessPool:
        raise PtxloomError("a process that judged some of the files was ended from outside") from None


def _hush() -> None:
    """Leave it to the first process to say what is not believed."""
    warnings.simplefilter("ignore", DistrustWarning)


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _verdict(question: Question) -> bytes:
    """Judge one text, and keep what comes of it."""
    from ptxloom.checker import check  # noqa: PLC0415 - kept verdicts need no rules
    from ptxloom.syntax.parser import parse_source  # noqa: PLC0415 - nor a parser

    source = question.source
    module = parse_source(source)
    found = check(module, target=question.target, ptx_version=question.ptx_version, hints=question.hints)
    data = packed(found)
    disk_cache.keep(question.key, data)
    return data
