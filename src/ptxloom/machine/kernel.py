"""`pl.kernel(module, name).launch(...)`: a kernel of a PTX module, compiled for the CPU and run there."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, cast

from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import LANES
from ptxloom.lazy import cached_property
from ptxloom.machine.compile.kernel_code import KernelCode
from ptxloom.machine.compile.needs import packed, unpacked
from ptxloom.machine.compile.tiers import hot_request
from ptxloom.machine.instruments.wanted import keys_of
from ptxloom.machine.launch import wanted
from ptxloom.machine.launch.asked import asked_of
from ptxloom.machine.launch.launch_limits import may_fill_a_warp
from ptxloom.machine.launch.options import (
    AS_WRITTEN,
    DEFAULT_CHECKS,
    FUSED,
    deadline_of,
    known_checks,
    known_contract,
    known_options,
    unwritten_arrays,
    wanted_provenance,
)
from ptxloom.machine.launch.running import launched
from ptxloom.machine.launch.warm import WarmLaunches
from ptxloom.machine.launch.watching import tell, watched_checks, watched_provenance
from ptxloom.machine.memory.arguments import Memory, bind, pack
from ptxloom.machine.memory.module_variables import memory_of
from ptxloom.machine.native import interrupts, jit
from ptxloom.machine.plan import explaining
from ptxloom.machine.program.parameters import KernelParameter, called, kernel_parameters
from ptxloom.machine.program.planned import Planned
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.machine.results.outcome import LaunchError, LaunchResult
from ptxloom.machine.tensor.recipe import tensor_target
from ptxloom.names.demangling import demangled
from ptxloom.names.parameters import parameter_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from ptxloom.comparison.rounding import Precision
    from ptxloom.isa.target import Target
    from ptxloom.machine.compile.needs import Needs
    from ptxloom.machine.contraction.rewrite import Contraction, Fusion
    from ptxloom.machine.launch.options import LaunchOptions
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.profile import Countable
    from ptxloom.syntax.module import Module

_LEAST_REGISTERS: Final = 16
_LANE_BYTES: Final = 4 * LANES  # that a register of 32 bits takes for a warp


class Kernel:
    """A kernel that can be run. ptxloom translates it at once, so that what cannot run is refused before anything runs.

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

    def __init__(
        self,
        module: Module,
        name: str,
        target: Target | str | None = None,
        *,
        unchecked: bool = False,
        timeout: float | None = None,
        contract: str = AS_WRITTEN,
    ) -> None:
        explained = partial(explaining.explained, module, name, unchecked=unchecked)
        with interrupts.guarded(), interrupts.until(deadline_of(timeout)), explained():
            self.name = name
            self.module = module
            self._contract = contract
            self._unchecked = unchecked
            cores = tensor_target(module) if target is None else str(target)
            names = parameter_names(module, name)
            # Neither holds the kernel: one that nothing else holds goes at once, with its machine code.
            self._contraction = cache(partial(_contraction, module, name, fused=contract == FUSED))
            self.planned = Planned(partial(_program, self._contraction, name, cores, names), fused=contract == FUSED)
            judge = None if unchecked else cache(partial(explaining.must_be_legal, module, name))
            request = partial(hot_request, module, name, cores, fused=contract == FUSED)
            self.code = KernelCode(self.planned, judge=judge, explained=explained, request=request)
            known = self._known(cores)
            self.needs = replace(known, parameters=called(known.parameters, names))
            self.code.name, self.code.sites = self.needs.code, self.needs.sites
            self.directives = module.functions[name].directives
            self.memory = memory_of(module)
            self.warm = WarmLaunches()
            self._siblings: dict[str, Kernel] = {}

    def __repr__(self) -> str:
        return f"Kernel({demangled(self.name)!r}, {self.needs.sites} instructions)"

    def _known(self, cores: str) -> Needs:
        """What launches need of the program: kept from run to run by its text, so that a known kernel needs no plan.

        A module that differs from its text is examined each time.
        """
        if not self.module.is_as_read:
            return self._learnt()
        digest = hashlib.sha256(self.module.source.text.encode("utf-8", "surrogatepass")).hexdigest()
        form = f"{'unchecked' if self._unchecked else 'legal'} {self._contract}"
        return unpacked(jit.cached(f"needs {self.name} {cores} {form} {digest}", lambda: packed(self._learnt())))

    def _learnt(self) -> Needs:
        """What planning finds, of a program that can be run."""
        from ptxloom.machine.plan import afresh  # noqa: PLC0415 - likewise

        needs = afresh.needs_of(self.program)
        whole = may_fill_a_warp(self.program.entry.node.directives)
        self.code.accept(needs.code, whole=whole, checks=frozenset(DEFAULT_CHECKS))
        return needs

    def sibling(self, name: str) -> Kernel:
        """Another kernel of its module, prepared in the same way: each is made once.

        Args:
            name: The entry's name in the module.

        Returns:
            The kernel.
        """
        known, target = self._siblings, self.needs.target
        if name not in known:
            made = Kernel(self.module, name, target, unchecked=self._unchecked, contract=self._contract)
            known[name], made._siblings = made, known
        return known[name]

    @property
    def program(self) -> Program:
        """Its instructions in their blocks, every name resolved."""
        return self.planned.program

    @property
    def fusions(self) -> Mapping[int, Fusion]:
        """What has been fused in it, by where the sum starts in the text."""
        return self._contraction().fusions

    @property
    def registers(self) -> int:
        """32-bit registers that a thread needs here at a time, at least 16; ptxloom's own count, not that of ptxas."""
        return max(-(-self.needs.register_bytes // _LANE_BYTES), _LEAST_REGISTERS)

    @property
    def shared_bytes(self) -> int:
        """Static shared memory that it declares, a CTA."""
        return self.needs.static_shared_bytes

    @property
    def frame_bytes(self) -> int:
        """Local memory that it declares, a thread; functions that it calls take more."""
        return self.needs.frame_bytes - FRAME_HEAD

    @cached_property
    def fused(self) -> Kernel:
        """This kernel as ptxas assembles it: a `mul` and an `add` fused into one `fma` without a rounding between."""
        if self._contract == FUSED:
            return self
        return Kernel(self.module, self.name, self.needs.target, unchecked=self._unchecked, contract=FUSED)

    def _contracted(self, contract: str, deadline: float | None) -> Kernel:
        """The kernel that a launch runs.

        Raises:
            LaunchError: The time limit came first.
        """
        if known_contract(contract) in {AS_WRITTEN, self._contract}:
            return self
        try:
            with interrupts.guarded(), interrupts.until(deadline):
                return self.fused
        except interrupts.TimeIsUp as error:
            raise LaunchError(str(error)) from None

    @cached_property
    def precision(self) -> Precision | None:
        """The type that it rounds its sums to, as far as its instructions show."""
        from ptxloom.machine.analysis.precision import precision_of  # noqa: PLC0415 - few ask

        return precision_of(self.program)

    @cached_property
    def countable(self) -> Countable:
        """What a profile counts."""
        from ptxloom.machine.results.profile import Countable  # noqa: PLC0415 - only where one is wanted

        return Countable(self.program)

    def global_array(self, name: str) -> NDArray[Any]:
        """A global or const variable of the kernel's module, as from `ptxloom.global_array`: all kernels share it.

        Args:
            name: As the module declares it.

        Returns:
            The variable itself: what is written there, kernels read.

        Raises:
            UsageError: The module has no such variable.
        """
        return self.memory.array(name)

    def local_bytes(self, stack_bytes: int) -> int:
        """The local memory that each lane needs: the kernel's frame, and `stack_bytes` more if it calls functions.

        Args:
            stack_bytes: For the frames of functions and `alloca`.

        Returns:
            Bytes a lane.
        """
        return self.needs.frame_bytes + (stack_bytes if self.needs.has_calls else 0)

    @property
    def parameters(self) -> tuple[KernelParameter, ...]:
        """Its parameters in order, and where each lies in the bytes of a launch's parameters."""
        return kernel_parameters(self.needs.parameters)

    @property
    def parameter_bytes(self) -> int:
        """The bytes of all parameters together."""
        return self.needs.parameter_bytes

    def __getitem__(self, shape: tuple[int | Sequence[int], int | Sequence[int]]) -> Callable[..., LaunchResult]:
        """`kernel[grid, block](a, b, 192, shared_bytes=0)`: a launch, its arguments in a row.

        Args:
            shape: CTAs and threads, as `launch` takes them.

        Returns:
            A function of the arguments; its options by name are `LaunchOptions`.

        Raises:
            UsageError: `shape` is not a grid and a block.

        Example:
            >>> from ptxloom.syntax import parse
            >>> text = ".version 9.0 .target sm_90 .entry k(.param .u32 n) { ret; }"
            >>> Kernel(parse(text), "k")[2, 64](5).instructions
            4
        """
        if not isinstance(shape, tuple) or len(shape) != 2:  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison]
            raise UsageError("kernel[...]", shape, "grid and block, such as kernel[(2, 3), 128]")
        grid, block = shape
        return lambda *args, **options: self.launch(grid, block, args, **options)

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object] | bytes = (),
        shared_bytes: int = 0,
        **options: Unpack[LaunchOptions],
    ) -> LaunchResult:
        """Run the kernel over a grid.

        Args:
            grid: CTAs in x, y, z.
            block: Threads of a CTA in x, y, z.
            args: One value a parameter: a C-contiguous array (of NumPy, or of a library that shares its memory by
                DLPack or `__array_interface__`) is device memory, written in place; numbers take the parameter's type;
                parameters that are arrays of bytes (structs) take bytes, a NumPy value, or values by their offsets,
                `{0: map, 128: array, 136: np.int32(5)}`. A `pl.tensor_map` is a map for a parameter of 128
                bytes; for a pointer, it or a list of them lies in global memory. Or all parameters
                as one `bytes`, laid out as in `Kernel.parameters`.
            shared_bytes: Dynamic shared memory.
            **options: Those of `LaunchOptions`: tools, what is counted and recorded, limits of time and memory.

        Returns:
            The result of the run, besides what it wrote into the arrays.

        Raises:
            UsageError: An argument is wrong; nothing has run.
            UnsupportedInstruction: A variable is `.extern` and has not been filled; nothing has run.
            LaunchError: The kernel was ended by an error, as it would be on hardware.
        """
        known_options(options)
        memory, trace, progress = options.get("memory"), options.get("trace", ()), options.get("progress")
        deadline = deadline_of(options.get("timeout"))
        asked = asked_of(self, grid, block, options, shared_bytes=shared_bytes)
        given = options.get("checks")
        checks = (DEFAULT_CHECKS if memory is None else ()) if given is None else given
        known_checks(checks)
        checks = (*checks, *(() if memory is None else memory.checks), *watched_checks())
        chosen = self._contracted(options.get("contract", AS_WRITTEN), deadline)
        if progress is not None and not callable(progress):
            raise UsageError("progress", cast("object", progress), "a function of two numbers")
        following = wanted_provenance(options.get("provenance", False) or watched_provenance())
        one_thread = "racecheck:global" in checks or following is not None  # which sees every CTA
        self.memory.must_be_defined(self.needs.variables)
        touched = Memory(device=None if memory is None else memory.memory, looks_up=self.needs.looks_up)
        params = pack(self.needs, args, touched)
        values = () if isinstance(args, bytes) else args
        compared = wanted.compared(options.get("reference"), self.needs.parameters, values)
        if "textures" in options:
            bind(options["textures"], touched, self.memory.reference)
        if "uninitialised" in options:
            touched.unwritten += unwritten_arrays(options["uninitialised"], values)
        budget = asked.budget(self, touched)
        self.memory.show(touched)
        watched = frozenset(checks) | (frozenset({"profile"}) if options.get("profile") else frozenset[str]())
        if following is not None:
            watched |= wanted.words_followed(following, chosen.program)
        recording = None
        if trace:
            recording = wanted.recording(trace, chosen.program, asked.shape, budget)
            watched |= keys_of(recording.rooms)
        result = launched(
            chosen, asked, asked.facts(watched), params, touched, budget, threads=1 if one_thread else asked.threads,
            deadline=deadline, progress=progress, recording=recording, provenance=following,
        )  # fmt: skip
        if compared:
            result = wanted.with_comparisons(result, compared, chosen.program, asked.shape.grid)
        return tell(self.name, result)


def _contraction(module: Module, name: str, *, fused: bool) -> Contraction:
    from ptxloom.machine.plan import afresh  # noqa: PLC0415 - of a kernel that is known this is not asked

    return afresh.contraction(module, name, fused=fused)


def _program(contraction: Callable[[], Contraction], name: str, cores: str, names: Sequence[str]) -> Program:
    from ptxloom.machine.plan import afresh  # noqa: PLC0415 - likewise

    return afresh.program(contraction().module, name, cores, names)
