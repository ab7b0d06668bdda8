"""What a launch needs from a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from ptxloom.machine.compile.kernel_code import KernelCode
    from ptxloom.machine.compile.needs import Needs
    from ptxloom.machine.memory.module_variables import ModuleMemory
    from ptxloom.machine.program.planned import Planned
    from ptxloom.machine.results.profile import Countable


class Runnable(Protocol):
    """A kernel made ready to run."""

    planned: Planned
    needs: Needs
    memory: ModuleMemory
    code: KernelCode

    @cached_property
    def countable(self) -> Countable:
        """The description of what a profile counts."""
        ...

    def local_bytes(self, stack_bytes: int) -> int:
        """The local memory that each lane needs, including this much for the frames of functions."""
        ...
