"""One launch of a Triton kernel: its arguments as bytes, the memory of its tensors, what the tools say."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from triton.backends.driver import expand_signature, wrap_handle_tensordesc_impl
from triton.backends.nvidia.driver import make_tensordesc_arg
from triton.runtime import _allocation

from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine.memory.arguments import byte_bounds
from ptxloom.names.demangling import demangled
from ptxloom.triton import clock, recorded
from ptxloom.triton.arrays import ArrayArgument, said_bounds
from ptxloom.triton.device import Scratch, device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine import Kernel, LaunchResult

_MAP: Final = "nvTmaDesc"
_CODES: Final = {"fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}
"""Of `struct`, by Triton's names of float types."""

_BITS: Final = re.compile(r"\d+")


class HazardWarning(UserWarning):
    """A kernel did something wrong and yet went on."""


class HazardError(PtxloomError):
    """The same, where `PTXLOOM_ON_HAZARD=raise` asks for an end."""


class Launcher:
    """What Triton calls to launch one compiled kernel."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self._metadata = metadata
        maps = getattr(metadata, "tensordesc_meta", None)
        self._names = tuple(str(name) for name in src.signature)
        self._types = tuple(expand_signature(src.signature.values(), maps, _MAP))
        self._launch: Callable[..., None] = wrap_handle_tensordesc_impl(
            self._run, dict(src.signature), maps, make_tensordesc_arg
        )

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
        """Launch it: when this returns, it is over."""
        if x * y * z == 0:
            return
        if enter_hook is not None:
            enter_hook(launch_metadata)
        with ExitStack() as held:
            for tensor in _mapped(args):
                _pointer(tensor, "the tensor of a descriptor", held)
            self._launch(function, (x, y, z), stream, args)
        recorded.note(partial(self, x, y, z, stream, function, packed, launch_metadata, enter_hook, exit_hook, *args))
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _run(self, function: Kernel, grid: tuple[int, int, int], stream: int, args: Sequence[object]) -> None:
        made = self._metadata
        members: int = getattr(made, "num_ctas", 1)
        with ExitStack() as held:
            values = list(self._values(args, held))
            values += [self._scratch(kind, grid, stream, held) for kind in ("global", "profile")]
            result = function.launch(
                (grid[0] * members, grid[1], grid[2]),
                32 * made.num_warps,
                _packed_parameters(function, values),
                made.shared,
                memory=device(),
                cluster=(members, 1, 1) if members > 1 else None,
                profile=clock.is_watched(),
                contract="fused" if made.enable_fp_fusion else "as written",
                provenance=bool(os.environ.get("PTXLOOM_WHY")),
            )
        if result.profile is not None:
            clock.launched(result.profile.totals.cost)
        tell(function.name, result)
        if result.provenance is not None:
            examined(function.name, result)

    def _values(self, args: Sequence[object], held: ExitStack) -> Iterator[bytes]:
        """The bytes of each parameter."""
        for number, (type_, value) in enumerate(_flat(self._types, args)):
            name = self._names[number] if number < len(self._names) else f"args[{number}]"
            yield _bytes_of(type_, value, name, held)

    def _scratch(self, kind: str, grid: tuple[int, int, int], stream: int, held: ExitStack) -> bytes:
        """The address of the memory that a kernel has for itself."""
        made = self._metadata
        ctas = grid[0] * grid[1] * grid[2] * getattr(made, "num_ctas", 1)
        size: int = ctas * getattr(made, f"{kind}_scratch_size", 0)
        if not size:
            return bytes(8)
        # as Triton's own launcher does
        known = (_allocation._allocator, _allocation._profile_allocator)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        allocate = known[kind == "profile"].get()
        return _pointer(allocate(size, getattr(made, f"{kind}_scratch_align"), stream), f"{kind} scratch", held)


def tell(name: str, result: LaunchResult) -> None:
    """Print what the kernel printed, and say what it did wrong.

    Raises:
        HazardError: It did, and `PTXLOOM_ON_HAZARD` is `raise`.
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
    """With `PTXLOOM_WHY`, say on standard error what the tools and the laws find, the same of a kernel once."""
    from ptxloom.diagnosis.watched import asked_for  # noqa: PLC0415 - only where it is asked for

    watcher = asked_for()
    seen = None if watcher is None else watcher.tell(name, result)
    if seen is not None:
        sys.stderr.write(f"ptxloom why: kernel {demangled(name)}:\n{seen}\n")


