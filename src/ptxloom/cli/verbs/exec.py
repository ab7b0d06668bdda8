"""`ptxloom exec`: a program of somebody's on a CUDA driver that needs no GPU."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING, Final

from ptxloom.cli.hazard_options import read_checks
from ptxloom.cli.output import COULD_NOT_RUN, Outcome
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.environment import environment
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.server import Server
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory.arena import default_limit
from ptxloom.machine.tensor.recipe import architecture

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

_SIGNALLED: Final = 128  # what a shell adds to the number of a signal that ended a program


def run(options: Options) -> Outcome:
    """Run it; the exit status is the program's."""
    command = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        raise UsageError("program", "", "a program and its arguments, such as `ptxloom exec -- python train.py`")
    architecture(options.device)
    checks = read_checks(options.checks)
    report = Report(options.on_hazard, options.destroy_on_device_error)
    folder = build.folder()
    server = Server(options.device, checks, options.memory_limit or default_limit(), report)
    try:
        status = _status(command, {"PTXLOOM_DEVICE": options.device} | environment(folder, server.path))
    except (OSError, ValueError) as error:  # a name that no file can have is the latter
        why = error.strerror if isinstance(error, OSError) else None
        return Outcome("", COULD_NOT_RUN, f"ptxloom: {command[0]}: {why or error}")
    finally:
        server.close()
    return Outcome("", status, report.summary())


def _status(command: list[str], variables: dict[str, str]) -> int:
    """Run the program, which alone hears Ctrl-C, to its end."""
    with subprocess.Popen(command, env=variables) as program:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            status = program.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    return _SIGNALLED - status if status < 0 else status
