"""Launches by kernels (CUDA's dynamic parallelism, as in CUDA 12), collected while a grid runs.

A kernel asks for a buffer, stores the parameters there, and launches it into a stream. The child runs once the grid has
ended (`running`), which hardware may also do: a grid sees no effects of its children. Launches that go wrong leave an
error with the thread that made them.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from ptxloom.binding.sizes import align, parameters
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import PARAMETER_BYTES, SHARED_BYTES
from ptxloom.machine.launch.launch_limits import shape_of
from ptxloom.machine.runtime.state import CODE_WINDOW, FUNCTION_STEP

if TYPE_CHECKING:
    from ptxloom.machine.launch.launch_limits import Dim3
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.syntax.module import Module

Thread: TypeAlias = tuple[tuple[int, int, int], int, int]
"""A thread of a grid: its CTA, its warp there, its lane."""
PENDING_LAUNCHES: Final = 2048
"""Launches that may wait to begin (cudaLimitDevRuntimePendingLaunchCount)."""
MOST_PENDING: Final = 1 << 20
MOST_DEPTH: Final = 24
"""The depth limit of grids below the first one; tail launches do not count."""
_ALIGNMENT: Final = 128  # of a buffer
_NOTE_BYTES: Final = 1024  # that Python takes to remember a launch
_MOST_ERRORS: Final = 1 << 16  # threads whose last error is remembered
_TAIL: Final = 3  # the stream cudaStreamTailLaunch
_INVALID_VALUE, _INVALID_CONFIGURATION, _MAX_DEPTH, _PENDING_COUNT, _INVALID_FUNCTION = 1, 9, 65, 69, 98
_WHAT: Final = "parameters of launches by kernels"


class DeviceLaunch(NamedTuple):
    """A launch that a kernel made.

    Attributes:
        kernel: Its name.
        shape: Its extents.
        shared_bytes: Its dynamic shared memory.
        params: Its parameters.
        depth: Grids above it.
        is_tail: Whether it runs after everything else that its launcher launches.
    """

    kernel: str
    shape: Dim3
    shared_bytes: int
    params: bytes
    depth: int
    is_tail: bool


class LaunchRequest(NamedTuple):
    """A launch as requested by a thread.

    Attributes:
        function: The kernel's address.
        grid: CTAs in x, y, z.
        block: Threads of a CTA in x, y, z.
        shared_bytes: Dynamic shared memory.
    """

    function: int
    grid: list[int]
    block: list[int]
    shared_bytes: int


class _Known(NamedTuple):
    """The first fields of a `DeviceLaunch`, before its parameters are stored."""

    kernel: str
    shape: Dim3
    shared_bytes: int


class Waiting:
    """Launches by the grids of one family that have not started; the next ones to start come last.

    Args:
        most: The most launches, counting those that running grids have made.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.launches: list[DeviceLaunch] = []

    def add(self, made: list[DeviceLaunch]) -> None:
        """Add the launches of a grid: launches without a stream or in a stream come first, then the tails."""
        self.launches += reversed([one for one in made if one.is_tail])
        self.launches += reversed([one for one in made if not one.is_tail])


