"""A kernel's hot code, made by a process of its own: a line of input asks, code goes to output (`compile.beside`)."""

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
    """Make what a line asks for."""
    request = HotRequest.unpacked(line)
    if request.package == disk_cache.package_state():  # else ptxloom has been changed since
        beside.stand_back()
        code = beside.marked(request.mark, made(request))
        with contextlib.suppress(OSError):
            sys.stdout.buffer.write(code)
            sys.stdout.buffer.flush()
