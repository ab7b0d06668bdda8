"""`pl.kernel(module, name).launch(...)`: a kernel of a PTX module, compiled for the CPU and run there."""

from __future__ import annotations

import threading
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

import numpy as np

from ptxloom.diagnostics import UsageError, must_be
from ptxloom.isa.target import Target
from ptxloom.machine import compiler, interrupts, legality, semantics
from ptxloom.machine.arguments import Memory, pack
from ptxloom.machine.data import memory_of
from ptxloom.machine.extents import check_shape, extent, must_be_several, whole
from ptxloom.machine.hazard import LaunchError
from ptxloom.machine.launch import Grid, Progress, Shape, default_threads
from ptxloom.machine.meaning import names_register
from ptxloom.machine.planner import plan
from ptxloom.machine.profile import Countable
from ptxloom.machine.program import LOCAL_LIMIT, SHARED_LIMIT
from ptxloom.machine.provenance import VARIABLES
from ptxloom.machine.report import LaunchResult
from ptxloom.machine.tensor.recipe import ARCHITECTURES, architecture
from ptxloom.machine.trace import Recording, choose
from ptxloom.machine.tracing import keys_of
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.tree import Integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.llvm import Code
    from ptxloom.machine.trace import Request

DEFAULT_CHECKS = ("memcheck", "synccheck")
CHECKS = ("memcheck", VARIABLES, "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")


