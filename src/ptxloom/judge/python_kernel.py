"""A Python file that launches kernels (Triton, numba, whatever drives CUDA), called in a process of its own.

The file has a function `kernel`, which takes the arguments by name and writes its outputs in place, or returns them.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ptxloom import own_python
from ptxloom.comparison import Precision
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.environment import environment
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.server import Server
from ptxloom.judge.asking import Ran, arrays_of, said_of
from ptxloom.judge.wire import BrokenError, receive, send
from ptxloom.machine import Kernel
from ptxloom.machine.port.launch import watching
from ptxloom.machine.port.prepare import device_options

if TYPE_CHECKING:
    from ptxloom.judge.asking import Call
    from ptxloom.judge.machine_kernel import Limits
    from ptxloom.machine import LaunchResult

_CHECKS: Final = ("memcheck", "synccheck", "racecheck", "initcheck")
_DEVICE: Final = "sm_80"
_MOST_TEXT: Final = 1 << 16


class PythonKernel:
    """The process, and the driver that its packages find.

    Args:
        file: The Python file.
        reference: The reference's, which it must not open.
        limits: What a call may take.

    Raises:
        NoDriver: There is no compiler that makes the driver's libraries.
    """

    def __init__(self, file: str, reference: str, limits: Limits) -> None:
        judged = device_options(limits.target or _DEVICE, _CHECKS, limits.memory_bytes)
        self._limits = limits
        self._server = Server(judged.arch, judged.checks, judged.memory_bytes, Report("ignore"))
        variables = environment(build.folder(), self._server.path, own_python.environment())
        variables |= {
            "TRITON_DEFAULT_BACKEND": "ptxloom",
            "PTXLOOM_DEVICE": judged.arch,
            "PTXLOOM_ON_HAZARD": "ignore",
            "PTXLOOM_CHECKS": ",".join(_CHECKS),
        }
        questions, own_questions = os.pipe()
        own_answers, answers = os.pipe()
        self._talk = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        command = own_python.command("-m", "ptxloom.judge.child", file, reference, str(questions), str(answers))
        self._process = subprocess.Popen(
            command, env=variables, stdin=subprocess.DEVNULL, stdout=self._talk, stderr=self._talk,
            pass_fds=(questions, answers), start_new_session=True,
        )  # fmt: skip
        os.close(questions)
        os.close(answers)
        self._questions: BinaryIO = os.fdopen(own_questions, "wb")
        self._answers: BinaryIO = os.fdopen(own_answers, "rb")

    def call(self, call: Call) -> Ran:
        """Ask the process to call the kernel once."""
        seen = _Seen(idle=call.idle)
        most = sum(array.nbytes for array in arrays_of(call.arguments).values())
        late = {f"late {name}": value for name, value in (call.late or {}).items()}
        timer = threading.Timer(self._limits.seconds, self._process.kill)
        timer.start()
        try:
            with watching((), seen.tell, may=seen.may):
                send(self._questions, said_of(call), {**call.arguments, **late})
                said, arrays = receive(self._answers, most)
        except (BrokenError, OSError) as error:
            late_by = not timer.is_alive()
            why = f"it took more than {self._limits.seconds:g} seconds" if late_by else self._last_words(str(error))
            return Ran({}, ended=why, launches=0)
        finally:
            timer.cancel()
        return seen.joined(_ran(said, arrays))

    def close(self) -> None:
        """End the process and the driver."""
        self._questions.close()
        self._process.kill()
        self._process.wait()
        self._answers.close()
        self._talk.close()
        self._server.close()

    def _last_words(self, otherwise: str) -> str:
        """The last line that the process wrote before it ended, or `otherwise`."""
        size = self._talk.seek(0, os.SEEK_END)
        self._talk.seek(max(size - _MOST_TEXT, 0))
        lines = self._talk.read().decode("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), otherwise)


class _Seen:
    """The launches that the driver has received."""

    def __init__(self, *, idle: bool) -> None:
        self._idle = idle
        self._hazards: list[str] = []
        self._launches = 0
        self._instructions = 0
        self._precision: Precision | None = None

    def may(self, kernel: object) -> bool:
        """Whether a kernel runs."""
        self._launches += 1
        if isinstance(kernel, Kernel):
            self._precision = kernel.precision
        return not self._idle

    def tell(self, name: str, result: LaunchResult) -> None:
        """Note what a launch did."""
        self._instructions += result.instructions
        self._hazards += [f"{one.rule}: {one.message} ({name}, line {one.line})" for one in result.hazards]

    def joined(self, ran: Ran) -> Ran:
        """The results of the process, and the launches that the driver saw."""
        return replace(
            ran,
            hazards=(*ran.hazards, *dict.fromkeys(self._hazards)),
            launches=ran.launches + self._launches,
            instructions=ran.instructions + self._instructions,
            precision=ran.precision or self._precision,
        )


def _ran(said: dict[str, Any], arrays: dict[str, Any]) -> Ran:
    """The results of the process, each part checked for its type."""
    known = [str(one) for one in said.get("precision") or ()]
    return Ran(
        arrays,
        tuple(str(one) for one in said.get("hazards") or ()),
        str(said.get("ended") or ""),
        int(said.get("launches") or 0),
        int(said.get("instructions") or 0),
        Precision(known[0], known[1], converts=bool(known[2])) if len(known) == 3 else None,
        tuple(str(one) for one in said.get("guards") or ()),
        tuple(str(one) for one in said.get("told") or ()),
        in_place=bool(said.get("here")),
    )
