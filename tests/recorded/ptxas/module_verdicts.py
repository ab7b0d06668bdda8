"""The recording of ptxas's verdicts on whole modules, and ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse
from recorded.ptxas.module_cases import digest, module_cases

if TYPE_CHECKING:
    from recorded.ptxas.module_cases import ModuleCase

_FILE = Path(__file__).parent / "modules.json"
PAGE = Path(__file__).parent / "modules.md"
ACCEPTED, REJECTED, ELSEWHERE = "ar-"
"""Taken; an error in the text; something that only a whole program can have, such as a function without a body."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, what ptxas says, and the rules that we reject it by."""

    case: ModuleCase
    verdict: str
    ours: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether one accepts what the other rejects."""
        return self.verdict != ELSEWHERE and bool(self.ours) != (self.verdict == REJECTED)


def save(release: str, verdicts: str) -> None:
    """Write a recording: one character a case."""
    rows = [verdicts[at : at + 100] for at in range(0, len(verdicts), 100)]
    text = json.dumps({"ptxas": release, "digest": digest(module_cases()), "verdicts": rows}, indent=1)
    _FILE.write_text(text + "\n", encoding="utf-8")


def recording() -> tuple[str, str, str]:
    """The release of ptxas, the digest of the cases that it was asked about, and its verdicts."""
    held: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return str(held["ptxas"]), str(held["digest"]), "".join(held["verdicts"])


def judged() -> tuple[Judged, ...]:
    """Every case with both verdicts."""
    _, _, verdicts = recording()
    return tuple(
        Judged(case, verdict, rejections(case.text)) for case, verdict in zip(module_cases(), verdicts, strict=True)
    )


def rejections(text: str) -> tuple[str, ...]:
    """The rules that we reject a module by."""
    return tuple(one.rule for one in check(parse(text)) if one.severity is Severity.ERROR)


def page(release: str, found: tuple[Judged, ...]) -> str:
    """The comparison, by what the cases are about, and every difference."""
    asked = [one for one in found if one.verdict != ELSEWHERE]
    lines = [
        f"# Verdicts on whole modules against ptxas {release}",
        "",
        "`tools/record/module_rules.py` asks ptxas about the modules of `tests/recorded/ptxas/module_cases.py`: names,",
        "redeclared functions and variables, types, sizes, alignments, initial values, limits, headers, aliases,",
        "labels, heads. What only a whole program can lack (a body, a definition elsewhere) is left out.",
        "`tests/recorded/ptxas/test_module_recording.py` compares our verdicts with the answers.",
        "",
        f"{len(asked):,} modules; ptxas rejects {sum(one.verdict == REJECTED for one in asked):,} of them.",
        f"{1 - sum(one.differs for one in asked) / len(asked):.2%} have the same verdict from us.",
        "",
        "| about | modules | ptxas rejects | differ |",
        "|---|---|---|---|",
    ]
    for about in dict.fromkeys(one.case.about for one in asked):
        some = [one for one in asked if one.case.about == about]
        rejected = sum(one.verdict == REJECTED for one in some)
        lines.append(f"| {about} | {len(some):,} | {rejected:,} | {sum(one.differs for one in some)} |")
    different = [one for one in asked if one.differs]
    lines += ["", "Every difference:", "", "| ptxas | ours | module |", "|---|---|---|"] if different else [""]
    for one in different:
        text = " ".join(one.case.text.removeprefix(".version 9.0\n.target sm_90\n.address_size 64\n").split())
        lines.append(f"| {'rejects' if one.verdict == REJECTED else 'accepts'} | {', '.join(one.ours)} | `{text}` |")
    return "\n".join(lines) + "\n"
