"""A kernel's hot code, made by a process of its own: a request from input, code to output (`compile.beside`)."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path
from typing import Final

from ptxloom import disk_cache
from ptxloom.machine import semantics
from ptxloom.machine.compile.beside import HotRequest
from ptxloom.machine.compile.kept_code import hot_content
from ptxloom.machine.plan.afresh import contraction
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse

_KINDNESS: Final = 5  # by which others go first
_SACRIFICE: Final = Path("/proc/self/oom_score_adj")  # Linux: who is ended first where memory runs out
_FIRST: Final = "1000"


def made(request: HotRequest) -> bytes:
    """The code, as it is kept; nothing for a kernel that has none."""
    module = contraction(parse(request.text), request.name, fused=request.fused).module
    program = plan(module, request.name, semantics.Table(), request.cores)
    return hot_content(program, frozenset(request.checks))


def _stand_back() -> None:
    """Let others go first, and be ended before them where the host is short of memory."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    with contextlib.suppress(OSError):
        _SACRIFICE.write_text(_FIRST, encoding="ascii")


def _end_with_input() -> None:
    """End once the process that asks is gone, or does not want the code any more."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main() -> None:
    """Make what input asks for; what ends the process besides says nothing."""
    request = HotRequest.unpacked(sys.stdin.buffer.readline())
    if request.package != disk_cache.package_state():
        return  # ptxloom has been changed since
    _stand_back()
    threading.Thread(target=_end_with_input, daemon=True).start()
    code = request.marked(made(request))
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(code)
        sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
