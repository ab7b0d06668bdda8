"""The arguments of a Triton kernel: the bytes of its parameters, and the memory of its tensors."""

from __future__ import annotations

import re
import struct
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, cast

from ptxloom.diagnostics import UsageError
from ptxloom.machine.port.region import Lent, byte_bounds, lent_at
from ptxloom.triton.arrays import ArrayArgument, said_bounds
from ptxloom.triton.device import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.machine import Kernel

MAP: Final = "nvTmaDesc"
"""Triton's name of a tensor map's type."""

_CODES: Final = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}
"""Of `struct`, by Triton's names of float types."""

_BITS: Final = re.compile(r"\d+")
_MOST_KNOWN: Final = 4096  # tensors whose memory is known from launches before
_lent: Final = lru_cache(_MOST_KNOWN)(lent_at)


class Parameters:
    """How the arguments of one compiled kernel become the bytes of its parameters.

    Args:
        names: What they are called.
        types: Triton's names of their types; of a tuple, a tuple.
    """

    def __init__(self, names: Sequence[str], types: Sequence[Any]) -> None:
        self._types = types
        flat = tuple(_flat(types))
        self._writers = tuple(
            partial(_writer(type_), names[number] if number < len(names) else f"args[{number}]")
            for number, type_ in enumerate(flat)
        )
        self._places: dict[Kernel, tuple[tuple[int, int], ...]] = {}

    def packed(self, function: Kernel, args: Sequence[Any], scratch: Sequence[bytes], lent: list[Lent]) -> bytes:
        """The parameters of a launch, each where the kernel has it.

        Args:
            function: The kernel.
            args: The arguments.
            scratch: What the kernel takes behind them.
            lent: Comes to hold the memory of tensors.

        Raises:
            UsageError: There are too few arguments, or one is not what it must be.
        """
        values = [write(value, lent) for write, value in zip(self._writers, _values(self._types, args), strict=True)]
        places = self._places.get(function)
        if places is None:
            places = self._places[function] = tuple((one.offset, one.size) for one in function.parameters)
        block = bytearray(function.parameter_bytes)
        for (offset, size), data in zip(places, (*values, *scratch), strict=False):
            block[offset : offset + size] = data[:size].ljust(size, b"\0")
        return bytes(block)


def pointer(name: str, element_bytes: int, value: Any, lent: list[Lent]) -> bytes:
    """The address of a tensor; kernels reach its storage while the launch lasts.

    An object without a size, and a number, only have an address: kernels reach what the device already has there.

    Args:
        name: Its name in reports.
        element_bytes: The size of an element for the kernel.
        value: The tensor.
        lent: Receives its memory. Its owner lives as long as the caller holds the argument.

    Raises:
        UsageError: It is elsewhere, or it is neither.
    """
    if value is None:
        return bytes(8)
    if not hasattr(value, "data_ptr"):
        if not hasattr(value, "__index__"):
            raise UsageError(name, value, "a tensor or another object with `data_ptr()`, or an address")
        return _address(value)
    base = getattr(value, "base", None)  # of a tensor that is seen as one of another type
    bounds = _storage(base if hasattr(base, "data_ptr") else value, name, element_bytes)
    if bounds is not None:
        lent.append(_lent(*bounds, name))
    return _address(value.data_ptr())


def _storage(tensor: Any, name: str, element_bytes: int) -> tuple[int, int] | None:
    """The bounds of the memory that a tensor is a view of; None if unknown.

    Raises:
        UsageError: It is elsewhere.
    """
    if isinstance(tensor, ArrayArgument | Scratch):
        return byte_bounds(tensor.array)
    if not hasattr(tensor, "untyped_storage"):
        return said_bounds(tensor, element_bytes)
    storage = tensor.untyped_storage()
    if storage.device.type != "cpu":
        raise UsageError(name, f"a tensor on {storage.device}", "a tensor on the CPU, where ptxloom runs kernels")
    low = int(storage.data_ptr())
    return low, low + int(storage.nbytes())


def _flat(types: Sequence[Any]) -> Iterator[str]:
    """The types of parameters, tuples taken apart; what is constant was compiled in."""
    for type_ in types:
        if isinstance(type_, tuple):
            yield from _flat(cast("tuple[Any, ...]", type_))
        elif type_ != "constexpr":
            yield type_


def _values(types: Sequence[Any], values: Sequence[Any]) -> Iterator[Any]:
    """A value for each of these types; constants may be left out at the end, as with Triton's own launcher.

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
            yield from _values(cast("tuple[Any, ...]", type_), values[number])
        else:
            yield values[number]


@cache
def _writer(type_: str) -> Callable[[str, Any, list[Lent]], bytes]:
    """What makes bytes of a parameter's name and value, and notes its memory."""
    if type_.startswith("*"):
        element_bytes = _bytes_in(type_[1:])
        return lambda name, value, lent: pointer(name, element_bytes, value, lent)
    if type_ == MAP:
        return lambda _name, value, _lent: bytes(value)
    if type_ == "bf16":
        return lambda _name, value, _lent: struct.pack("<f", value)[2:]
    if type_ in _CODES:
        code = _CODES[type_]
        return lambda _name, value, _lent: struct.pack(code, float(value))
    size = _bytes_in(type_)
    mask = (1 << 8 * size) - 1
    return lambda _name, value, _lent: (int(value) & mask).to_bytes(size, "little")


def _address(value: Any) -> bytes:
    return (int(value) & (1 << 64) - 1).to_bytes(8, "little")


def _bytes_in(type_: str) -> int:
    """How many bytes an element has, by Triton's name of its type: `fp8e4nv`, `i1`, `bf16`."""
    bits = _BITS.search(type_)
    return max(int(bits[0]) // 8, 1) if bits else 1
