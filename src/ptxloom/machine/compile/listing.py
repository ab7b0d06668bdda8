"""Listings of a kernel on its way to machine code, for debugging the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.compile.hot_variant import hot_plan, hot_variant
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.native import llvm, translation
from ptxloom.machine.native.closure import ATTRIBUTES
from ptxloom.machine.runtime import library

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Program


def kernel_ir(program: Program, *, whole: bool, checks: frozenset[str]) -> str:
    """The LLVM IR of one variant of a kernel, before LLVM processes it."""
    return translate(program, whole=whole, checks=checks).ir


def kernel_assembly(program: Program, *, whole: bool, checks: frozenset[str]) -> str:
    """The host's assembly of one variant of a kernel, as executed."""
    return llvm.assembly(kernel_ir(program, whole=whole, checks=checks), 0)


def hot_ir(program: Program, checks: frozenset[str]) -> str:
    """A summary of a kernel's hot code in a few lines, followed by its IR before LLVM processes it."""
    plan = "".join(f"; {line}\n" for line in hot_plan(program, checks).splitlines())
    try:
        return plan + hot_variant(program, checks).ir
    except NotHot:
        return plan


def runtime_ir(program: Program, *, whole: bool, checks: frozenset[str]) -> str:
    """The LLVM IR of every run-time function that one variant of a kernel calls directly, in order of names."""
    builder = translate(program, whole=whole, checks=checks).builder
    made = {native.signature.name: native.ir for native in map(translation.translate, builder.natives.values())}
    made |= {name: library.made(name)[0] for name in builder.accesses} | builder.helpers
    return "\n".join(f"; {name}\n{made[name].strip()}\n" for name in sorted(made)) + ATTRIBUTES
