"""Instruments: what looks on while a kernel runs, told by the builder at each instruction of a variant made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op


class Instrument:
    """Adds code around instructions; this one adds none."""

    def sees(self, op: Op) -> bool:
        """Whether it has something to do at an instruction, which must then be built by itself."""
        del op
        return False

    def enter(self, b: Builder) -> None:
        """The running lanes are at the start of the block, and will run it."""

    def before(self, b: Builder) -> None:
        """The instruction is about to run, in the active lanes."""

    def access(self, b: Builder, access: Access) -> None:
        """The instruction is about to access memory."""

    def after(self, b: Builder) -> None:
        """The instruction has run, and lanes go on after it."""

    def diverged(self, b: Builder) -> None:
        """A branch sends the running lanes to different places."""


class Instruments(Instrument):
    """Several that look on, told one after the other."""

    def __init__(self, *several: Instrument) -> None:
        self.several = several

    def sees(self, op: Op) -> bool:
        """Whether any does."""
        return any(one.sees(op) for one in self.several)

    def enter(self, b: Builder) -> None:
        """Tell them all."""
        for one in self.several:
            one.enter(b)

    def before(self, b: Builder) -> None:
        """Tell them all."""
        for one in self.several:
            one.before(b)

    def access(self, b: Builder, access: Access) -> None:
        """Tell them all."""
        for one in self.several:
            one.access(b, access)

    def after(self, b: Builder) -> None:
        """Tell them all."""
        for one in self.several:
            one.after(b)

    def diverged(self, b: Builder) -> None:
        """Tell them all."""
        for one in self.several:
            one.diverged(b)
