"""A share of a campaign: the programs of one kernel, run by all judges; a pure function of its number."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.campaigns import in_form
from ptxloom.dataclass import dataclass
from ptxloom.fuzzing.banks import BANKS, BLOCK, CELL_BYTES, CELLS
from ptxloom.fuzzing.findings import digest_of, found
from ptxloom.fuzzing.frames import frames
from ptxloom.fuzzing.generate import A_KERNEL, Shape, program
from ptxloom.fuzzing.nodes import CLUSTER
from ptxloom.fuzzing.opinions import MACHINE, Jury, Refused, frames_of
from ptxloom.fuzzing.vocabulary import vocabulary
from ptxloom.fuzzing.writer import names_of
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from ptxloom.fuzzing.frames import Frames
    from ptxloom.fuzzing.nodes import Program

_MOST_SHRUNK: Final = 2
"""The most programs of one kernel that are shrunk; other differing ones are only counted."""


_FORM: Final = {
    **dict.fromkeys(("programs", "steps", "words", "comparisons", "differ", "unread"), int),
    "refused": [str], "digest": str,
    "findings": [
        {
            **dict.fromkeys(("opinion", "suspect", "where", "given", "expected", "ptx"), str),
            "case": int, "steps": (int, int), "opinions": dict, "verified": bool,
        }
    ],
}  # fmt: skip
"""The form of `Result.record`."""


@dataclass(frozen=True, slots=True)
class Task:
    """The work of a worker.

    Attributes:
        seed: The campaign's seed.
        cases: The numbers of the programs.
        shape: The shape of programs.
        jury: The judges.
        idioms: Idioms that programs may have beyond the default.
        only: Patterns of the paths in the vocabulary; empty: all.
        tries: The most programs to try while shrinking one.
    """

    seed: int
    cases: range
    shape: Shape
    jury: Jury
    idioms: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()
    tries: int = 400

    @property
    def id(self) -> str:
        """Its identifier."""
        return f"{self.cases.start}-{self.cases.stop}"

    def programs(self) -> list[Program]:
        """The programs."""
        target, version = Target.parse(self.jury.target), PtxVersion.parse(self.jury.version)
        words = vocabulary(target, version, self.idioms, self.only)
        return [program(self.seed, case, words, self.shape) for case in self.cases]

    def given(self) -> Frames:
        """The initial frames of their threads."""
        return frames(self.seed, self.cases.start // A_KERNEL)


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of the programs of one kernel.

    Attributes:
        programs: The number of programs that the machine ran.
        steps: The number of their nodes.
        words: The number of 32-bit words compared, counted once per judge.
        comparisons: Programs times judges.
        differ: The number of programs that differ from some judge.
        unread: The number of programs that the interpreter cannot run.
        refused: The messages of judges that did not run a program.
        findings: The first programs that differ.
        digest: The digest of all results of the machine.
    """

    programs: int
    steps: int
    words: int = 0
    comparisons: int = 0
    differ: int = 0
    unread: int = 0
    refused: tuple[str, ...] = ()
    findings: tuple[dict[str, Any], ...] = field(default=())
    digest: str = ""

    def record(self) -> dict[str, Any]:
        """The result as JSON."""
        return asdict(self)


def result_of(row: dict[str, Any]) -> Result:
    """A result from its record.

    Raises:
        ValueError: It is not such a record.
    """
    in_form(_FORM)("a result", row)
    named: dict[str, Any] = row | {"refused": tuple(row["refused"]), "findings": tuple(row["findings"])}
    return Result(**named)


def done(task: Task) -> Result:
    """Run the programs of a kernel on all judges."""
    programs, given = task.programs(), task.given()
    steps = sum(one.steps for one in programs)
    ours = frames_of(MACHINE, task.jury, programs, given)
    if isinstance(ours, Refused):
        return Result(0, 0, refused=(ours.why,))
    words, comparisons, unread = 0, 0, 0
    refused: list[str] = []
    differing: dict[int, str] = {}
    for opinion in task.jury.opinions:
        for part in _parts(opinion, len(programs)):
            asked = programs[part]
            theirs = frames_of(opinion, task.jury, asked, given, programs)
            if isinstance(theirs, Refused):
                unread += len(asked) if theirs.unread else 0
                refused += [] if theirs.unread else [theirs.why]
                continue
            words += sum(map(_words, asked))
            comparisons += len(asked)
            for at in np.flatnonzero((theirs != ours[part]).any(axis=(1, 2))):
                differing.setdefault(part.start + int(at), opinion)
    findings = tuple(
        found(programs, at, opinion, jury=task.jury, given=given, tries=task.tries).record()
        for at, opinion in sorted(differing.items())[:_MOST_SHRUNK]
    )
    return Result(
        len(programs), steps, words, comparisons, len(differing), unread, tuple(refused), findings, digest_of(ours)
    )


def _parts(opinion: str, count: int) -> list[slice]:
    """The programs to run at once: an interpreter may support one program and not the next."""
    step = 1 if opinion == "interpreter" else count
    return [slice(at, at + step) for at in range(0, count, step)]


def _words(one: Program) -> int:
    """The number of words in the results of a program: banks and cells that it uses itself."""
    used = names_of(one)
    size = sum(bank.count * bank.frame_bits // 8 for bank in BANKS.values() if bank.letter in used)
    size += sum(CELL_BYTES for cell in CELLS if cell in used)
    return (CLUSTER if one.clustered else 1) * BLOCK * size // 4
