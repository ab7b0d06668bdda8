"""The options of a launch beside its shape and its arguments, validated before anything runs."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import TOOLS, UsageError, must_be, must_be_several
from ptxloom.isa.limits import MOST_MULTIPROCESSORS, MULTIPROCESSORS
from ptxloom.isa.spelling import near_misses
from ptxloom.machine.instruments.wanted import VARIABLES
from ptxloom.machine.launch.launch_limits import whole
from ptxloom.machine.launch.launch_state import LEAKS
from ptxloom.machine.memory.arena import MEMORY_LIMIT, default_limit
from ptxloom.machine.memory.foreign_arrays import host_array
from ptxloom.machine.memory.tensor_map import MappedArray
from ptxloom.machine.results.provenance_choice import Provenance
from ptxloom.machine.tensor.recipe import architecture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.isa.target import Target
    from ptxloom.machine.launch.expected import References
    from ptxloom.machine.launch.grid import Progress
    from ptxloom.machine.memory.device_memory import MemoryHolder
    from ptxloom.machine.memory.textures import Surface, Texture
    from ptxloom.machine.results.trace import Request

PRINTF_BYTES = 1 << 20
DEFAULT_CHECKS = ("memcheck", "synccheck")
CHECKS = (
    "memcheck", VARIABLES, LEAKS, "synccheck", "racecheck", "racecheck:global", "racecheck:fences", "initcheck",
    "initcheck:global",
)  # fmt: skip
AS_WRITTEN = "as written"
FUSED = "fused"
THREADS_LIMIT = 1024
PRINTF_LIMIT = 1 << 30
_MULTIPROCESSORS = "PTXLOOM_MULTIPROCESSORS"


class LaunchOptions(TypedDict, total=False):
    """The options of `Kernel.launch`, all by name; one that is left out has its default.

    A value of them serves many launches: `watched: LaunchOptions = {"checks": ["racecheck"], "timeout": 5.0}`, then
    `kernel.launch(grid, block, arguments, **watched)`.

    Attributes:
        memory: A `pl.Device`: the kernel may access all its memory, besides the arrays among `args`.
        cluster: CTAs of a cluster in x, y, z; they run at the same time and reach each other's shared memory. By
            default those of the kernel's `.reqnctapercluster`, else a launch without clusters.
        checks: The tools that watch the run, besides the device's; by default memcheck and synccheck, which cost
            nothing. `memcheck:variables` reports addresses that leave the variable from which they were made;
            `memcheck:leaks`, what `malloc` returned and was not freed when the launch ends; racecheck, accesses to
            shared memory that no barrier, mbarrier, fence or wait orders, whatever the schedule; initcheck, uses of
            unwritten bytes in shared and local memory and in registers; `initcheck:global`, the same in global memory;
            `racecheck:global`, races in global memory, within CTAs and between them, and loads with `.nc` of what the
            kernel writes, which takes 10 bytes of memory a byte touched, and more where many threads touch it;
            `racecheck:fences`, also fences that the manual requires and libraries leave out.
        profile: Whether to count what each instruction costs; `LaunchResult.profile` holds the counts.
        trace: Which instructions to record, `LaunchResult.trace` holds the records: patterns such as "ldmatrix", PTX
            lines, source lines such as "kernel.cu:45", or `Trace`s, which also choose blocks and warps.
        threads: Threads of the host; by default one, and one for each other core once a millisecond of work is left for
            them. Fewer run where there are fewer clusters, or no memory for as many.
        timeout: Seconds after which the kernel is ended, counted from the call and including its compilation.
        schedule_seed: Another order of warps for each number. All but 0 refuse one request in eight to cancel the
            launch of a cluster, as hardware does for a kernel that is more urgent.
        stack_bytes: Local memory a thread has for calls.
        heap_bytes: What `malloc` can return in all, 8 MiB by default (cudaLimitMallocHeapSize); beyond, it returns
            NULL. The kernels of a module share its heap, and blocks live from launch to launch until they are freed; as
            long as any live, the size is fixed.
        printf_bytes: What `printf` can print in a launch (cudaLimitPrintfFifoSize); the rest is cut.
        memory_limit: Bytes of the host's memory that the launch may have in all: the arrays of `args` and the variables
            of the module, the heap, what is printed, and shared memory, local memory and registers of the CTAs that are
            resident, with what tools, profile and trace remember. By default half of what the machine has. Parts count
            whole, though the host provides memory only where it is touched.
        progress: Called four times a second, from a thread of its own, with the CTAs started and all CTAs.
        uninitialised: Arrays that count as unwritten (or their places among `args`): `initcheck:global` reports reads
            of unwritten bytes in them, or in memory from `malloc`.
        contract: Whether each `mul` and `add` is rounded by itself, "as written", or "fused" into an `fma` where ptxas
            would fuse them (its `--fmad=true`, the default): results then differ in the last bits.
        textures: Textures and surfaces beside those in `args`: by the names of the module's `.texref` and `.surfref`,
            or those whose numbers (`int(texture)`) are stored in structures or in memory.
        provenance: Whether to follow where every byte comes from, through memory and registers:
            `LaunchResult.provenance` shows it for what was written and for the operands of matrix products. A
            `Provenance` chooses the products that are recorded. Takes 8 bytes of memory a byte that is followed.
        reference: What arrays must be afterwards, by their parameters' names or their places among `args`, each an
            array or a `pl.comparison.Reference` with tolerances; or one array, for the only one of its shape.
            `LaunchResult.comparisons` says which elements differ, what pattern they make and, with `provenance`, where
            the first came from.
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
    """Check the names of options.

    Raises:
        TypeError: A name is not in `LaunchOptions`; the message is Python's for an unknown parameter.
    """
    for name in names:
        if name not in LaunchOptions.__annotations__:
            near = near_misses(name, tuple(LaunchOptions.__annotations__))
            meant = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"launch() got an unexpected keyword argument {name!r}{meant}")


