"""What looks on while a kernel runs: called by the builder at each instruction, in a variant compiled for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op


class Watch:
    """Adds code around instructions; this one adds none."""

    def sees(self, op: Op) -> bool:
        """Whether it has something to do at an instruction, which must then be built by itself."""
        del op
        return False

    def enter(self, b: Builder) -> None:
        """The running lanes are at the start of the block, and will run it."""

    def before(self, b: Builder) -> None:
        """The instruction is about to run, in the active lanes."""

    def after(self, b: Builder) -> None:
        """The instruction has run, and lanes go on after it."""

    def diverged(self, b: Builder) -> None:
        """A branch sends the running lanes to different places."""

    def accesses(
        self,
        b: Builder,
        addresses: Value,
        offset: int,
        *,
        size: int,
        space: int,
        lanes: int = 32,
        bits: int = 64,
        mask: Value | None = None,
    ) -> None:
        """The active lanes access memory.

        Args:
            b: The builder, at the instruction.
            addresses: Where the 32 addresses lie.
            offset: Bytes added to each.
            size: Bytes a lane.
            space: The state space that the addresses are in.
            lanes: How many lanes name an address, from lane 0 on.
            bits: The width of an address.
            mask: The lanes, if not the active ones.
        """


class Watches(Watch):
    """Several that look on, one after the other."""

    def __init__(self, *watches: Watch) -> None:
        self.watches = watches

    def sees(self, op: Op) -> bool:
        """Whether any does."""
        return any(watch.sees(op) for watch in self.watches)

    def enter(self, b: Builder) -> None:
        """Tell them all."""
        for watch in self.watches:
            watch.enter(b)

    def before(self, b: Builder) -> None:
        """Tell them all."""
        for watch in self.watches:
            watch.before(b)

    def after(self, b: Builder) -> None:
        """Tell them all."""
        for watch in self.watches:
            watch.after(b)

    def diverged(self, b: Builder) -> None:
        """Tell them all."""
        for watch in self.watches:
            watch.diverged(b)

    def accesses(
        self,
        b: Builder,
        addresses: Value,
        offset: int,
        *,
        size: int,
        space: int,
        lanes: int = 32,
        bits: int = 64,
        mask: Value | None = None,
    ) -> None:
        """Tell them all."""
        for watch in self.watches:
            watch.accesses(b, addresses, offset, size=size, space=space, lanes=lanes, bits=bits, mask=mask)
