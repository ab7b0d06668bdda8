"""Compiles a kernel's hot code in a background process: requests on input, code on output (`compile.beside`)."""

from __future__ import annotations

import contextlib
import sys

from ptxloom import disk_cache
from ptxloom.machine import semantics
from ptxloom.machine.compile.beside import HotRequest
from ptxloom.machine.compile.kept_code import hot_content
from ptxloom.machine.native import beside
from ptxloom.machine.plan.afresh import contraction
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse


def made(request: HotRequest) -> bytes:
    """The code, in the form of the cache; empty for a kernel without hot code."""
    module = contraction(parse(request.text), request.name, fused=request.fused).module
    program = plan(module, request.name, semantics.BlockCuts(), request.cores)
    return hot_content(program, frozenset(request.checks))


def main(line: bytes) -> None:
    """Compile the code of a request."""
    request = HotRequest.unpacked(line)
    if request.package == disk_cache.package_state():  # else ptxloom has changed since
        beside.stand_back()
        code = beside.marked(request.mark, made(request))
        with contextlib.suppress(OSError):
            sys.stdout.buffer.write(code)
            sys.stdout.buffer.flush()