def multiprocessors() -> int:
    """The number of multiprocessors that a device reports: persistent kernels start as many CTAs, or a multiple.

    Raises:
        UsageError: The environment variable for it does not hold a legal number.
    """
    text = os.environ.get(_MULTIPROCESSORS) or str(MULTIPROCESSORS)
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_MULTIPROCESSORS)) else 0
    if not 1 <= number <= MOST_MULTIPROCESSORS:
        raise UsageError(_MULTIPROCESSORS, text, f"a number from 1 to {MOST_MULTIPROCESSORS:,}")
    return number


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """What a device is, judged.

    Attributes:
        arch: The architecture whose tensor cores are modelled, such as `sm_90`.
        checks: The tools that watch every launch.
        memory_bytes: The bytes that may be allocated at a time.
    """

    arch: str
    checks: tuple[str, ...]
    memory_bytes: int


def device_options(
    arch: Target | str, checks: Sequence[str] | None = None, memory_bytes: object = None
) -> DeviceOptions:
    """Judge what a device is to be, with the environment's number of multiprocessors.

    Args:
        arch: The architecture, `sm_75` to `sm_121`.
        checks: The tools that watch; by default memcheck and synccheck.
        memory_bytes: The bytes that may be allocated, up to 2^48; by default half of what this process could have.

    Raises:
        UsageError: One of them is wrong.
    """
    architecture(arch)
    named = DEFAULT_CHECKS if checks is None else checks
    known_checks(named)
    multiprocessors()
    size = default_limit() if memory_bytes is None else integer("memory_bytes", memory_bytes, 1, MEMORY_LIMIT)
    return DeviceOptions(str(arch), tuple(named), size)


def unwritten_arrays(named: Sequence[object], args: Sequence[object]) -> list[NDArray[Any]]:
    """The unwritten arrays, given directly or by their places among the arguments.

    Raises:
        UsageError: Something else is named.
    """
    found: list[NDArray[Any]] = []
    must_be_several("uninitialised", named, "arrays among args, or their places there")
    for item in named:
        named_so = host_array(item, "uninitialised", "initcheck to watch")
        number = whole(item) if named_so is None else None
        if number is not None and 0 <= number < len(args):
            one = args[number]
            named_so = one.array if isinstance(one, MappedArray) else host_array(one, f"args[{number}]", "initcheck")
        elif isinstance(item, MappedArray):
            named_so = item.array
        if named_so is None:
            raise UsageError("uninitialised", item, "an array among args, or its place there")
        found.append(named_so)
    return found


def known_checks(checks: Sequence[str]) -> None:
    """Refuse a tool that does not exist.

    Raises:
        UsageError: There is no such tool; the message lists those that exist.
    """
    must_be_several("checks", checks, "names of tools")
    for name in checks:
        if name not in CHECKS:
            raise UsageError("checks", name, f"any of {', '.join(CHECKS)}")


def read_checks(text: str | None, argument: str = "--checks") -> tuple[str, ...]:
    """The tools that a text names, comma-separated; `all` stands for the four. The usual ones if there is no text.

    Raises:
        UsageError: There is no such tool; the sentence is about `argument`.
    """
    if text is None:
        return DEFAULT_CHECKS
    names: list[str] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name != "all" and name not in CHECKS:
            raise UsageError(argument, name, f"a list of {', '.join(CHECKS)}, or all")
        names += (*TOOLS, VARIABLES) if name == "all" else [name]
    return tuple(dict.fromkeys(names))


def wanted_provenance(provenance: bool | Provenance) -> Provenance | None:
    """The requested provenance, if any.

    Raises:
        UsageError: It is neither a bool nor a `Provenance`.
    """
    if isinstance(provenance, Provenance):
        return provenance
    must_be(bool, "provenance", provenance, "True, False or a `Provenance`")
    return Provenance() if provenance else None


def known_contract(contract: str) -> str:
    """Refuse a value that does not name a way to round a product and a sum.

    Raises:
        UsageError: It is not one of the two; the message names both.
    """
    if contract not in {AS_WRITTEN, FUSED}:
        raise UsageError("contract", contract, f'"{AS_WRITTEN}" or "{FUSED}"')
    return contract


def integer(argument: str, value: object, low: int | None = None, high: int | None = None, note: str = "") -> int:
    """An argument as a number from `low` to `high`.

    Raises:
        UsageError: It is not such a number.
    """
    number = whole(value)
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        legal = "an integer" if low is None else f"{low} or more" if high is None else f"{low} to {high}{note}"
        raise UsageError(argument, value, legal)
    return number


def deadline_of(timeout: object) -> float | None:
    """The end of a time limit that starts now, on `time.monotonic`.

    Raises:
        UsageError: It is not a time.
    """
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise UsageError("timeout", timeout, "a number of seconds, or None")
    return time.monotonic() + timeout
