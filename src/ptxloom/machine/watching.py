"""What looks on while a kernel runs: called by the builder at each instruction, in a variant compiled for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.ir import Value


class Watch:
    """Adds code around instructions; this one adds none."""

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
