"""The recorded verdicts of ptxas, and the table of what ptxas lets pass and our checker calls an error."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse
from recorded.ptxas.ptxas_cases import FIRST_LINE, module_text

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORDING: Final = Path(__file__).parent / "verdicts.json.gz"


@dataclass(frozen=True)
class Recording:
    """What ptxas accepted.

    Attributes:
        ptxas: Its release.
        sets: Sets of accepted lines; all other lines of the same question were rejected.
        qualifiers: Platform ("9.0 sm_90") -> the set of accepted qualifier cases; -1: it takes no such module at all.
        orders: Platform -> the set of accepted order cases.
        operands: Platform -> the set of accepted operand cases.
        mutants: Platform -> the set of accepted mutants.
    """

    ptxas: str
    sets: list[list[str]]
    qualifiers: dict[str, int]
    orders: dict[str, int]
    operands: dict[str, int]
    mutants: dict[str, int]

    @classmethod
    def load(cls) -> Recording:
        return cls(**json.loads(gzip.decompress(RECORDING.read_bytes())))

    def save(self) -> None:
        RECORDING.parent.mkdir(exist_ok=True)
        text = json.dumps(vars(self), indent=0, sort_keys=True)
        RECORDING.write_bytes(gzip.compress(text.encode(), mtime=0))


@dataclass(frozen=True)
class Laxity:
    """Something that ptxas accepts and we call an error."""

    rule: str
    pattern: str
    reason: str


LAXITIES: Final = (
    Laxity("misread-num", r"\.x(8|16|32|64|128)\b", "assembled as x1, so the result is not what is written"),
    Laxity("unknown-qualifier", r"^(st|mov)matrix.*\.(b[48]x16|s4)", "converts no format; ptxas drops the qualifier"),
    Laxity("not-a-register", r"^ldmatrix.*\{.*%", "a special register cannot be written; the result is lost"),
    Laxity("not-a-register", r"\bv2\.[zw]", "a vector of two has no third and fourth element"),
)


def rejections(version: str, target: str, lines: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Our errors about each line of a module that holds them; "" is the module itself."""
    found: dict[str, tuple[str, ...]] = {}
    for one in check(parse(module_text(version, target, lines))):
        if one.severity is Severity.ERROR:
            place = one.span.line - FIRST_LINE
            line = lines[place] if 0 <= place < len(lines) else ""
            found[line] = (*found.get(line, ()), one.rule)
    return found


def disagreements(lines: Iterable[str], accepted: set[str], ours: dict[str, tuple[str, ...]]) -> list[str]:
    """Where we and ptxas differ, the named laxities aside, each as a line to read."""
    found: list[str] = []
    for line in lines:
        ptxas_accepts, rules = line in accepted, ours.get(line, ())
        if ptxas_accepts == (not rules) or (ptxas_accepts and laxity(line, rules) is not None):
            continue
        found.append(f"ptxas {'accepts' if ptxas_accepts else 'rejects'}, we say {rules or 'nothing'}: {line}")
    return found


def laxity(line: str, rules: tuple[str, ...]) -> Laxity | None:
    """The named laxity that explains why we reject a line that ptxas accepts."""
    return next((one for one in LAXITIES if set(rules) == {one.rule} and re.search(one.pattern, line)), None)
