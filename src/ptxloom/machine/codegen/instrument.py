"""Combines several instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.codegen.builder import Instrument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax import tree


class Instruments(Instrument):
    """Several instruments, called one after the other."""

    def __init__(self, *several: Instrument) -> None:
        self.several = several

    def sees(self, op: Op) -> bool:
        """Whether any of them adds code at an instruction."""
        return any(one.sees(op) for one in self.several)

    def enter(self, b: Builder) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.enter(b)

    def before(self, b: Builder) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.before(b)

    def access(self, b: Builder, access: Access) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.access(b, access)

    def give(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.give(b, registers)

    def take(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.take(b, registers)

    def after(self, b: Builder) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.after(b)

    def diverged(self, b: Builder) -> None:
        """Call it on all of them."""
        for one in self.several:
            one.diverged(b)
