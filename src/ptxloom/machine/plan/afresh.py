"""A kernel that is not cached: contracted if requested, planned, and analysed for its launches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.machine import semantics
from ptxloom.machine.compile.needs_of import needs_of
from ptxloom.machine.contraction.rewrite import Contraction, contracted
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.program.parameters import called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Program
    from ptxloom.syntax.module import Module

__all__ = ["contraction", "needs_of", "program"]


def contraction(module: Module, name: str, *, fused: bool) -> Contraction:
    """A module in the form to run: as written, or with products and sums fused as ptxas fuses them."""
    return contracted(module, name) if fused else Contraction(module, {})


def program(module: Module, name: str, cores: str, names: Sequence[str]) -> Program:
    """The planned kernel, its parameters named as in the source."""
    made = plan(module, name, semantics.BlockCuts(), cores)
    return replace(made, parameters=called(made.parameters, names))
