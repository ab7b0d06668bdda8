"""The statements of docs/confirmed.md on GPUs' reports and on instructions, and their changes by another report."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.confirmed import BITS, LEVELS, is_recorded, level_of
from ptxloom.dataclass import dataclass
from ptxloom.isa import instruction_spec
from ptxloom.isa.prove import some_forms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ptxloom.conformance.conform import Verified
    from ptxloom.conformance.report import Report

TENSOR_CORES: Final = "Tensor cores of every architecture except sm_90."
"""The page's sentence on sums that differ between architectures."""

_ROWS: Final = 20


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """The cases of a GPU, in the page's terms.

    Attributes:
        device: The GPU.
        target: The target of the kernels.
        driver: The CUDA version of its driver.
        forms: The number of forms that it ran.
        cases: The number of cases of each.
        differ: The number of forms with other bits.
    """

    device: str
    target: str
    driver: str
    forms: int
    cases: int
    differ: int = 0

    @property
    def sentence(self) -> str:
        """The page's sentence."""
        differ = f"{self.differ or 'none'} differ{'s' if self.differ == 1 else ''}"
        asked = f"{self.forms:,} forms of instructions, {self.cases:,} drawn cases each, {differ}"
        return f"{self.device} ({self.target}, driver {self.driver}): {asked}"


@dataclass(frozen=True, slots=True)
class Standing:
    """The evidence for the forms of an instruction.

    Attributes:
        opcode: The instruction.
        levels: The number of forms by evidence, one of `LEVELS`. Of very many forms an even sample is counted.
    """

    opcode: str
    levels: Counter[str]

    @property
    def row(self) -> str:
        """Its row of the page: the instruction, its number of forms, and that of each level."""
        counts = (f"{count:,}" if count else "" for count in map(self.levels.__getitem__, LEVELS))
        return f"| `{self.opcode}` | {self.levels.total():,} | {' | '.join(counts)} |"


def asked_of(report: Report, forms: int | None = None, differ: int = 0) -> EvidenceRow:
    """Summarise a report, with the number of forms that were computed here (None: all), and of those that differ."""
    ran = sum(bool(one.digest) for one in report.verdicts) if forms is None else forms
    return EvidenceRow(report.device, report.target, report.driver, ran, report.cases, differ)


@cache
def recorded() -> tuple[EvidenceRow, ...]:
    """The evidence from GPUs so far: `recorded.json`, made from their reports."""
    rows: list[dict[str, Any]] = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
    return tuple(EvidenceRow(**row) for row in rows)


def standing(opcode: str, more: Collection[str] = ()) -> Standing:
    """The evidence for the forms of an instruction, if `more` were recorded too."""
    spelled = [form.spelling for form in some_forms(instruction_spec(opcode))]
    return Standing(opcode, Counter(BITS if one in more else level_of(one) for one in spelled))


def changes(found: Verified) -> Iterator[str]:
    """The changes that a report would make to the page, a line each; empty if it is up to date."""
    report = found.report
    if report.judge != "gpu" or report.level is not None:
        return
    yield from _sentence(found)
    sums = sum(level_of(one) == BITS for one in found.new)
    if sums and not is_recorded(report.target):
        forms = f"{sums:,} form{'s' * (sums > 1)} of products"
        yield f"the sentence '{TENSOR_CORES}': {forms} recorded on {report.target} too"
    more = set(found.new)
    rows = [(standing(opcode), standing(opcode, more)) for opcode in sorted({one.partition(".")[0] for one in more})]
    rows = [(old, new) for old, new in rows if old != new]
    for old, new in rows[:_ROWS]:
        alone = f"{new.levels[BITS]:,} of {old.levels.total():,} forms recorded by themselves"
        yield f"the row of `{old.opcode}`: {alone}, not {old.levels[BITS]:,}"
    if len(rows) > _ROWS:
        yield f"and {len(rows) - _ROWS:,} more rows"


def _sentence(found: Verified) -> Iterator[str]:
    report = found.report
    forms = sum(bool(one.digest) for one in report.verdicts) - len(found.unknown)
    new = asked_of(report, forms, len(found.unequal))
    old = next((one for one in recorded() if (one.device, one.target) == (new.device, new.target)), None)
    if old is None:
        yield f"a sentence that is not there: '{new.sentence}'"
    elif new.differ or new.forms > old.forms or (new.forms == old.forms and new.cases > old.cases):
        yield f"the sentence '{old.sentence}', to '{new.sentence}'"
