"""What a launch needs of a kernel."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ptxloom.machine.memory.module_variables import ModuleMemory
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.profile import Countable


class Runnable(Protocol):
    """A kernel made ready to run."""

    program: Program
    memory: ModuleMemory

    @cached_property
    def countable(self) -> Countable:
        """What a profile counts."""
        ...

    @cached_property
    def has_workspace(self) -> bool:
        """Whether it reads where a grid-wide barrier keeps its counter."""
        ...

    @cached_property
    def function_table(self) -> bytes:
        """The module's functions, for calls through addresses."""
        ...

    def code(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of a variant's code, which is compiled if nobody has asked for it before."""
        ...

    def compiled(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of a variant's code if it has been compiled, else 0."""
        ...

    def local_bytes(self, stack_bytes: int) -> int:
        """What each lane needs of local memory, with so much for the frames of functions."""
        ...