class Kernel:
    """A kernel ready to run. It is translated at once, so that what cannot run is refused before anything runs.

    Example:
        >>> from ptxloom.syntax import parse
        >>> import numpy as np
        >>> text = ".version 9.0 .target sm_90 .entry k(.param .u64 p) { .reg .b64 %a; "
        >>> text += ".reg .b32 %t; mov.u32 %t, %tid.x; ld.param.u64 %a, [p]; mad.wide.u32 %a, %t, 4, %a; "
        >>> text += "st.global.u32 [%a], %t; ret; }"
        >>> array = np.zeros(4, np.uint32)
        >>> result = Kernel(parse(text), "k").launch(grid=1, block=4, args=[array])
        >>> array
        array([0, 1, 2, 3], dtype=uint32)
    """

    def __init__(self, module: Module, name: str, arch: str | None = None, *, unchecked: bool = False) -> None:
        with interrupts.guarded(), legality.explained(module, name, unchecked=unchecked):
            self.name = name
            self.program = plan(module, name, semantics.Table())
            self.program.arch = tensor_arch(module) if arch is None else arch
            self.memory = memory_of(module)
            self._lock = threading.Lock()
            self._code: dict[tuple[bool, frozenset[str]], Code] = {}
            self._judge = None if unchecked else cache(partial(legality.must_be_legal, module, name))
            self.code(whole=True, checks=frozenset(DEFAULT_CHECKS))

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {len(self.program.ops)} instructions)"

    @cached_property
    def countable(self) -> Countable:
        """What a profile counts."""
        return Countable(self.program)

    @cached_property
    def has_workspace(self) -> bool:
        """Whether it reads where a grid-wide barrier keeps its counter."""
        return names_register(self.program, "%envreg")

    def global_array(self, name: str) -> NDArray[Any]:
        """A global or const variable of the kernel's module, as `Module.global_array` gives it: all kernels share it.

        Args:
            name: As the module declares it.

        Returns:
            The variable itself: what is written there, kernels read.

        Raises:
            UsageError: The module has no such variable.
        """
        return self.memory.array(name)

    def code(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of the code for whole warps, or for parts of warps; compiled when first asked for.

        Args:
            whole: For warps whose lanes all run.
            checks: The tools that watch.

        Returns:
            An address to call.
        """
        with self._lock:
            if (whole, checks) not in self._code:
                with legality.explained(self.program.module, self.name, unchecked=self._judge is None):
                    self._code[whole, checks] = compiler.compile_variant(
                        self.program, whole=whole, checks=checks, judge=self._judge
                    )
            return self._code[whole, checks].address

    def compiled_masked(self, checks: frozenset[str]) -> int:
        """The code for parts of warps if it has been compiled, else 0.

        Args:
            checks: The tools that watch.

        Returns:
            An address to call, or 0.
        """
        code = self._code.get((False, checks))
        return 0 if code is None else code.address

    def local_bytes(self, stack_bytes: int) -> int:
        """What each lane needs of local memory: the kernel's frame, and `stack_bytes` more if it calls functions.

        Args:
            stack_bytes: For the frames of functions and `alloca`.

        Returns:
            Bytes a lane.
        """
        return self.program.entry.frame_bytes + (stack_bytes if self.program.has_calls else 0)

    @cached_property
    def required_cluster(self) -> tuple[int, int, int] | None:
        """The cluster that the kernel's `.reqnctapercluster` asks for."""
        for directive in self.program.module.functions[self.name].directives:
            if directive.name == "reqnctapercluster":
                values = [value.value for value in directive.values if isinstance(value, Integer)]
                return extent("cluster", values)
        return None

    def _cluster(self, given: int | Sequence[int] | None) -> tuple[int, int, int]:
        """The cluster of a launch.

        Raises:
            UsageError: It is not what the kernel asks for, or no cluster at all.
        """
        required = self.required_cluster
        if given is None:
            return required or (1, 1, 1)
        cluster = extent("cluster", given)
        if required is not None and cluster != required:
            raise UsageError("cluster", given, f"{required}, as the kernel's `.reqnctapercluster` says")
        return cluster

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object] = (),
        shared_bytes: int = 0,
        *,
        cluster: int | Sequence[int] | None = None,
        checks: Sequence[str] = DEFAULT_CHECKS,
        profile: bool = False,
        trace: Sequence[Request] = (),
        threads: int | None = None,
        timeout: float | None = None,
        schedule_seed: int = 0,
        stack_bytes: int = 16384,
        progress: Progress | None = None,
        uninitialised: Sequence[object] = (),
    ) -> LaunchResult:
        """Run the kernel over a grid.

        Args:
            grid: CTAs in x, y, z.
            block: Threads of a CTA in x, y, z.
            args: One value a parameter: a C-contiguous NumPy array is device memory, written in place; numbers take the
                parameter's type; parameters that are arrays of bytes (structs) take bytes or a NumPy value.
            shared_bytes: Dynamic shared memory.
            cluster: CTAs of a cluster in x, y, z; they run at the same time and reach each other's shared memory. By
                default what the kernel's `.reqnctapercluster` asks for, else a launch without clusters.
            checks: The tools that watch the run: memcheck and synccheck, which cost nothing; `memcheck:variables`,
                which tells of addresses that leave the variable they were made from; racecheck, of accesses to
                shared memory that no barrier, mbarrier, fence or wait orders, whatever the schedule; initcheck, of uses
                of what nobody has written in shared and local memory and in registers, and `initcheck:global` of the
                same in global memory; `racecheck:global`, of races in global memory, within CTAs and between them, and
                of loads with `.nc` of what the kernel writes, which takes 10 bytes of memory a byte touched, and more
                where many threads touch it.
            profile: Whether to count what each instruction costs; `LaunchResult.profile` tells.
            trace: Which instructions to record, `LaunchResult.trace` holds the records: patterns such as "ldmatrix",
                PTX lines, source lines such as "kernel.cu:45", or `Trace`s, which also choose blocks and warps.
            threads: Threads of the host; by default one a core.
            timeout: Seconds after which the kernel is ended.
            schedule_seed: Another order of warps for each number.
            stack_bytes: Local memory a thread has for calls.
            progress: Called four times a second, from a thread of its own, with the CTAs started and all CTAs.
            uninitialised: Arrays that hold nothing yet (or their places among `args`): `initcheck:global` tells who
                reads of them, or of memory from `malloc`, what nobody has written.

        Returns:
            What the run did, beside what it wrote into the arrays.

        Raises:
            UsageError: An argument is wrong; nothing has run.
            LaunchError: The kernel was ended by an error, as it would be on hardware.
        """
        shape = Shape(
            extent("grid", grid),
            extent("block", block),
            self._cluster(cluster),
            clustered=cluster is not None or self.required_cluster is not None,
        )
        check_shape(shape, self.program.entry.node.directives)
        static = self.program.shared_bytes - self.program.reserved_bytes
        room = max(SHARED_LIMIT - static, 0)
        shared_bytes = _integer("shared_bytes", shared_bytes, 0, room, f" beside the kernel's own {static}")
        stack_bytes = _integer("stack_bytes", stack_bytes, 0, LOCAL_LIMIT)
        schedule_seed = _integer("schedule_seed", schedule_seed)
        count = default_threads() if threads is None else _integer("threads", threads, 1)
        seconds = _seconds(timeout)
        _check_names(checks)
        if progress is not None and not callable(progress):
            raise UsageError("progress", cast("object", progress), "a function of two numbers")
        if "racecheck:global" in checks:
            count = 1  # one thread of the host sees every CTA
        memory = Memory()
        params = pack(self.program, args, memory)
        memory.unwritten += _unwritten(uninitialised, args)
        watched = frozenset(checks) | (frozenset({"profile"}) if profile else frozenset[str]())
        recording = None
        if trace:
            chosen = choose(trace, self.program, shape.grid, -(-shape.threads // 32))
            recording = Recording(self.program, chosen, shape.grid, -(-shape.threads // 32))
            watched |= keys_of(recording.rooms)
        run = Grid(self, shape, shared_bytes, params, memory, schedule_seed, stack_bytes, watched)
        run.recording = recording
        try:
            with interrupts.guarded():
                run.run(count, seconds, progress)
        except LaunchError as error:
            error.trace = recording.records(run.atlas) if recording else ()
            raise
        finally:
            profiled = None if run.failure else run.profile()
            run.workers.clear()  # they hold the grid: its memory goes now, not at the next collection
        records = recording.records(run.atlas) if recording else ()
        return LaunchResult(run.instructions, run.hazards, "".join(run.output), profiled, records)


_KERNELS: WeakValueDictionary[tuple[int, str, str | None, bool], Kernel] = WeakValueDictionary()


def kernel(module: Module, name: str, arch: str | None = None, *, unchecked: bool = False) -> Kernel:
    """A kernel of a module, ready to run; the same one each time while it is in use.

    Args:
        module: The parsed module.
        name: The kernel's name.
        arch: Whose tensor cores compute, `sm_75` to `sm_90`: they differ in the last bits. By default the module's
            target (the nearest of these).
        unchecked: Run what can be run, even if the kernel is not legal PTX.

    Returns:
        The kernel; `.launch(...)` runs it.

    Raises:
        UsageError: The module has no kernel of this name, or there is no such architecture.
        IllegalPtx: The checker finds errors in what the kernel reaches; `diagnostics` holds them.
        UnsupportedInstruction: The machine cannot run one of its instructions; it names the line.

    Example:
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry nothing() { ret; }"), "nothing")
        >>> k.launch(grid=2, block=32).instructions
        2
    """
    must_be(Module, "module", module, A_MODULE)
    if arch is not None:
        architecture(arch)
    key = (id(module), name, arch, unchecked)
    known = _KERNELS.get(key)
    if known is None or known.program.module is not module:
        known = _KERNELS[key] = Kernel(module, name, arch, unchecked=unchecked)
    return known


def tensor_arch(module: Module) -> str:
    """The architecture whose tensor cores a module's target stands for."""
    numbers = [Target.parse(name).number for name in module.target if name.startswith("sm_")]
    known = [n for n in ARCHITECTURES if n <= (numbers[0] if numbers else ARCHITECTURES[-1])]
    return f"sm_{known[-1] if known else ARCHITECTURES[0]}"


def _unwritten(named: Sequence[object], args: Sequence[object]) -> list[NDArray[Any]]:
    found: list[NDArray[Any]] = []
    must_be_several("uninitialised", named, "arrays among args, or their places there")
    for item in named:
        number = None if isinstance(item, np.ndarray) else whole(item)
        array = args[number] if number is not None and 0 <= number < len(args) else cast("object", item)
        if not isinstance(array, np.ndarray):
            raise UsageError("uninitialised", cast("object", item), "an array among args, or its place there")
        found.append(cast("NDArray[Any]", array))
    return found


def _check_names(checks: Sequence[str]) -> None:
    must_be_several("checks", checks, "names of tools")
    for name in checks:
        if name not in CHECKS:
            raise UsageError("checks", name, f"any of {', '.join(CHECKS)}")


def _integer(argument: str, value: object, low: int | None = None, high: int | None = None, note: str = "") -> int:
    number = whole(value)
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        legal = "an integer" if low is None else f"{low} or more" if high is None else f"{low} to {high}{note}"
        raise UsageError(argument, value, legal)
    return number


def _seconds(timeout: object) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise UsageError("timeout", timeout, "a number of seconds, or None")
    return timeout
