"""The evidence for a run: which of its instructions a GPU's recordings confirm, and which rest on documents alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from ptxloom.confirmed import BITS, LEVELS, is_recorded, level_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from ptxloom.machine.results.profile import Profile

_SPELLED: Final = re.compile(r"(?:@!?\S+\s+)?([^\s;]+)")


@dataclass(frozen=True, slots=True)
class FidelityRow:
    """An instruction that ran.

    Attributes:
        instruction: Without its operands.
        level: "bits", "kernels", "published" or "documents".
        executions: How often warps executed it.
    """

    instruction: str
    level: str
    executions: int


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The evidence for the instructions of a run.

    Attributes:
        rows: Every instruction that ran, the most executed first.
    """

    rows: tuple[FidelityRow, ...]

    def executions(self, level: str) -> int:
        """The number of executed warp instructions with this level of evidence."""
        return sum(row.executions for row in self.rows if row.level == level)

    def __str__(self) -> str:
        every = sum(row.executions for row in self.rows)
        lines: list[str] = []
        for level, about in LEVELS.items():
            rows = [row for row in self.rows if row.level == level]
            if not rows:
                continue
            share = f"{self.executions(level):,} of {every:,} warp instructions"
            named = ", ".join(row.instruction for row in rows) if level != BITS and rows else ""
            lines.append(f"{level:9}  {share}, {about}" + (f": {named}" if named else ""))
        return "\n".join(lines)


def fidelity_of(profile: Profile | None) -> Fidelity:
    """The evidence for the instructions that were counted.

    Raises:
        UsageError: Nothing was counted.
    """
    if profile is None:
        raise UsageError("profile", profile, "that of a launch with `profile=True`: it counts what ran")
    is_recorded_target = is_recorded(str(profile.countable.target))
    ran: Counter[str] = Counter()
    for row in profile.rows:
        if row.counts.executions and (found := _SPELLED.match(row.instruction)):
            ran[found[1]] += row.counts.executions
    return Fidelity(
        tuple(
            FidelityRow(spelled, level_of(spelled, is_recorded_target=is_recorded_target), count)
            for spelled, count in sorted(ran.items(), key=lambda one: (-one[1], one[0]))
        )
    )