class DeviceLaunches:
    """The launches of one grid, and the buffers for their parameters.

    Args:
        module: The module whose kernels it may launch.
        waiting: The waiting launches of its family.
        depth: Grids above this one.
    """

    def __init__(self, module: Module, waiting: Waiting, depth: int) -> None:
        self._module = module
        self._waiting = waiting
        self._depth = depth
        self._most = waiting.most - len(waiting.launches)  # what waits begins only after this grid
        self._functions = tuple(module.functions)
        self._sizes = {name: _parameter_bytes(module, name) for name in module.kernels}
        self._size = min(max(self._sizes.values(), default=0), PARAMETER_BYTES)
        self._step = align(max(self._size, 1), _ALIGNMENT)
        self._region = np.zeros(0, np.uint8)
        self._start = 0
        self._buffers = 0  # handed out; not taken back while the grid runs, so that threads do not share one
        self._known: dict[int, _Known] = {}  # by the buffer's address
        self._errors: dict[Thread, int] = {}
        self.made: list[DeviceLaunch] = []

    @property
    def is_last(self) -> bool:
        """Whether nothing of the family runs after this grid."""
        return not self.made and not self._waiting.launches

    def show(self, memory: Memory, budget: Budget) -> None:
        """Make the parameter buffers accessible to the grid.

        Raises:
            OverBudget: There is no memory for as many.
        """
        budget.charge(_WHAT, self._most * (self._step + _NOTE_BYTES))
        self._region = np.zeros(self._most * self._step + _ALIGNMENT, np.uint8)
        self._start = align(memory.add(self._region, _WHAT), _ALIGNMENT)

    def buffer(self, thread: Thread, size: int) -> int:
        """The address at which the thread may store the parameters of any kernel; 0 if memory has run out."""
        if size > self._size:
            return 0
        if self._buffers >= self._most:
            self._noted(thread, _PENDING_COUNT)
            return 0
        self._buffers += 1
        return self._start + (self._buffers - 1) * self._step

    def buffer_for(self, thread: Thread, wanted: LaunchRequest) -> int:
        """The same for one launch; if the launch is impossible, sets the thread's error and returns 0."""
        known = self._judged(thread, wanted)
        made = self.buffer(thread, 0) if known is not None else 0
        if known is not None and made:
            self._known[made] = known
        return made

    def launch(self, thread: Thread, wanted: LaunchRequest, buffer: int, stream: int) -> int:
        """Launch a kernel with the parameters in a buffer; returns the error."""
        known = self._judged(thread, wanted)
        return self.peek_error(thread) if known is None else self._noted(thread, self._launched(known, buffer, stream))

    def launch_buffer(self, thread: Thread, buffer: int, stream: int) -> int:
        """Launch the kernel of a buffer; returns the error."""
        known = self._known.pop(buffer, None)
        return self._noted(thread, _INVALID_VALUE if known is None else self._launched(known, buffer, stream))

    def last_error(self, thread: Thread) -> int:
        """Return and clear the thread's last error."""
        return self._errors.pop(thread, 0)

    def peek_error(self, thread: Thread) -> int:
        """The thread's last error."""
        return self._errors.get(thread, 0)

    def _judged(self, thread: Thread, wanted: LaunchRequest) -> _Known | None:
        """The validated launch; None, with the thread's error set, if it is impossible."""
        name = self._kernel_at(wanted.function)
        if name not in self._sizes or self._sizes[name] > self._size:
            self._noted(thread, _INVALID_FUNCTION)
            return None
        try:
            shape = shape_of(wanted.grid, wanted.block, None, self._module.functions[name].directives)
        except UsageError:
            shape = None
        if shape is None or wanted.shared_bytes > SHARED_BYTES:
            self._noted(thread, _INVALID_CONFIGURATION)
            return None
        return _Known(name, shape, wanted.shared_bytes)

    def _kernel_at(self, address: int) -> str:
        """The function at an address; empty if it is not the address of a function."""
        number, rest = divmod(address - CODE_WINDOW, FUNCTION_STEP)
        return self._functions[number - 1] if rest == 0 and 1 <= number <= len(self._functions) else ""

    def _launched(self, known: _Known, buffer: int, stream: int) -> int:
        """Record a launch; returns the error."""
        at = buffer - self._start
        if not 0 <= at < self._buffers * self._step or at % self._step:
            return _INVALID_VALUE
        depth = self._depth + (stream != _TAIL)
        if depth > MOST_DEPTH:
            return _MAX_DEPTH
        if len(self.made) >= self._most:
            return _PENDING_COUNT
        params = ctypes.string_at(buffer, self._sizes[known.kernel])
        self.made.append(DeviceLaunch(*known, params, depth, stream == _TAIL))
        return 0

    def _noted(self, thread: Thread, error: int) -> int:
        """Remember a thread's error, if it is one, and return it."""
        if error and len(self._errors) < _MOST_ERRORS:
            self._errors[thread] = error
        return error


def _parameter_bytes(module: Module, name: str) -> int:
    placed = parameters(module.functions[name].params)
    return placed[-1].end if placed else 0