def _flat(types: Sequence[Any], values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Types and values side by side, tuples taken apart.

    What is constant was compiled in, and may be left out at the end, as with Triton's own launcher.

    Raises:
        UsageError: There are too few.
    """
    for number, type_ in enumerate(types):
        if type_ == "constexpr":
            continue
        if number >= len(values):
            raise UsageError(
                "args", f"{len(values)} arguments", f"one for each parameter, of which number {number} is a {type_}"
            )
        if isinstance(type_, tuple):
            yield from _flat(cast("tuple[Any, ...]", type_), values[number])
        else:
            yield type_, values[number]


def _mapped(values: Sequence[Any]) -> Iterator[Any]:
    """The tensors behind tensor descriptors, which kernels reach through maps."""
    for value in values:
        if isinstance(value, tuple):
            yield from _mapped(cast("tuple[Any, ...]", value))
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            yield value.base


def _packed_parameters(function: Kernel, values: list[bytes]) -> bytes:
    """The parameters of a launch, each where the kernel has it."""
    block = bytearray(function.parameter_bytes)
    for parameter, data in zip(function.parameters, values, strict=False):
        end = parameter.offset + parameter.size
        block[parameter.offset : end] = data[: parameter.size].ljust(parameter.size, b"\0")
    return bytes(block)


def _bytes_of(type_: str, value: Any, name: str, held: ExitStack) -> bytes:
    """A value as the kernel finds it."""
    if type_.startswith("*"):
        return _pointer(value, name, held, _bytes_in(type_[1:]))
    if type_ == _MAP:
        return bytes(value)
    if type_ == "bf16":
        return struct.pack("<f", value)[2:]
    if type_ in _CODES:
        return struct.pack(f"<{_CODES[type_]}", float(value))
    size = _bytes_in(type_)
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _pointer(value: Any, name: str, held: ExitStack, element_bytes: int = 1) -> bytes:
    """The address of a tensor; kernels reach its storage while the launch lasts.

    Of an object that does not say how large it is, and of a number, there is the address alone: kernels reach what the
    device has there already.

    Raises:
        UsageError: It lies elsewhere, or it is neither.
    """
    if value is None:
        return bytes(8)
    if not hasattr(value, "data_ptr"):
        if not hasattr(value, "__index__"):
            raise UsageError(name, value, "a tensor or another object with `data_ptr()`, or an address")
        return _address(value)
    base = getattr(value, "base", None)  # of a tensor that is seen as one of another type
    array = _storage(base if hasattr(base, "data_ptr") else value, name, element_bytes)
    if array is not None:
        address = device().register(array, name)
        held.callback(_unregister, address, value)
    return _address(value.data_ptr())


def _address(value: Any) -> bytes:
    return (int(value) & (1 << 64) - 1).to_bytes(8, "little")


def _unregister(address: int, _owner: object) -> None:
    """Take memory back from the device. Its owner has lived until now; a launch's own memory has no other holder."""
    device().unregister(address)


def _bytes_in(type_: str) -> int:
    """How many bytes an element has, by Triton's name of its type: `fp8e4nv`, `i1`, `bf16`."""
    bits = _BITS.search(type_)
    return max(int(bits[0]) // 8, 1) if bits else 1


def _storage(tensor: Any, name: str, element_bytes: int) -> NDArray[np.uint8] | None:
    """All bytes of the memory that a tensor is a view of; None if it does not say.

    Raises:
        UsageError: It lies elsewhere.
    """
    if isinstance(tensor, ArrayArgument | Scratch):
        low, high = byte_bounds(tensor.array)
    elif hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        if storage.device.type != "cpu":
            raise UsageError(name, f"a tensor on {storage.device}", "a tensor on the CPU, where ptxloom runs kernels")
        low = int(storage.data_ptr())
        high = low + int(storage.nbytes())
    else:
        bounds = said_bounds(tensor, element_bytes)
        if bounds is None:
            return None
        low, high = bounds
    return np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
