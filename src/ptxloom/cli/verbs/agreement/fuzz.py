"""`ptxloom fuzz`: random programs, and whether all judges produce the same bits."""

from __future__ import annotations

import json
import re
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, write_whole
from ptxloom.cli.results.progress import counted
from ptxloom.cli.spreading import shards_of, workers_of
from ptxloom.conformance import Driver
from ptxloom.conformance.assemblers import assemblers
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.fuzzing import IDIOMS, OWN, Jury, Shape, Task, fuzzed, said, summary, tasks
from ptxloom.isa.target import known_target
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.fuzzing import Summary

_SHOWN: Final = 20
_MOST_STATEMENTS: Final = 1000
_SIZES: Final = re.compile(r"(\d{1,4})(?::(\d{1,4}))?", re.ASCII)
_DEFAULT: Final = ("threads", "order", "tools")
_COMPILED: Final = ("gpu", "ptxas")


def run(options: Options) -> Outcome:
    """Make programs, run them on every judge, and report the differences."""
    asked = _asked(options)
    if options.case is not None:
        return Outcome(asked.jury.text(asked.programs()))
    shards = shards_of(options, said(asked))
    with closing(shards) if shards is not None else nullcontext():
        begun = monotonic()
        results = fuzzed(asked, workers_of(options), shards, options.seconds)
        found = summary(counted(results, sum(1 for _ in tasks(asked)), "kernels of programs run"))
        seconds = round(monotonic() - begun, 1)
    if options.bundle is not None:
        _bundled(Path(options.bundle), found)
    if options.report is not None:
        write_whole(
            Path(options.report), json.dumps(said(asked) | {"seconds": seconds} | asdict(found), indent=1) + "\n"
        )
    return Outcome(_told(found, asked), FINDINGS if found.differ or found.refused else CLEAN)


def _asked(options: Options) -> Task:
    first = options.first if options.case is None else options.case
    count = options.programs if options.case is None else 1
    for idiom in options.idioms:
        if idiom not in IDIOMS:
            raise UsageError("idiom", idiom, ", ".join(IDIOMS))
    least, most = _sizes(options.size)
    shape = Shape(least, most, options.control, options.shared)
    idioms = frozenset(options.idioms)
    return Task(options.seed, range(first, first + count), shape, _jury(options), idioms, tuple(options.only))


def _sizes(text: str) -> tuple[int, int]:
    written = _SIZES.fullmatch(text)
    least, most = (int(written[1]), int(written[2] or written[1])) if written else (0, 0)
    if not 1 <= least <= most <= _MOST_STATEMENTS:
        raise UsageError("size", text, f"a number of statements from 1 to {_MOST_STATEMENTS}, or two such as 4:40")
    return least, most


def _jury(options: Options) -> Jury:
    opinions = tuple(one for text in options.against for one in text.split(",")) or _DEFAULT
    for one in opinions:
        kind, _, level = one.partition(":")
        if one not in OWN and not (kind in _COMPILED and level in {"0", "1", "2", "3"}):
            raise UsageError("judge", one, ", ".join((*OWN, "gpu:0 to gpu:3, ptxas:0 to ptxas:3")))
    target, version = options.target or "sm_90a", options.ptx_version or "9.0"
    compiled = {one.partition(":")[0] for one in opinions} & set(_COMPILED)
    ptxas = ""
    if compiled and options.case is None:
        with closing(Driver()) as driver:
            target, version = str(driver.gpu.target), str(driver.gpu.version)
        if "ptxas" in compiled:
            found = assemblers(options.ptxas)
            if len(found) > 1 and options.ptxas:
                raise PtxloomError("programs are compiled by one ptxas: name one with `--ptxas`")
            ptxas = next(reversed(found)).path
    return Jury(str(known_target(target)), str(PtxVersion.parse(version)), opinions, ptxas)


def _told(found: Summary, asked: Task) -> str:
    judges = ", ".join(asked.jury.opinions)
    differ = f"{found.differ:,} differ" if found.differ else "none differ"
    asked_of = f"{found.programs:,} programs of {found.steps:,} statements"
    lines = [f"{asked_of}, {found.words:,} words compared with {judges}: {differ}"]
    if found.unread:
        lines.append(f"  {found.unread:,} programs cannot be run by the interpreter")
    lines += [line for one in found.findings[:_SHOWN] for line in _finding(one)]
    lines += [f"  did not run: {why}" for why in found.refused[:_SHOWN]]
    return "\n".join(lines) + "\n"


def _finding(one: dict[str, Any]) -> list[str]:
    before, after = one["steps"]
    head = f"  program {one['case']}: {one['opinion']} differs; suspected: {one['suspect']}"
    if not one["verified"]:
        return [f"{head}; run again, it does not differ"]
    shrunk = (
        f"    shrunk from {before} statements to {after}; at {one['where']}: {one['given']}, ptxloom {one['expected']}"
    )
    return [head, shrunk]


def _bundled(folder: Path, found: Summary) -> None:
    """Write one PTX file per finding, with the finding in its header."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PtxloomError(f"{folder} cannot hold bundles: {error.strerror}") from None
    for one in found.findings:
        notes = {name: value for name, value in one.items() if name != "ptx"}
        head = "".join(f"// {line}\n" for line in json.dumps(notes, indent=1).splitlines())
        write_whole(folder / f"{one['case']}.ptx", head + one["ptx"])
