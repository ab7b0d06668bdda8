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
"""Format characters of `struct`, by Triton's names of float types."""

_BITS: Final = re.compile(r"\d+")
_MOST_KNOWN: Final = 4096  # tensors whose memory is known from earlier launches
_lent: Final = lru_cache(_MOST_KNOWN)(lent_at)


class Parameters:
    """Converts the arguments of one compiled kernel to the bytes of its parameters.

    Args:
        names: Their names.
        types: Triton's names of their types; a tuple for a tuple.
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
        """The packed parameters of a launch.

        Args:
            function: The kernel.
            args: The arguments.
            scratch: Further parameters of the kernel, after the arguments.
            lent: Receives the memory of tensors.

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
    """The address of a tensor; kernels can access its storage during the launch.

    An object without a size, or a number, is only an address: kernels access what the device already has there.

    Args:
        name: Its name in reports.
        element_bytes: The size of an element for the kernel.
        value: The tensor.
        lent: Receives its memory. The caller must keep the argument alive.

    Raises:
        UsageError: It is on another device, or not a tensor or address.
    """
    if value is None:
        return bytes(8)
    if not hasattr(value, "data_ptr"):
        if not hasattr(value, "__index__"):
            raise UsageError(name, value, "a tensor or another object with `data_ptr()`, or an address")
        return _address(value)
    base = getattr(value, "base", None)  # a tensor reinterpreted as another type
    bounds = _storage(base if hasattr(base, "data_ptr") else value, name, element_bytes)
    if bounds is not None:
        lent.append(_lent(*bounds, name))
    return _address(value.data_ptr())


def _storage(tensor: Any, name: str, element_bytes: int) -> tuple[int, int] | None:
    """The bounds of a tensor's storage; None if unknown.

    Raises:
        UsageError: It is on another device.
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
    """The types of parameters, tuples flattened; constants were compiled in."""
    for type_ in types:
        if isinstance(type_, tuple):
            yield from _flat(cast("tuple[Any, ...]", type_))
        elif type_ != "constexpr":
            yield type_


def _values(types: Sequence[Any], values: Sequence[Any]) -> Iterator[Any]:
    """A value for each of these types; trailing constants may be omitted, as with Triton's own launcher.

    Raises:
        UsageError: There are too few values.
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
    """The function that packs a parameter's value, and records its memory."""
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
    """The bytes of an element, by Triton's name of its type: `fp8e4nv`, `i1`, `bf16`."""
    bits = _BITS.search(type_)
    return max(int(bits[0]) // 8, 1) if bits else 1
