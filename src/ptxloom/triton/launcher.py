"""One launch of a Triton kernel: checked once for all equal ones, run, and its hazards reported."""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from triton.backends.driver import expand_signature, wrap_handle_tensordesc_impl
from triton.backends.nvidia.driver import make_tensordesc_arg
from triton.runtime import _allocation

from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine import LaunchOptions
from ptxloom.machine.port.launch import Prepared
from ptxloom.triton import clock, recorded
from ptxloom.triton.device import device
from ptxloom.triton.parameters import MAP, Parameters, pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.machine import Kernel, LaunchResult
    from ptxloom.machine.port.region import Lent

_MOST_PREPARED: Final = 64  # grids of a kernel whose checks are cached


class HazardWarning(UserWarning):
    """A kernel had a hazard and continued."""


class HazardError(PtxloomError):
    """A kernel had a hazard, with `PTXLOOM_ON_HAZARD=raise`."""


class Launcher:
    """Launches one compiled kernel for Triton."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self._metadata = metadata
        maps = getattr(metadata, "tensordesc_meta", None)
        names = tuple(str(name) for name in src.signature)
        self._parameters = Parameters(names, tuple(expand_signature(src.signature.values(), maps, MAP)))
        self._launch: Callable[..., None] = wrap_handle_tensordesc_impl(
            self._run, dict(src.signature), maps, make_tensordesc_arg
        )
        self._prepared: dict[tuple[object, ...], Prepared] = {}

    def __call__(  # noqa: PLR0917 - Triton's order
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: Kernel,
        packed: object,
        launch_metadata: Any,
        enter_hook: Callable[[Any], None] | None,
        exit_hook: Callable[[Any], None] | None,
        *args: object,
    ) -> None:
        """Launch it; returns once it has ended."""
        if x * y * z == 0:
            return
        if enter_hook is not None:
            enter_hook(launch_metadata)
        lent: list[Lent] = []
        for tensor in _mapped(args):
            pointer("the tensor of a descriptor", 1, tensor, lent)
        self._launch(function, (x, y, z), stream, lent, args)
        if recorded.is_on():
            again = partial(self, x, y, z, stream, function, packed, launch_metadata, enter_hook, exit_hook, *args)
            recorded.note(again)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _run(
        self, function: Kernel, grid: tuple[int, int, int], stream: int, lent: list[Lent], args: Sequence[object]
    ) -> None:
        made = {kind: self._scratch(kind, grid, stream) for kind in ("global", "profile")}  # this keeps it alive
        scratch = [pointer(f"{kind} scratch", 1, one, lent) for kind, one in made.items()]
        result = self._ready(function, grid).launch(self._parameters.packed(function, args, scratch, lent), lent)
        if result.profile is not None:
            clock.launched(result.profile.totals.cost)
        tell(function.name, result)
        if result.provenance is not None:
            examined(function.name, result)

    def _ready(self, function: Kernel, grid: tuple[int, int, int]) -> Prepared:
        """A launch over a grid, checked except for its parameters; kept for the next equal one."""
        made = self._metadata
        profile, provenance = clock.is_watched(), bool(os.environ.get("PTXLOOM_WHY"))
        key = (function, grid, profile, provenance)
        ready = self._prepared.get(key)
        if ready is None:
            members: int = getattr(made, "num_ctas", 1)
            kernel = function.fused if made.enable_fp_fusion else function
            grid, options = (grid[0] * members, grid[1], grid[2]), LaunchOptions(profile=profile, provenance=provenance)
            if members > 1:
                options["cluster"] = (members, 1, 1)
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()
            ready = Prepared(kernel, grid, 32 * made.num_warps, device(), options, shared_bytes=made.shared)
            self._prepared[key] = ready
        return ready

    def _scratch(self, kind: str, grid: tuple[int, int, int], stream: int) -> Any:
        """The scratch memory of a kernel, if it needs any."""
        made = self._metadata
        ctas = grid[0] * grid[1] * grid[2] * getattr(made, "num_ctas", 1)
        size: int = ctas * getattr(made, f"{kind}_scratch_size", 0)
        if not size:
            return None
        # as Triton's own launcher does
        known = (_allocation._allocator, _allocation._profile_allocator)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        allocate = known[kind == "profile"].get()
        return allocate(size, getattr(made, f"{kind}_scratch_align"), stream)


def tell(name: str, result: LaunchResult) -> None:
    """Print the kernel's output, and report its hazards.

    Raises:
        HazardError: There are some, and `PTXLOOM_ON_HAZARD` is `raise`.
        UsageError: `PTXLOOM_ON_HAZARD` is something else.
    """
    sys.stdout.write(result.output)
    if not result.hazards:
        return
    told = dict.fromkeys(f"help: {hazard.help}" for hazard in result.hazards if hazard.help)
    message = "\n".join((f"{name}:\n{result.hazards}", *told))
    match os.environ.get("PTXLOOM_ON_HAZARD") or "warn":
        case "warn":
            warnings.warn(message, HazardWarning, stacklevel=2)
        case "raise":
            raise HazardError(message)
        case "ignore":
            pass
        case other:
            raise UsageError("PTXLOOM_ON_HAZARD", other, "warn, raise or ignore")


def examined(name: str, result: LaunchResult) -> None:
    """With `PTXLOOM_WHY`, report the findings of the tools and the laws; equal reports of a kernel only once."""
    from ptxloom.diagnosis.watched import asked_for, report  # noqa: PLC0415 - only where it is asked for

    if (watcher := asked_for()) is not None:
        report(watcher, name, result)


def _mapped(values: Sequence[Any]) -> Iterator[Any]:
    """The tensors behind tensor descriptors, which kernels access through maps."""
    for value in values:
        if isinstance(value, tuple):
            yield from _mapped(cast("tuple[Any, ...]", value))
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            yield value.base
