"""The properties of a launch beside its parameters and the memory that it may touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ptxloom.machine.launch.launch_limits import Shape


class Facts(NamedTuple):
    """The properties of a launch; launches of a kernel that agree in these share a state, except parameters and memory.

    Attributes:
        shape: The extents.
        shared_bytes: Dynamic shared memory.
        seed: The order of warps.
        stack_bytes: Local memory of a thread for calls.
        checks: The tools that watch.
        printf_bytes: What may be printed.
    """

    shape: Shape
    shared_bytes: int
    seed: int
    stack_bytes: int
    checks: frozenset[str]
    printf_bytes: int
