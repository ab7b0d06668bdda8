"""LLVM in a process of its own: it reads IR and writes an object file, and can be ended at any time."""

from __future__ import annotations

import subprocess
import threading
from typing import Final

from ptxloom import own_python
from ptxloom.machine.native import emission, interrupts
from ptxloom.machine.native.llvm import must_have_room

_LOOK_SECONDS: Final = 0.02  # between checks of the clock and of signals


def compiled(ir: str, level: int) -> bytes:
    """The object file for a module of IR.

    Raises:
        RuntimeError: The process failed (a bug in ptxloom).
        Refused: The host has no memory for it.
        TimeIsUp: The time limit has come.
    """
    must_have_room(ir)
    run, places = own_python.command(emission.__file__, str(level)), own_python.environment()
    pipe = subprocess.PIPE
    with subprocess.Popen(run, stdin=pipe, stdout=pipe, stderr=pipe, env=places, start_new_session=True) as process:
        code, said = _answered(process, ir.encode())
    if process.returncode:
        raise RuntimeError(f"the compiler ended with {process.returncode}: {said.decode(errors='replace')[-2000:]}")
    return code


def _answered(process: subprocess.Popen[bytes], ir: bytes) -> tuple[bytes, bytes]:
    """The output of the process; a thread communicates with it, so that this one can check the clock."""
    answers: list[tuple[bytes, bytes]] = []
    talker = threading.Thread(target=lambda: answers.append(process.communicate(ir)), daemon=True)
    talker.start()
    try:
        while talker.is_alive():
            talker.join(_LOOK_SECONDS)
            interrupts.check()
    except BaseException:
        process.kill()
        raise
    finally:
        talker.join()
    return answers[0]
