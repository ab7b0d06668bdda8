"""The hot code of a kernel: when it is possible, and how it is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.machine import semantics
from ptxloom.machine.codegen.access import is_strong
from ptxloom.machine.compile.tiers import LONGEST
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.hot.facts import Facts
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.hot.rewrite import hot
from ptxloom.machine.hot.summary import summary
from ptxloom.machine.instruments.wanted import lets_be_hot
from ptxloom.machine.program.mentions import mentioned

if TYPE_CHECKING:
    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.program.model import Program


def hot_variant(program: Program, checks: frozenset[str]) -> Variant:
    """The hot code of a kernel, for whole warps.

    Args:
        program: The kernel.
        checks: The tools that watch: those that let code be hot.

    Raises:
        NotHot: The kernel has no hot code.
        UnsupportedInstruction: The machine does not know an instruction.
    """
    plain = _plain(program, checks)
    return replace(plain, ir=hot(plain.ir, program, _facts(program)))


def hot_plan(program: Program, checks: frozenset[str]) -> str:
    """Describe how hot code treats a kernel's registers and accesses, or why the kernel has no hot code."""
    if not lets_be_hot(checks):
        return "no hot code: a tool that watches has code of its own\n"
    try:
        return summary(_plain(program, checks).ir, program, _facts(program))
    except NotHot as why:
        return f"no hot code: {why}\n"


def _plain(program: Program, checks: frozenset[str]) -> Variant:
    """The code for whole warps, ready to be rewritten."""
    if program.has_calls:
        raise NotHot("it calls functions, or has memory on the stack")
    if len(program.ops) > LONGEST:
        raise NotHot(f"it has {len(program.ops):,} instructions, more than {LONGEST:,}")
    plain = translate(program, whole=True, checks=checks, careful=True, written_out=True)
    if plain.builder.numbered:
        raise NotHot("a function of the run-time finds registers by itself")
    return plain


def _facts(program: Program) -> Facts:
    """Facts that the code does not contain."""
    shared: set[int] = set()
    for op in program.ops:
        row = semantics.find(op)
        if row is not None and row.starts:
            shared.update(register.offset for register in mentioned(op))
    return Facts(frozenset(shared), frozenset(op.site for op in program.ops if is_strong(op)))
