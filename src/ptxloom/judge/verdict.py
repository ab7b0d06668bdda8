"""A verdict on a kernel, as a value and as JSON with a digest of all its contents."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from ptxloom.campaigns import fits, form_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.records import Natural, Record, record, taken

if TYPE_CHECKING:
    from ptxloom.judge.hacks import Finding

SCHEMA: Final = 1


class NoVerdict(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A text is no verdict, or was changed."""


@dataclass(frozen=True, slots=True)
class Tested:
    """One case, and its outcome.

    Attributes:
        name: The shape, the seed and the kind of data.
        right: Whether every output is as near as rounding allows.
        wrong: The number of elements that are not.
        elements: The number of elements.
        instructions: Warp instructions of the call.
        output: A digest of the outputs.
    """

    name: str
    right: bool
    wrong: int
    elements: int
    instructions: int
    output: str


class JudgedFile(Record, define="judged_file"):
    """A file, and the digest of its bytes."""

    file: str
    sha256: str


class FindingRecord(Record):
    """A finding about a kernel."""

    hack: str
    refuses: bool
    sentence: str
    cases: tuple[str, ...]


class CaseRecord(Record):
    """One case, and its outcome."""

    case: str
    right: bool
    wrong: Natural
    elements: Natural
    instructions: Natural
    output: str


class VerdictRecord(Record, define="verdict"):
    """A verdict; its digest covers everything else, so the same files and seeds have the same digest."""

    schema: Literal[1]
    ptxloom: str
    passed: bool
    hacks: tuple[str, ...]
    kernel: JudgedFile
    reference: JudgedFile
    seeds: tuple[int, ...]
    findings: tuple[FindingRecord, ...]
    cases: tuple[CaseRecord, ...]
    not_judged: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on a kernel.

    Attributes:
        kernel: The file.
        kernel_digest: The SHA-256 of its bytes.
        reference: The reference's file.
        reference_digest: Likewise.
        seeds: The seeds of its inputs.
        version: The version of ptxloom.
        cases: The cases that were tried.
        findings: The findings about it.
        not_judged: What could not be judged, in sentences.
    """

    kernel: str
    kernel_digest: str
    reference: str
    reference_digest: str
    seeds: tuple[int, ...]
    version: str = ""
    cases: tuple[Tested, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is no finding that rejects the kernel."""
        return bool(self.cases) and not any(one.refuses for one in self.findings)

    @property
    def hacks(self) -> tuple[str, ...]:
        """The names of the findings that reject it, each once."""
        return tuple(dict.fromkeys(one.hack for one in self.findings if one.refuses))

    def as_data(self) -> dict[str, Any]:
        """The verdict as JSON."""
        made = taken(
            VerdictRecord,
            self,
            schema=SCHEMA,
            ptxloom=self.version,
            kernel=JudgedFile(file=self.kernel, sha256=self.kernel_digest),
            reference=JudgedFile(file=self.reference, sha256=self.reference_digest),
            findings=tuple(taken(FindingRecord, one) for one in self.findings),
            cases=tuple(taken(CaseRecord, one, case=one.name) for one in self.cases),
            digest="",
        )
        said = cast("dict[str, Any]", record(made))
        return {**said, "digest": digest_of(said)}


def digest_of(said: dict[str, Any]) -> str:
    """The digest of a verdict's data, without their own digest."""
    rest = {name: value for name, value in said.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_verdict(text: str) -> dict[str, Any]:
    """Read the data of a verdict.

    Raises:
        NoVerdict: The text is something else, or its digest does not match its contents.
    """
    try:
        return verdict_in(json.loads(text))
    except (ValueError, RecursionError):
        raise NoVerdict("this is not a verdict of `ptxloom judge --output-format json`") from None


def verdict_in(said: object) -> dict[str, Any]:
    """Read the data of a verdict.

    Raises:
        ValueError: They are other data.
        NoVerdict: Their digest does not match them.
    """
    found = cast("dict[str, Any]", said)
    if not isinstance(said, dict) or "digest" not in found:
        raise ValueError("no verdict")
    if digest_of(found) != found["digest"]:
        raise NoVerdict("the verdict was changed: its digest does not match its contents")
    if not fits(found, form_of(VerdictRecord)):
        raise ValueError("no verdict")
    return found
