"""A kernel's hot code, made by a process of its own: a request from input, code to output (`compile.beside`)."""

from __future__ import annotations

import os
import sys
from typing import Final

from ptxloom.machine import semantics
from ptxloom.machine.compile.beside import HotRequest
from ptxloom.machine.compile.kept_code import hot_content
from ptxloom.machine.plan.afresh import contraction
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse

_KINDNESS: Final = 5  # by which others go first


def made(request: HotRequest) -> bytes:
    """The code, as it is kept; nothing for a kernel that has none."""
    module = contraction(parse(request.text), request.name, fused=request.fused).module
    program = plan(module, request.name, semantics.Table(), request.cores)
    return hot_content(program, frozenset(request.checks))


def main() -> None:
    """Make what input asks for."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    sys.stdout.buffer.write(made(HotRequest.unpacked(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
