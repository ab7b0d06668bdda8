"""The evidence for a run: which of its instructions a GPU's recordings confirm, and which rest on documents alone.

The table, `confirmed.txt`, is made from the recordings themselves (`tests/recorded/test_fidelity.py`), all of one H200.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.tensor_instruction import is_tensor_product
from ptxloom.diagnostics import UsageError
from ptxloom.isa.tensor_products import PUBLISHED, product_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.machine.results.profile import Profile

BITS: Final = "bits"
KERNELS: Final = "kernels"
OTHERS: Final = "published"
DOCUMENTS: Final = "documents"
LEVELS: Final = {
    BITS: "recorded by themselves on an H200, over their inputs: these bits",
    KERNELS: "recorded on an H200 in whole kernels, whose output has these bits",
    OTHERS: f"sums {PUBLISHED}",
    DOCUMENTS: "by the manual, ptxas and what others published: not recorded",
}
"""The evidence for an instruction, in words."""

_TENSOR: Final = frozenset({"mma", "wmma", "wgmma"})  # whose sums differ from architecture to architecture
_RECORDED_ON: Final = "sm_90"
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


def is_recorded(target: str) -> bool:
    """Whether a target's tensor cores are those of the recordings."""
    return target.startswith(_RECORDED_ON)


def level_of(spelled: str, *, is_recorded_target: bool = True) -> str:
    """The evidence for an instruction.

    Args:
        spelled: The instruction, without operands.
        is_recorded_target: Whether its tensor cores are those of the recordings.
    """
    opcode, *qualifiers = spelled.split(".")
    if is_tensor_product(spelled):
        return OTHERS if product_of(tuple(qualifiers)).is_published else DOCUMENTS
    if opcode in _TENSOR and not is_recorded_target:
        return DOCUMENTS
    return _table().get(spelled, DOCUMENTS)


@cache
def _table() -> Mapping[str, str]:
    """By instruction, its evidence."""
    lines = Path(__file__).with_name("confirmed.txt").read_text(encoding="utf-8").splitlines()
    return {spelled: level for level, spelled in (line.split(" ", 1) for line in lines)}
