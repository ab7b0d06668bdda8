"""The report file: the judge, the suite, and the verdict on each path; no host, user or folder."""

from __future__ import annotations

import json
from dataclasses import asdict, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from ptxloom.conformance.inputs import SUITE
from ptxloom.conformance.verdicts import Difference, Verdict
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA: Final = 1


class Unreadable(PtxloomError):  # noqa: N818 - named after the message that it prints
    """A file is not a report, or belongs to another suite."""


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts of a judge.

    Attributes:
        judge: `gpu`, `ptxas`, or `here`.
        device: The source of the results: a GPU's name, or a version of ptxas.
        driver: The GPU's driver's version of CUDA.
        target: The target of the kernels.
        version: The version of PTX.
        cases: The number of cases of a path.
        verdicts: By path, in the order of their names.
        suite: The version of the suite.
        schema: The version of this format.
        level: The optimisation level of the judge's compiler; None: its default.
    """

    judge: str
    device: str
    driver: str
    target: str
    version: str
    cases: int
    verdicts: tuple[Verdict, ...]
    suite: int = SUITE
    schema: int = field(default=SCHEMA)
    level: int | None = None

    @property
    def differing(self) -> tuple[Verdict, ...]:
        """The verdicts on paths that differ."""
        return tuple(one for one in self.verdicts if one.differ)

    @property
    def waived(self) -> tuple[Verdict, ...]:
        """The verdicts on paths that differ in a known way."""
        return tuple(one for one in self.verdicts if one.waived)

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """The verdicts on paths that did not run, though the judge has them."""
        return tuple(one for one in self.verdicts if one.refused and one.cases)

    @property
    def lacking(self) -> tuple[Verdict, ...]:
        """The verdicts on paths that the judge does not have: their cases do not count."""
        return tuple(one for one in self.verdicts if one.refused and not one.cases)

    @property
    def digest(self) -> str:
        """The digest of all results, in the order of their paths."""
        return _digest(self.verdicts)

    def text(self) -> str:
        """The file: JSON, one line per path."""
        said = {name: value for name, value in asdict(self).items() if name != "verdicts" and value is not None}
        head = said | {"digest": self.digest}
        rows = ",\n".join(json.dumps(one.record(), separators=(",", ":")) for one in self.verdicts)
        return f'{json.dumps(head)[:-1]}, "paths": [\n{rows}\n]}}\n'


def _digest(verdicts: Iterable[Verdict]) -> str:
    said = "".join(f"{one.path} {one.digest or one.refused}\n" for one in verdicts)
    return blake2b(said.encode(), digest_size=16).hexdigest()


def read(text: str) -> Report:
    """A report from its file.

    Raises:
        Unreadable: It is not a report, is damaged, or belongs to a suite that this version does not know.
    """
    try:
        found = json.loads(text)
        if found["schema"] != SCHEMA or found["suite"] != SUITE:
            other = f"suite {found['suite']!s:.20}, form {found['schema']!s:.20}"
            raise Unreadable(f"the report is of {other}; this is suite {SUITE}, form {SCHEMA}")
        judge, device, driver, target, version = (
            _word(found[name]) for name in ("judge", "device", "driver", "target", "version")
        )
        verdicts = tuple(map(verdict_of, found["paths"]))
        cases, level = _count(found["cases"]), _count(found["level"]) if "level" in found else None
        report = Report(judge, device, driver, target, version, cases, verdicts, level=level)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreadable("the file is not a report of `ptxloom conform`") from None
    if found.get("digest") != report.digest:
        raise Unreadable("the report is damaged: its digest is not that of its paths")
    return report


def verdict_of(row: dict[str, Any]) -> Verdict:
    """A verdict from its row.

    Raises:
        ValueError, KeyError, TypeError: It is not a verdict.
    """
    first = tuple(map(_difference_of, row.get("first", ())))
    digest, refused, waiver = (_word(row.get(name, "")) for name in ("digest", "refused", "waiver"))
    path, cases, differ, waived = _word(row["path"]), *map(_count, (row["cases"], row["differ"], row.get("waived", 0)))
    return Verdict(path, cases, differ, digest, refused, first, waived, waiver)


def _difference_of(row: dict[str, Any]) -> Difference:
    inputs, given, expected = (tuple(map(_word, row[name])) for name in ("inputs", "given", "expected"))
    return Difference(_count(row["case"]), _count(row["lane"]), inputs, given, expected)


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 40:
        raise TypeError(value)
    return value
