"""A kernel's hot code, made by a process of its own: a line of input asks, code goes to output (`compile.beside`)."""

from __future__ import annotations

import contextlib
import os
import sys
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
    """The code, in the form of the cache; empty for a kernel without hot code."""
    module = contraction(parse(request.text), request.name, fused=request.fused).module
    program = plan(module, request.name, semantics.BlockCuts(), request.cores)
    return hot_content(program, frozenset(request.checks))


def _stand_back() -> None:
    """Let others go first, and be ended before them where the host is short of memory."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    with contextlib.suppress(OSError):
        _SACRIFICE.write_text(_FIRST, encoding="ascii")


def main(line: bytes) -> None:
    """Make what a line asks for."""
    request = HotRequest.unpacked(line)
    if request.package == disk_cache.package_state():  # else ptxloom has been changed since
        _stand_back()
        code = request.marked(made(request))
        with contextlib.suppress(OSError):
            sys.stdout.buffer.write(code)
            sys.stdout.buffer.flush()
