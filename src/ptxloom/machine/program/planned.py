"""A program that is planned on first use: a launch with cached code needs no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.program.model import Program


class Planned:
    """A program.

    Args:
        make: Plans it.
        fused: Whether products and sums without a rounding were fused before.
    """

    def __init__(self, make: Callable[[], Program], *, fused: bool = False) -> None:
        self._make = make
        self.fused = fused

    @cached_property
    def program(self) -> Program:
        """The program itself, planned on first access."""
        return self._make()
