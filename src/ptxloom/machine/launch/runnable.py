"""What a launch needs of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from ptxloom.machine.compile.kernel_code import KernelCode
    from ptxloom.machine.memory.module_variables import ModuleMemory
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.profile import Countable


class Runnable(Protocol):
    """A kernel made ready to run."""

    program: Program
    memory: ModuleMemory
    code: KernelCode

    @cached_property
    def countable(self) -> Countable:
        """What a profile counts."""
        ...

    @cached_property
    def has_workspace(self) -> bool:
        """Whether it reads where a grid-wide barrier keeps its counter."""
        ...

    @cached_property
    def runtime_calls(self) -> frozenset[str]:
        """Those of CUDA's device run-time calls that it makes."""
        ...

    @cached_property
    def function_table(self) -> bytes:
        """The module's functions, for calls through addresses."""
        ...

    def local_bytes(self, stack_bytes: int) -> int:
        """What each lane needs of local memory, with so much for the frames of functions."""
        ...
