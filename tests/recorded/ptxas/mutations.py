"""The recording of ptxas's verdicts on mutated instructions, and how ours compare."""

from __future__ import annotations

import lzma
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse
from recorded.ptxas.mutation_cases import FIRST_LINE, module_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FILE = Path(__file__).parent / "mutations.tsv.xz"
PLATFORMS = ("9.5 sm_100a", "9.5 sm_90a", "9.0 sm_120a", "8.8 sm_103", "7.8 sm_90", "7.0 sm_80", "6.3 sm_75")
_BATCH = 500
_OPCODE = re.compile(r"(?:@\S+\s+)?(\w+)")


@dataclass(frozen=True, slots=True)
class Case:
    """A statement on a platform, and what ptxas says.

    Attributes:
        platform: The PTX version and target.
        kind: What was done to the statement.
        text: The statement.
        rejected: Whether ptxas rejects it.
        line: How many lines further down ptxas reports it.
        message: What it says.
    """

    platform: str
    kind: str
    text: str
    rejected: bool
    line: int = 0
    message: str = ""  # not recorded

    @property
    def opcode(self) -> str:
        """The opcode."""
        found = _OPCODE.match(self.text)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and what we say about it.

    Attributes:
        case: The case.
        ours: The rules that we reject it by; empty if we accept it.
        line: How many lines further down our error stands: of several, one on a right line, or the first.
    """

    case: Case
    ours: str
    line: int = 0

    @property
    def differs(self) -> bool:
        """Whether we judge it otherwise than ptxas."""
        return self.case.rejected != bool(self.ours)

    @property
    def right_line(self) -> bool:
        """Whether our error stands on the mutated line, or on the one that ptxas names."""
        return self.line in {0, self.case.line}

    def __str__(self) -> str:
        said = f"ptxas: {self.case.message or 'rejected'}" if self.case.rejected else "ptxas: accepted"
        return f"{self.case.platform}: {self.case.text} // {said}; {self.ours or 'accepted'} ({self.case.kind})"


@dataclass(frozen=True, slots=True)
class Recording:
    """What one ptxas said."""

    ptxas: str
    cases: tuple[Case, ...]

    def save(self) -> None:
        """Write the recording."""
        lines = [self.ptxas]
        lines += [
            "\t".join((each.platform, each.kind, str(int(each.rejected)), str(each.line), each.text))
            for each in self.cases
        ]
        _FILE.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))

    @staticmethod
    def load() -> Recording:
        """The recording."""
        ptxas, *lines = lzma.decompress(_FILE.read_bytes()).decode().split("\n")
        rows = (line.split("\t", 4) for line in lines)
        return Recording(ptxas, tuple(Case(row[0], row[1], row[4], row[2] == "1", int(row[3])) for row in rows))


def verdicts(cases: Iterable[Case]) -> list[Judged]:
    """Our verdict on each case."""
    found: list[Judged] = []
    together: dict[str, list[Case]] = {}
    for case in cases:
        if case.kind.startswith(("missing", "doubled")):
            found.append(_alone(case))
        else:
            together.setdefault(case.platform, []).append(case)
    for platform, some in together.items():
        for start in range(0, len(some), _BATCH):
            batch = some[start : start + _BATCH]
            rules: dict[int, str] = {}
            for line, rule in _errors(platform, [case.text for case in batch]):
                rules[line] = f"{rules[line]}, {rule}" if line in rules else rule
            found += [Judged(case, rules.get(place, "")) for place, case in enumerate(batch)]
    return found


def _alone(case: Case) -> Judged:
    """Our verdict on a case that may spoil what follows."""
    errors = _errors(case.platform, (case.text,))
    lines = [line for line, _ in errors]
    right = [line for line in (0, case.line) if line in lines]
    return Judged(case, ", ".join(rule for _, rule in errors), min(right or lines, default=0))


def _errors(platform: str, texts: Sequence[str]) -> list[tuple[int, str]]:
    """The lines of our errors, counted from the first text, and the rules."""
    version, target = platform.split()
    module = parse(module_text(version, target, tuple(texts)))
    errors = [finding for finding in check(module) if finding.severity is Severity.ERROR]
    return [(finding.span.line - FIRST_LINE, finding.rule) for finding in errors]
