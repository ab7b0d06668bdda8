"""The page about our verdicts on mutated instructions: how many agree, and every difference with its reason."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.isa.matrix import MOVES
from ptxloom.machine.semantics import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recorded.ptxas.mutations import Judged, Recording

PAGE = Path(__file__).parent / "mutations.md"
CORE = frozenset(MOVES)
MACHINE = frozenset(ROWS)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some verdicts differ.

    Attributes:
        why: The reason.
        holds: Which verdicts it explains.
        drops: Whether ptxas drops what was written, so that its program is another one than the text: our error stays.
    """

    why: str
    holds: Callable[[Judged], bool]
    drops: bool = False


_ABOUT = """\
`tools/record/mutations.py` makes statements from the forms of every instruction in the ISA data, mutates them (a
qualifier, a type, a register's type, an operand, their number, a name, an address, a vector, the guard, two of these
at once, a bracket, a comma or the semicolon), puts a part of them on other versions and targets, and asks ptxas.
`tests/recorded/ptxas/test_mutations_recording.py` compares our verdicts with the answers, and this page with what
comes of it."""

_TWO_PREDICATES = re.compile(r", !?predr\d+, (!?predr\d+|\d+)(, \d+)?;$")

REASONS: tuple[Reason, ...] = (
    Reason(
        "`tcgen05.mma` with a predicate where the mask of lanes stands: ptxas takes it for `enable-input-d` and drops"
        " the predicate behind it, which was written for that",
        lambda one: one.case.text.startswith("tcgen05.mma") and _TWO_PREDICATES.search(one.case.text) is not None,
        drops=True,
    ),
)
"""The reasons for differences, the first that holds being the one."""


def dropped(difference: Judged) -> bool:
    """Whether ptxas accepts a case by dropping what was written."""
    return any(each.drops and each.holds(difference) for each in REASONS)


def reason(difference: Judged) -> str:
    """Why we judge a case otherwise than ptxas."""
    return next((each.why for each in REASONS if each.holds(difference)), "")


def page(recording: Recording, judged: Sequence[Judged]) -> str:
    """The whole page."""
    differing = [one for one in judged if one.differs]
    both = [one for one in judged if one.case.rejected and one.ours]
    right = sum(one.right_line for one in both)
    return "\n".join(
        (
            f"# Verdicts on mutated instructions against ptxas {recording.ptxas}",
            "",
            _ABOUT,
            "",
            counted(recording),
            f"Of {len(both):,} that both reject, our error stands on the right line in {right:,}.",
            "",
            *_table("instructions", "cases | the same verdict | differ", _groups(judged)),
            "",
            *_table("mutation", "cases | the same verdict | differ", _kinds(judged)),
            "",
            *_differences(differing),
        )
    )


def counted(recording: Recording) -> str:
    """The page's sentence on the recording itself."""
    opcodes = {case.opcode for case in recording.cases}
    rejected = sum(case.rejected for case in recording.cases)
    return f"{len(recording.cases):,} cases of {len(opcodes)} opcodes; ptxas rejects {rejected:,} of them."


def _table(what: str, columns: str, rows: Iterable[tuple[str, list[Judged]]]) -> list[str]:
    lines = [f"| {what} | {columns} |", "|---|---|---|---|"]
    for name, some in rows:
        differ = sum(one.differs for one in some)
        shown = name.replace("|", "&#124;")
        lines.append(f"| {shown} | {len(some):,} | {100 * (1 - differ / len(some)):.2f} % | {differ:,} |")
    return lines


def _groups(judged: Sequence[Judged]) -> Iterable[tuple[str, list[Judged]]]:
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        opcode = one.case.opcode
        name = "the core's" if opcode in CORE else "the machine's others" if opcode in MACHINE else "the rest"
        groups.setdefault(name, []).append(one)
    return [("all", list(judged)), *sorted(groups.items())]


def _kinds(judged: Sequence[Judged]) -> Iterable[tuple[str, list[Judged]]]:
    kinds: dict[str, list[Judged]] = {}
    for one in judged:
        kinds.setdefault(one.case.kind, []).append(one)
    return sorted(kinds.items())


def _differences(differing: Sequence[Judged]) -> list[str]:
    reasons = Counter(reason(one) for one in differing)
    lines = ["## The differences", ""]
    for why, count in reasons.most_common():
        lines += [f"### {why or 'not looked into yet'} ({count})", ""]
        lines += ["```text", *sorted(line_of(one) for one in differing if reason(one) == why), "```", ""]
    return lines


def line_of(one: Judged) -> str:
    """A difference as the page lists it."""
    said = "ptxas rejects it" if one.case.rejected else f"ptxas accepts it, we say {one.ours}"
    text = one.case.text if len(one.case.text) < 200 else f"{one.case.text[:200]}..."
    return f"{one.case.platform}: {text} // {said}"
