"""`ptxloom why -- PROGRAM`: checks every kernel that a program launches with the tools and the laws."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments import launch_words
from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, style_for
from ptxloom.diagnosis.watched import REPORTS, VARIABLE, Watcher, reported
from ptxloom.diagnostics import BEFORE_LAWS, UsageError
from ptxloom.files.names import is_file
from ptxloom.machine.port.launch import watching
from ptxloom.names.demangling import demangled
from ptxloom.views.runs import diagnoses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnosis.watched import Seen

_FILES: Final = (".toml", ".ptx", ".cu")  # which run as launches, whatever their modes say
_NOTHING: Final = (
    "ptxloom: no kernel was launched, on the CUDA driver that `why` gives a program or by Triton: nothing was judged"
)


def program_of(options: Options) -> list[str]:
    """The program and its arguments; empty if a launch file is given."""
    words = options.words
    return words[words.index("--") + 1 :] if "--" in words else []


def no_program(options: Options) -> None:
    """Refuse a program in place of a launch file, unless options name one of its kernels to run.

    Raises:
        UsageError: It is a program; the sentence shows how to run it.
    """
    name = options.file
    if launch_words.said(options) or not is_file(name) or Path(name).suffix in _FILES:
        return
    if Path(name).suffix == ".py" or os.access(name, os.X_OK):
        command = f"python {name}" if Path(name).suffix == ".py" else name if os.sep in name else f"./{name}"
        raise UsageError("FILE", name, f"a launch file; `ptxloom why -- {command}` runs a program")


def run(options: Options, command: list[str], executed: Callable[[Options, Mapping[str, str]], Outcome]) -> Outcome:
    """Run it, and report once for each kernel what is wrong with it, on the driver or in the program's own process.

    The exit status is 1 if a kernel is wrong and 2 if none was launched, unless the program itself fails; else it is
    the program's.

    Args:
        options: Those of `why`.
        command: The program and its arguments.
        executed: Runs it, as `exec` does, with more variables in its environment.
    """
    watcher = Watcher()
    options.program, options.checks = command, ",".join(BEFORE_LAWS)
    options.on_hazard, options.destroy_on_device_error = "ignore", "context"
    with TemporaryDirectory() as folder:
        place = Path(folder) / "launches"
        given = {VARIABLE: "1", REPORTS: str(place)}
        given["PTXLOOM_ON_HAZARD"] = os.environ.get("PTXLOOM_ON_HAZARD") or "ignore"  # the report tells of them
        with watching(BEFORE_LAWS, watcher.tell, provenance=True):
            ended = executed(options, given)
        own = reported(place)
    launches = watcher.launches + len(own)
    if not launches:
        code = COULD_NOT_RUN if ended.code == CLEAN else ended.code
        return Outcome("", code, ended.remark or _NOTHING)
    style = style_for(options)
    parts = [f"{demangled(one.kernel)}:\n{diagnoses.full(_told(one), style)}" for one in watcher.seen]
    parts += [f"{demangled(one.kernel)}:\n{one.text}\n" for one in own if one.text]
    counted = f"{launches:,} launch{'es' * (launches != 1)}, {len(parts):,} report{'s' * (len(parts) != 1)}\n"
    wrong = any(one.is_wrong for one in watcher.seen) or any(one.wrong for one in own)
    code = FINDINGS if wrong and ended.code == CLEAN else ended.code
    return Outcome("\n".join((*parts, counted)), code, ended.remark)


def _told(seen: Seen) -> diagnoses.ReportedRun:
    return diagnoses.ReportedRun(seen.examined, (), seen.hazards)
