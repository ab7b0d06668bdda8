"""`ptxloom exec`: runs any program on a CUDA driver that needs no GPU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from ptxloom.cli.results.output import COULD_NOT_RUN, Outcome, talk
from ptxloom.cuda_driver import build, smi
from ptxloom.cuda_driver.environment import environment
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.server import Server, watched
from ptxloom.diagnostics import UsageError
from ptxloom.machine.port.prepare import device_options, read_checks
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ptxloom.cli.command_line import Options

_OF_A_TERMINAL: Final = ("SIGINT", "SIGQUIT")  # which sends them to the program, too
_PASSED_ON: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_SIGNALLED: Final = 128  # what a shell adds to the number of a signal that ended a program


def run(options: Options, given: Mapping[str, str] | None = None) -> Outcome:
    """Run it; the exit status is the program's.

    Args:
        options: Those of `exec`.
        given: More variables of the program's environment.
    """
    command = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        raise UsageError("program", "", "a program and its arguments, such as `ptxloom exec -- python train.py`")
    device = device_options(options.device, read_checks(options.checks), options.memory_limit)
    report = Report(options.on_hazard, options.destroy_on_device_error, device.checks)
    if _is_watched() and not build.is_there():
        talk("ptxloom: compiling the CUDA driver's libraries")
    folder = build.folder()
    server = Server(device.arch, device.checks, device.memory_bytes, report)
    try:
        smi.place(programs := Path(server.path).parent)
        variables = {"PTXLOOM_DEVICE": options.device} | environment(folder, server.path) | dict(given or {})
        with watched():
            status = _status(command, variables | {"PATH": f"{programs}:{variables.get('PATH', os.defpath)}"})
    except (OSError, ValueError) as error:  # a name that no file can have is the latter
        why = error.strerror if isinstance(error, OSError) else None
        return Outcome("", COULD_NOT_RUN, f"ptxloom: {title(command[0])}: {why or error}")
    finally:
        server.close()
    return Outcome("", status, report.summary())


def _is_watched() -> bool:
    """Whether standard error is a terminal."""
    stream: TextIO | None = sys.stderr
    return stream is not None and stream.isatty()


def _status(command: list[str], variables: dict[str, str]) -> int:
    """Run the program to its end: a terminal's Ctrl-C goes to it alone, and signals to this process are passed on."""
    with subprocess.Popen(command, env=variables) as program:

        def pass_on(number: int, _frame: object) -> None:
            program.send_signal(number)

        handlers: dict[str, Any] = dict.fromkeys(_OF_A_TERMINAL, signal.SIG_IGN)
        handlers |= dict.fromkeys(_PASSED_ON, pass_on)
        with _handled({signal.Signals[name]: handler for name, handler in handlers.items()}):
            status = program.wait()
    return _SIGNALLED - status if status < 0 else status


@contextmanager
def _handled(handlers: Mapping[signal.Signals, Any]) -> Generator[None]:
    """Handle signals, except for those that this process was started to ignore (`nohup`)."""
    heard = {one: handler for one, handler in handlers.items() if signal.getsignal(one) != signal.SIG_IGN}
    before = {one: signal.signal(one, handler) for one, handler in heard.items()}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
