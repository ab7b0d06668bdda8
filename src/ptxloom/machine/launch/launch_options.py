"""What a launch may be told beside its extents and arguments, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict

from ptxloom.isa.spelling import near_misses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ptxloom.machine.launch.expected import References
    from ptxloom.machine.launch.grid import Progress
    from ptxloom.machine.memory.device_memory import MemoryHolder
    from ptxloom.machine.memory.textures import Surface, Texture
    from ptxloom.machine.results.provenance_choice import Provenance
    from ptxloom.machine.results.trace import Request


class LaunchOptions(TypedDict, total=False):
    """The options of `Kernel.launch`, all by name; one that is left out has its default.

    A value of them serves many launches: `watched: LaunchOptions = {"checks": ["racecheck"], "timeout": 5.0}`, then
    `kernel.launch(grid, block, arguments, **watched)`.

    Attributes:
        memory: A `pl.Device`: the kernel may touch all that it holds, beside the arrays among `args`.
        cluster: CTAs of a cluster in x, y, z; they run at the same time and reach each other's shared memory. By
            default what the kernel's `.reqnctapercluster` asks for, else a launch without clusters.
        checks: The tools that watch the run, beside the device's; by default memcheck and synccheck, which cost
            nothing. `memcheck:variables` reports addresses that leave the variable they were made from;
            `memcheck:leaks`, what `malloc` returned and was not freed when the launch ends; racecheck, accesses to
            shared memory that no barrier, mbarrier, fence or wait orders, whatever the schedule; initcheck, uses of
            unwritten bytes in shared and local memory and in registers; `initcheck:global`, the same in global
            memory; `racecheck:global`, races in global memory, within CTAs and between them, and loads with `.nc`
            of what the kernel writes, which takes 10 bytes of memory a byte touched, and more where many threads
            touch it; `racecheck:fences`, also fences that the manual asks for and libraries leave out.
        profile: Whether to count what each instruction costs; `LaunchResult.profile` holds the counts.
        trace: Which instructions to record, `LaunchResult.trace` holds the records: patterns such as "ldmatrix",
            PTX lines, source lines such as "kernel.cu:45", or `Trace`s, which also choose blocks and warps.
        threads: Threads of the host; by default one, and one for each other core once a millisecond of work is left
            for them. Fewer run where there are fewer clusters, or no memory for as many.
        timeout: Seconds after which the kernel is ended, counted from the call, making its machine code included.
        schedule_seed: Another order of warps for each number. All but 0 refuse one request in eight to cancel the
            launch of a cluster, as hardware does for a kernel that is more urgent.
        stack_bytes: Local memory a thread has for calls.
        heap_bytes: What `malloc` can return in all, 8 MiB by default (cudaLimitMallocHeapSize); beyond, it returns
            NULL. The kernels of a module share its heap, and blocks live from launch to launch until they are
            freed; as long as any live, the size is fixed.
        printf_bytes: What `printf` can print in a launch (cudaLimitPrintfFifoSize); the rest is cut.
        memory_limit: Bytes of the host's memory that the launch may have in all: the arrays of `args` and the
            variables of the module, the heap, what is printed, and shared memory, local memory and registers of the
            CTAs that are resident, with what tools, profile and trace remember. By default half of what the machine
            has. Parts count whole, though the host provides memory only where it is touched.
        progress: Called four times a second, from a thread of its own, with the CTAs started and all CTAs.
        uninitialised: Arrays that hold nothing yet (or their places among `args`): `initcheck:global` reports who
            reads unwritten bytes of them, or of memory from `malloc`.
        contract: Whether each `mul` and `add` is rounded by itself, "as written", or "fused" into an `fma` where
            ptxas would fuse them (its `--fmad=true`, the default): results then differ in the last bits.
        textures: Textures and surfaces beside those in `args`: by the names of the module's `.texref` and
            `.surfref`, or those whose numbers (`int(texture)`) are stored in structures or in memory.
        provenance: Whether to follow where every byte comes from, through memory and registers:
            `LaunchResult.provenance` shows it for what was written and for the operands of matrix products. A
            `Provenance` chooses the products that are recorded. Takes 8 bytes of memory a byte that is followed.
        reference: What arrays must be afterwards, by their parameters' names or their places among `args`, each an
            array or a `pl.comparison.Reference` with tolerances; or one array, for the only one of its shape.
            `LaunchResult.comparisons` says which elements differ, what pattern they make and, with `provenance`,
            where the first came from.
    """

    memory: MemoryHolder | None
    cluster: int | Sequence[int] | None
    checks: Sequence[str] | None
    profile: bool
    trace: Sequence[Request]
    threads: int | None
    timeout: float | None
    schedule_seed: int
    stack_bytes: int
    heap_bytes: int | None
    printf_bytes: int
    memory_limit: int | None
    progress: Progress | None
    uninitialised: Sequence[object]
    contract: str
    textures: Mapping[str, Texture | Surface] | Sequence[Texture | Surface]
    provenance: bool | Provenance
    reference: References


NO_OPTIONS: Final[LaunchOptions] = {}


def known_options(names: Iterable[str]) -> None:
    """Judge the names of options.

    Raises:
        TypeError: One is none of `LaunchOptions`, as Python says it of a parameter.
    """
    for name in names:
        if name not in LaunchOptions.__annotations__:
            near = near_misses(name, tuple(LaunchOptions.__annotations__))
            meant = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"launch() got an unexpected keyword argument {name!r}{meant}")
