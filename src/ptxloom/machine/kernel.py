"""`pl.kernel(module, name).launch(...)`: a kernel of a PTX module, compiled for the CPU and run there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ptxloom.diagnostics import UsageError
from ptxloom.isa.target import Target
from ptxloom.machine import compiler, semantics
from ptxloom.machine.arguments import Memory, pack
from ptxloom.machine.data import memory_of
from ptxloom.machine.launch import Grid, Shape, default_threads
from ptxloom.machine.program import plan
from ptxloom.machine.report import LaunchResult
from ptxloom.machine.semantics.control import frame_of
from ptxloom.machine.tensor.recipe import ARCHITECTURES, architecture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.llvm import Code
    from ptxloom.syntax.module import Module

DEFAULT_CHECKS = ("memcheck", "synccheck")
_CHECKS = ("memcheck", "synccheck")
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_CLUSTER_LIMITS = (16, 16, 16)
_THREAD_LIMIT = 1024
_SHARED_LIMIT = 227 * 1024


class Kernel:
    """A kernel ready to run. It is translated at once, so that what cannot run is refused before anything runs."""

    def __init__(self, module: Module, name: str, arch: str | None = None) -> None:
        self.name = name
        self.program = plan(module, name, semantics.Table())
        self.program.arch = tensor_arch(module) if arch is None else arch
        self.memory = memory_of(module)
        self._lock = threading.Lock()
        self._code: dict[tuple[bool, frozenset[str]], Code] = {}
        self.code(whole=True, checks=frozenset(DEFAULT_CHECKS))

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {len(self.program.ops)} instructions)"

    def global_array(self, name: str) -> NDArray[Any]:
        """A global or const variable of the kernel's module, by its own type and shape; writable in place.

        All kernels of one module see the same variables.

        Raises:
            UsageError: The module has no such variable.
        """
        return self.memory.array(name)

    def code(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of the code for whole warps, or for parts of warps; compiled when first asked for."""
        with self._lock:
            if (whole, checks) not in self._code:
                self._code[whole, checks] = compiler.compile_variant(self.program, whole=whole, checks=checks)
            return self._code[whole, checks].address

    def compiled_masked(self, checks: frozenset[str]) -> int:
        """The code for parts of warps if it has been compiled, else 0."""
        code = self._code.get((False, checks))
        return 0 if code is None else code.address

    def local_bytes(self, stack_bytes: int) -> int:
        """What each lane needs of local memory: the kernel's frame, and `stack_bytes` more if it calls functions."""
        return frame_of(self.program.entry) + (stack_bytes if self.program.has_calls else 0)

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object] = (),
        shared_bytes: int = 0,
        *,
        cluster: int | Sequence[int] = 1,
        checks: Sequence[str] = DEFAULT_CHECKS,
        threads: int | None = None,
        timeout: float | None = None,
        schedule_seed: int = 0,
        stack_bytes: int = 16384,
    ) -> LaunchResult:
        """Run the kernel over a grid.

        Args:
            grid: CTAs in x, y, z.
            block: Threads of a CTA in x, y, z.
            args: One value a parameter: a C-contiguous NumPy array is device memory, written in place; numbers take the
                parameter's type; parameters that are arrays of bytes (structs) take bytes or a NumPy value.
            shared_bytes: Dynamic shared memory.
            cluster: CTAs of a cluster in x, y, z; they run at the same time and reach each other's shared memory.
            checks: The tools that watch the run: memcheck and synccheck, which cost nothing.
            threads: Threads of the host; by default one a core.
            timeout: Seconds after which the kernel is ended.
            schedule_seed: Another order of warps for each number.
            stack_bytes: Local memory a thread has for calls.

        Raises:
            UsageError: An argument is wrong; nothing has run.
            LaunchError: The kernel was ended by an error, as it would be on hardware.
        """
        shape = Shape(
            _extent("grid", grid, _GRID_LIMITS),
            _extent("block", block, _BLOCK_LIMITS),
            _extent("cluster", cluster, _CLUSTER_LIMITS),
        )
        if any(g % c for g, c in zip(shape.grid, shape.cluster, strict=True)):
            raise UsageError("cluster", shape.cluster, f"a divisor of the grid {shape.grid}")
        if shape.threads > _THREAD_LIMIT:
            raise UsageError("block", shape.block, f"at most {_THREAD_LIMIT} threads")
        if not 0 <= shared_bytes <= _SHARED_LIMIT:
            raise UsageError("shared_bytes", shared_bytes, f"0 to {_SHARED_LIMIT}")
        unknown = [c for c in checks if c not in _CHECKS]
        if unknown:
            raise UsageError("checks", unknown[0], f"any of {', '.join(_CHECKS)}")
        memory = Memory()
        params = pack(self.program, args, memory)
        run = Grid(self, shape, shared_bytes, params, memory, schedule_seed, stack_bytes, frozenset(checks))
        run.run(default_threads() if threads is None else threads, timeout)
        return LaunchResult(run.instructions, run.hazards, "".join(run.output))


_KERNELS: WeakValueDictionary[tuple[int, str, str | None], Kernel] = WeakValueDictionary()


def kernel(module: Module, name: str, arch: str | None = None) -> Kernel:
    """A kernel of a module, ready to run; the same one each time while it is in use.

    Args:
        module: The parsed module.
        name: The kernel's name.
        arch: Whose tensor cores compute, `sm_75` to `sm_90`: they differ in the last bits. By default the module's
            target (the nearest of these).

    Raises:
        UsageError: The module has no kernel of this name, or there is no such architecture.
        UnsupportedInstruction: The machine cannot run one of its instructions; it names the line.
    """
    if arch is not None:
        architecture(arch)
    key = (id(module), name, arch)
    known = _KERNELS.get(key)
    if known is None or known.program.module is not module:
        known = _KERNELS[key] = Kernel(module, name, arch)
    return known


def tensor_arch(module: Module) -> str:
    """The architecture whose tensor cores a module's target stands for."""
    numbers = [Target.parse(name).number for name in module.target if name.startswith("sm_")]
    known = [n for n in ARCHITECTURES if n <= (numbers[0] if numbers else ARCHITECTURES[-1])]
    return f"sm_{known[-1] if known else ARCHITECTURES[0]}"


def _extent(argument: str, value: int | Sequence[int], limits: tuple[int, int, int]) -> tuple[int, int, int]:
    numbers: list[Any] = [value] if isinstance(value, int) else list(value)
    whole = [*numbers, 1, 1, 1][:3]
    legal = f"one to three integers from 1 to {', '.join(map(str, limits))}"
    if len(numbers) > 3 or not numbers or any(isinstance(n, bool) or not hasattr(n, "__index__") for n in whole):
        raise UsageError(argument, value, legal)
    x, y, z = (int(n) for n in whole)
    if any(not 1 <= n <= limit for n, limit in zip((x, y, z), limits, strict=True)):
        raise UsageError(argument, value, legal)
    return x, y, z
