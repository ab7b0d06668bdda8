"""The process in which a Python file calls its kernels: `python -m ptxloom.judge.child FILE REFERENCE IN OUT`.

It gets only inputs: the expected outputs stay with the judge. Kernels of Triton run here; those of
packages that drive CUDA run in the judge, which is their driver.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ptxloom.diagnostics import TOOLS
from ptxloom.judge.asking import Rooms, arrays_of, call_of
from ptxloom.judge.tampering import Functions
from ptxloom.judge.wire import BrokenError, receive, send
from ptxloom.machine import Kernel
from ptxloom.machine.port.launch import watching

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from ptxloom.judge.asking import Call
    from ptxloom.machine import LaunchResult

_MOST_BYTES: Final = 1 << 34
_FUNCTION: Final = "kernel"
_MOST_WORDS: Final = 500
_MOST_HAZARDS: Final = 50


class _Watched:
    """Records the effects of a call's launches."""

    def __init__(self) -> None:
        self._call: Call | None = None
        self._placed: dict[str, Any] = {}
        self._launches = self._instructions = 0
        self._hazards: list[str] = []
        self._precision: list[str] = []

    def begin(self, call: Call, placed: dict[str, Any]) -> None:
        """Start recording a new call."""
        self.__init__()
        self._call, self._placed = call, placed

    def may(self, kernel: object) -> bool:
        """Whether a kernel may run; before the first one, replaces inputs by their late contents."""
        self._launches += 1
        if self._call is None:
            return True
        for name, value in (self._call.late or {}).items() if self._launches == 1 else ():
            self._placed[name][...] = value
        if isinstance(kernel, Kernel) and kernel.precision is not None:
            known = kernel.precision
            self._precision = [known.sums, known.factors, "converts" if known.converts else ""]
        return not self._call.idle

    def tell(self, name: str, result: LaunchResult) -> None:
        """Record the effects of a launch."""
        self._instructions += result.instructions
        self._hazards += [f"{one.rule}: {one.message} ({name}, line {one.line})" for one in result.hazards]

    def said(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "launches": self._launches,
            "instructions": self._instructions,
            "hazards": list(dict.fromkeys(self._hazards))[:_MOST_HAZARDS],
            "precision": self._precision,
            "here": bool(self._call and self._call.late and self._launches),
        }


class _Opened:
    """Which files are opened, or imported: the reference must not be one."""

    def __init__(self, reference: str) -> None:
        self._reference = str(Path(reference).resolve())
        self.found = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)) and not self.found:
            name = os.fsdecode(arguments[0])
            if os.path.basename(name) == os.path.basename(self._reference):  # noqa: PTH119 - a hook has to be quick
                self.found = os.path.realpath(name) == self._reference


class _Caller:
    """Calls the kernel of a file on request."""

    def __init__(self, file: str, reference: str) -> None:
        self._functions, self._opened, self._watched = Functions(), _Opened(reference), _Watched()
        self._rooms = Rooms()
        self._file = file
        self._kernel: object = None
        self._why = ""

    def read(self) -> None:
        """Run the file, which defines the kernel."""
        try:
            self._kernel = runpy.run_path(self._file, run_name="kernel").get(_FUNCTION)
        except Exception as error:  # noqa: BLE001 - whatever the file does is reported
            self._why = f"running the file raised {type(error).__name__}: {error}"
        else:
            self._why = f"the file has no function `{_FUNCTION}`"

    def serve(self, asked: BinaryIO, answers: BinaryIO) -> None:
        """Answer calls until there are no more."""
        with watching(TOOLS, self._watched.tell, may=self._watched.may):
            self.read()
            while True:
                try:
                    call = call_of(*receive(asked, _MOST_BYTES))
                except BrokenError:
                    return
                if callable(self._kernel):
                    send(answers, *self._called(self._kernel, call))
                else:
                    send(answers, {"ended": self._why[:_MOST_WORDS]}, {})

    def _called(self, kernel: Callable[..., object], call: Call) -> tuple[dict[str, Any], dict[str, Any]]:
        """Call it once, and report what it did."""
        placed, watched = self._rooms.placed(call), self._watched
        watched.begin(call, placed)
        before = set(threading.enumerate())
        returned, ended = None, ""
        try:
            returned = kernel(**placed)
        except Exception as error:  # noqa: BLE001 - whatever the file does is reported
            ended = f"{type(error).__name__}: {error}"
        left = [one for one in threading.enumerate() if one not in before and one.is_alive()]
        told = ["thread-left: a thread still runs after the call has returned"] if left else []
        if returned is not None:
            told += _kept(returned, placed, call.outputs)
        told += [f"timer-changed: {name} is replaced" for name in self._functions.changed()]
        if self._opened.found:
            told.append("reference-called")
        said = watched.said() | {"ended": ended[:_MOST_WORDS], "told": told, "guards": list(self._rooms.broken(placed))}
        return said, arrays_of(placed)


def _kept(returned: Any, placed: dict[str, Any], outputs: tuple[str, ...]) -> list[str]:
    """Copy the returned values to the outputs; they must be plain arrays, one per output."""
    given: dict[str, Any]
    if isinstance(returned, (tuple, list)):
        given = dict(zip(outputs, cast("list[Any]", returned), strict=False))
    elif isinstance(returned, dict):
        given = cast("dict[str, Any]", returned)
    elif len(outputs) == 1:
        given = {outputs[0]: returned}
    else:
        return ["lazy-output: the returned value is not an array"]
    for name, value in given.items():
        array: Any = getattr(value, "array", value)
        if type(array) is not np.ndarray or name not in outputs or array.shape != placed[name].shape:
            return [f"lazy-output: the value returned as {name} is a {type(value).__name__}, not an array of its shape"]
        if array is not placed[name]:
            if array.dtype != placed[name].dtype:
                return [f"lazy-output: {name} is returned as {array.dtype}, not as {placed[name].dtype}"]
            placed[name][...] = array
    return []


def main(file: str, reference: str, into: int, out: int) -> None:
    """Serve a judge until it closes the connection."""
    with os.fdopen(into, "rb") as asked, os.fdopen(out, "wb") as answers:
        os.dup2(2, 1)  # what the file prints is not a message
        sys.path.insert(0, str(Path(file).resolve().parent))
        _Caller(file, reference).serve(asked, answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
