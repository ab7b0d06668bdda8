"""`ptxloom conform`: whether a GPU, or ptxas, agrees with this machine, instruction by instruction."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path as File
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, write_whole
from ptxloom.cli.results.progress import counted
from ptxloom.cli.spreading import shards_of, workers_of
from ptxloom.conformance import Driver, Question, Report, asked, read, suite, verified
from ptxloom.conformance.assemblers import assemblers
from ptxloom.conformance.evidence import changes
from ptxloom.conformance.waivers import waivers
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.limited import named
from ptxloom.isa.target import known_target
from ptxloom.isa.version import PtxVersion
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.cli.command_line import Options
    from ptxloom.conformance import Subject, Verdict, Verified
    from ptxloom.isa.target import Target

_JUDGES: Final = ("gpu", "ptxas", "here")
_SHOWN: Final = 20
_NEWEST_READ: Final = "9.0"
_MOST_BYTES: Final = 1 << 28


def run(options: Options) -> Outcome:
    """Query the judge, and report the differences."""
    if options.judge not in _JUDGES:
        raise UsageError("judge", options.judge, "gpu, ptxas or here")
    if options.verify is not None:
        return _verified(options, options.verify)
    target = known_target(options.target or "sm_90a")
    version = PtxVersion.parse(options.ptx_version or _NEWEST_READ)
    if options.listed:
        return Outcome("".join(f"{path.name}\n" for path in _wanted(options, target, version)))
    reports = list(_reports(options, target, version))
    if options.report is not None:
        write_whole(File(options.report), reports[0].text())
    found = any(one.differing or one.refused for one in reports)
    return Outcome("\n".join(map(_told, reports)), FINDINGS if found else CLEAN)


def _reports(options: Options, target: Target, version: PtxVersion) -> Iterator[Report]:
    if options.judge == "gpu":
        with closing(Driver(options.level)) as driver:
            gpu = driver.gpu
        yield _asked(options, "gpu", (gpu.device, gpu.driver), gpu.target, gpu.version)
    elif options.judge == "here":
        yield _asked(options, "here", ("ptxloom", ""), target, version)
    else:
        found = assemblers(options.ptxas)
        if options.report is not None and len(found) > 1:
            raise PtxloomError("a report has one judge: name one ptxas with `--ptxas`")
        for assembler in found:
            yield _asked(options, assembler.path, (f"ptxas {assembler.version}", ""), target, version)


def _asked(options: Options, judge: str, named: tuple[str, str], target: Target, version: PtxVersion) -> Report:
    device, driver = named
    wanted = _wanted(options, target, version)
    question = Question(judge, str(target), str(version), options.cases, options.level)
    said = asdict(question) | {"judge": judge if judge in _JUDGES else device, "device": device, "driver": driver}
    shards = shards_of(options, said)
    with closing(shards) if shards is not None else nullcontext():
        found = counted(asked(question, wanted, workers_of(options), shards), len(wanted), "paths asked")
        verdicts = tuple(sorted(found, key=lambda one: one.path))
    kind = judge if judge in _JUDGES else "ptxas"
    return Report(kind, device, driver, str(target), str(version), options.cases, verdicts, level=options.level)


def _wanted(options: Options, target: Target, version: PtxVersion) -> tuple[Subject, ...]:
    wanted = suite(target, version, options.only, smoke=not options.full)
    absent = [one for one in options.only if not any(fnmatchcase(path.name, one) for path in wanted)]
    if wanted and absent:
        sys.stderr.write(f"ptxloom conform: {target} has no path that matches {', '.join(absent)}: not counted\n")
    if not wanted:
        part = "" if options.full else "; without `--full` only some are asked"
        raise PtxloomError(f"no path of {target} fits {', '.join(options.only)}{part}; `conform --list` names them")
    return wanted


def _told(report: Report) -> str:
    cases = sum(one.cases for one in report.verdicts)
    many = len(report.differing)
    asked = f"{len(report.verdicts) - len(report.lacking):,} paths, {cases:,} cases"
    lines = [f"{report.device} ({report.target}, PTX {report.version}): {asked}, {_differ(many)}"]
    lines += _waived(report)
    lines += [line for one in report.differing[:_SHOWN] for line in _difference(one)]
    lines += [f"  {one.path} did not run: {one.refused}" for one in report.refused[:_SHOWN]]
    lacking = report.lacking
    if lacking:
        lines.append(f"  {len(lacking):,} not counted: {lacking[0].path} and such: {lacking[0].refused}")
    more = max(many - _SHOWN, 0) + max(len(report.refused) - _SHOWN, 0)
    if more:
        lines.append(f"  and {more:,} more, in the report (`--report FILE`)")
    return "\n".join(lines) + "\n"


def _differ(count: int) -> str:
    return f"{count or 'none'} differ{'s' if count == 1 else ''}"


def _waived(report: Report) -> Iterator[str]:
    """The waived differences, by waiver."""
    found = report.waived
    if not found:
        return
    yield f"  {len(found):,} waived: only the bits of NaN results differ"
    for waiver in waivers():
        rows = [one for one in found if one.waiver == waiver.id]
        if rows:
            cases = f"{sum(one.waived for one in rows):,} of {sum(one.cases for one in rows):,} cases"
            yield f"    {waiver.id}: {', '.join(one.path for one in rows)} ({cases}): {waiver.what}"


def _difference(verdict: Verdict) -> Iterator[str]:
    yield f"  {verdict.path}: {verdict.differ:,} of {verdict.cases:,} cases"
    one = verdict.first[0]
    yield f"    case {one.case}, lane {one.lane}: inputs {' '.join(one.inputs)}"
    yield f"      there {' '.join(one.given)}"
    yield f"      here  {' '.join(one.expected)}"


def _verified(options: Options, file: str) -> Outcome:
    try:
        report = read(named(File(file), _MOST_BYTES).decode())
    except OSError as error:
        raise PtxloomError(f"{title(file)} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise PtxloomError(f"{title(file)} is not a report of `ptxloom conform`") from None
    known = suite(known_target(report.target), PtxVersion.parse(report.version))
    found = verified(report, known, workers_of(options))
    return Outcome("\n".join(_verdict(found)) + "\n", FINDINGS if found.unequal else CLEAN)


def _verdict(found: Verified) -> Iterator[str]:
    report = found.report
    results = sum(bool(one.digest) for one in report.verdicts)
    waived = f", {len(found.waived):,} waived" if found.waived else ""
    device = f"{report.device} ({report.target}, driver {report.driver})"
    yield f"{device}: results of {results:,} paths computed here, {_differ(len(found.unequal))}{waived}"
    yield from (f"  {name} differs" for name in found.unequal[:_SHOWN])
    if found.unknown:
        yield f"  {len(found.unknown):,} are not known here, such as {found.unknown[0]}"
    if report.judge != "gpu":
        yield f"it confirms nothing: it is not a GPU's, but that of `--judge {report.judge}`"
        return
    if found.new:
        yield f"confirms {len(found.new):,} instructions that no recording confirmed directly, such as {found.new[0]}"
    changed = list(changes(found))
    if changed:
        yield "would change docs/confirmed.md:"
        yield from (f"  {change}" for change in changed)
    else:
        yield "confirms nothing that is not in docs/confirmed.md already"
