"""Packs a launch's arguments into the bytes of a kernel's parameters, and registers arrays as accessible memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeGuard, cast

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be_several
from ptxloom.fragments.number_types import is_array, is_float
from ptxloom.machine.memory.arena import zeroed
from ptxloom.machine.memory.foreign_arrays import brief, host_array
from ptxloom.machine.memory.piece import Piece
from ptxloom.machine.memory.snapshot import Snapshot
from ptxloom.machine.memory.spans import NO_SPANS, in_order, table_of
from ptxloom.machine.memory.tensor_map import MappedArray
from ptxloom.machine.memory.textures import Surface, Texture, image_of
from ptxloom.machine.runtime.tensor_boxes.model import MAP_ALIGNMENT, MAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ptxloom.machine.memory.device_memory import DeviceMemory
    from ptxloom.machine.memory.spans import Span, Spans
    from ptxloom.machine.program.model import Parameter

_NOTHING: Final = Snapshot(NO_SPANS)  # what a launch without a device begins with


class Lent(NamedTuple):
    """Host memory that a launch may access: its bytes, their address, and their name in reports.

    Attributes:
        span: Start, end, and whether it may be written.
    """

    array: NDArray[Any]
    span: Span
    name: str


@dataclass(slots=True, eq=False)
class Memory:
    """The pieces of global memory that a kernel may access; keeps the arrays alive.

    Attributes:
        spans: Start, end, and whether it may be written.
        names: The name of each in reports; empty if names are not needed.
        unwritten: Arrays that are unwritten, for initcheck.
        images: Textures and surfaces as native code reads them, by their handles.
        device: Memory that outlives the launch, which the kernel may touch too.
        looks_up: Whether the kernel reads or asks for textures or surfaces, so that those of the device are among them.
        snapshot: Its spans as the launch begins.
    """

    spans: list[Span] = field(default_factory=list["Span"])
    arrays: list[NDArray[Any]] = field(default_factory=list["NDArray[Any]"])
    names: list[str] = field(default_factory=list[str])
    unwritten: list[NDArray[Any]] = field(default_factory=list["NDArray[Any]"])
    images: dict[int, Any] = field(default_factory=dict[int, Any])
    device: DeviceMemory | None = None
    looks_up: bool = False
    snapshot: Snapshot = field(init=False)

    def __post_init__(self) -> None:
        self.snapshot = _NOTHING if self.device is None else self.device.snapshot()
        if self.device is not None and self.looks_up:
            self.images.update(self.device.images)

    def again(self, *, looks_up: bool) -> Memory:
        """The same for another launch, which sees all of it as written."""
        return Memory(
            list(self.spans), list(self.arrays), list(self.names), [], dict(self.images), self.device, looks_up=looks_up
        )

    def add(self, array: NDArray[Any], name: str = "", *, constant: bool = False) -> int:
        """Register an array; returns its address. The kernel may not write a `constant` one, even if the host may."""
        at, flags = array.ctypes.data, array.flags
        low, high = (at, at + array.nbytes) if flags.c_contiguous or not array.size else byte_bounds(array)
        self.arrays.append(array)
        self.spans.append((low, high, flags.writeable and not constant))
        self.names.append(name)
        return at

    def lend(self, lent: Lent) -> None:
        """Register memory whose address is known already."""
        self.arrays.append(lent.array)
        self.spans.append(lent.span)
        self.names.append(lent.name)

    def show(self, thing: Texture | Surface, name: str, handle: int | None = None) -> int:
        """Note a texture or a surface, under its own handle or another one; returns the handle."""
        handle = thing.handle if handle is None else handle
        is_texture = isinstance(thing, Texture)
        if handle not in self.images:
            for level in thing.levels if is_texture else (thing.array,):
                self.add(level, name, constant=is_texture)
            self.images[handle] = image_of(thing, handle)
        return handle

    def named_arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The arrays that have a name; of the device's those that the launch was not given itself."""
        own = {(array.ctypes.data, array.nbytes) for array in self.arrays}
        yield from ((name, array) for name, array in zip(self.names, self.arrays, strict=True) if name)
        if self.device is not None:
            held = tuple(self.device.arrays())
            yield from (one for one in held if (one[1].ctypes.data, one[1].nbytes) not in own)

    def pieces(self) -> tuple[Piece, ...]:
        """The pieces that have a name."""
        known = zip(self.names, self.spans, strict=True)
        own = (Piece(name, start, end - start) for name, (start, end, _) in known if name)
        return (*own, *(self.device.pieces() if self.device is not None else ()))

    def freed_at(self, address: int) -> Piece | None:
        """The freed piece of the device at an address."""
        return self.device.freed_at(address) if self.device is not None else None

    def table(self) -> Spans:
        """The spans in order, overlapping ones joined as far as they may be written."""
        if self.device is None:
            return table_of(self.spans)
        return self.snapshot.beside(self.spans)[0] if self.spans else self.snapshot.table

    @property
    def nbytes(self) -> int:
        """How many bytes the spans hold together."""
        if self.device is None:
            return sum(end - start for start, end, _ in in_order(self.spans))
        return self.snapshot.beside(self.spans)[1] if self.spans else self.snapshot.nbytes

    def span_at(self, address: int) -> tuple[int, int]:
        """Start and end of the piece that holds an address; (0, 0) if no piece does."""
        table = self.table()
        at = int(np.searchsorted(table[:, 0], np.uint64(address), "right")) - 1
        start, end = (int(table[at, 0]), int(table[at, 1])) if at >= 0 else (0, 0)
        return (start, end) if address < end else (0, 0)


class KernelParameters(Protocol):
    """The parameters of a kernel, and their total size."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """In order."""
        ...

    @property
    def parameter_bytes(self) -> int:
        """From the first to the last."""
        ...


def byte_bounds(array: NDArray[Any]) -> tuple[int, int]:
    """The addresses of its first byte, and of the one behind its last."""
    low = high = array.ctypes.data
    for count, stride in zip(array.shape, array.strides, strict=True):
        low += min((count - 1) * stride, 0)
        high += max((count - 1) * stride, 0)
    return low, high + array.itemsize


def pack(taken: KernelParameters, args: Sequence[object] | bytes, memory: Memory) -> bytes:
    """The parameter block of a launch: made of a value a parameter, or passed as it is.

    Raises:
        UsageError: The number of arguments is wrong, or one does not fit its parameter.
    """
    parameters = taken.parameters
    if _is_bytes(args):
        block = bytes(args)
        if len(block) != taken.parameter_bytes:
            legal = f"{taken.parameter_bytes}, what the kernel's parameters take"
            raise UsageError("the number of bytes in args", len(block), legal)
        return block
    must_be_several("args", args, "values")
    if len(args) != len(parameters):
        names = ", ".join(p.called for p in parameters)
        wanted = f"{len(parameters)}, one for each parameter: {names}" if names else "0: the kernel has no parameters"
        raise UsageError("the number of args", len(args), wanted)
    block = bytearray(taken.parameter_bytes)
    for number, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        packed = _pack_one(parameter, value, f"args[{number}]", memory)
        block[parameter.offset : parameter.offset + parameter.size] = packed
    return bytes(block)


def bind(
    textures: Mapping[str, Texture | Surface] | Sequence[Texture | Surface],
    memory: Memory,
    reference: Callable[[str, str], int],
) -> None:
    """Note textures and surfaces that are not arguments: under their own handles, or those of a module's variables.

    Args:
        textures: By the variables' names, or in a sequence.
        memory: Notes them.
        reference: From a variable's name and type to its address.

    Raises:
        UsageError: One is neither a texture nor a surface, or no such variable has the name.
    """
    named = textures.items() if isinstance(textures, Mapping) else (("", one) for one in textures)
    for name, one in named:
        if not isinstance(one, (Texture, Surface)):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
            raise UsageError("textures", one, "textures and surfaces, by the names of variables or in a sequence")
        kind = "texref" if isinstance(one, Texture) else "surfref"
        memory.show(one, name or f"object {one.handle}", reference(name, kind) if name else None)


def _pack_one(parameter: Parameter, value: object, where: str, memory: Memory) -> bytes:
    wanted = parameter.wanted
    if isinstance(value, MappedArray) or _is_list_of_maps(value):
        return _maps(parameter, value, where, wanted, memory)
    array = host_array(value, where, wanted)
    if parameter.is_array:
        return _bytes(parameter, value if array is None else array, where, wanted, memory)
    if array is not None:
        return _pointer(parameter, array, where, wanted, memory)
    if value is None and parameter.size == 8:
        return bytes(8)
    if isinstance(value, (Texture, Surface)):
        return _object(parameter, value, where, wanted, memory)
    return _scalar(parameter, value, where, wanted)


def _pointer(parameter: Parameter, value: NDArray[Any], where: str, wanted: str, memory: Memory) -> bytes:
    """The address of an array."""
    if parameter.size != 8 or parameter.type.kind == "f":
        raise UsageError(where, brief(value), f"a number for {wanted}, not an array; `.item()` takes one out")
    return _address(value, where, wanted, memory)


def _address(value: NDArray[Any], where: str, wanted: str, memory: Memory) -> bytes:
    """The address of an array that a kernel can read in place.

    Raises:
        UsageError: It does not hold contiguous plain values in this machine's byte order.
    """
    if not value.flags.c_contiguous:
        raise UsageError(where, brief(value), f"a C-contiguous array for {wanted}")
    if value.dtype.hasobject:
        raise UsageError(where, brief(value), f"an array of plain values for {wanted}")
    if not value.dtype.isnative:
        raise UsageError(where, brief(value), f"an array in this machine's byte order for {wanted}")
    return memory.add(value, where).to_bytes(8, "little")


def _object(parameter: Parameter, value: Texture | Surface, where: str, wanted: str, memory: Memory) -> bytes:
    if parameter.size != 8 or parameter.type.kind == "f":
        raise UsageError(where, value, f"a number for {wanted}, not a texture or surface")
    return memory.show(value, where).to_bytes(8, "little")


def _maps(
    parameter: Parameter, value: MappedArray | list[MappedArray], where: str, wanted: str, memory: Memory
) -> bytes:
    """A tensor map itself, or the address of one or several in global memory, where a kernel may change them."""
    maps = [value] if isinstance(value, MappedArray) else value
    if parameter.size not in {8, MAP_BYTES} or (parameter.is_array and len(maps) != 1):
        raise UsageError(where, value, f"a value for {wanted}; a tensor map is {MAP_BYTES} bytes, or a pointer to some")
    for number, one in enumerate(maps):
        memory.add(one.array, f"{where}.array" if one is value else f"{where}[{number}].array")
    data = b"".join(one.to_bytes() for one in maps)
    if parameter.is_array:
        return data
    room = zeroed(len(data), MAP_ALIGNMENT, f"the tensor maps of {where}")
    room[:] = np.frombuffer(data, np.uint8)
    return memory.add(room, where).to_bytes(8, "little")


def _structure(parts: Mapping[int, object], size: int, where: str, memory: Memory) -> bytes:
    """The bytes of a structure: values by their offsets, zeros between them."""
    block = bytearray(size)
    for offset, value in parts.items():
        here = f"{where}[{offset}]"
        if isinstance(value, MappedArray):
            memory.add(value.array, f"{here}.array")
            data = value.to_bytes()
        elif _is_numpy_scalar(value):
            data = value.tobytes()
        elif _is_bytes(value):
            data = bytes(value)
        elif (array := host_array(value, here, "a pointer of the structure")) is not None:
            data = _address(array, here, "a pointer of the structure", memory)
        else:
            raise UsageError(here, value, "a tensor map, an array (its address), a NumPy scalar or bytes")
        if not (_is_integer(offset) and 0 <= offset <= size - len(data)):
            raise UsageError(here, f"{len(data)} bytes", f"within the {size} bytes of the structure")
        block[offset : offset + len(data)] = data
    return bytes(block)


def _bytes(parameter: Parameter, value: object, where: str, wanted: str, memory: Memory) -> bytes:
    if isinstance(value, Mapping):
        return _structure(cast("Mapping[int, object]", value), parameter.size, where, memory)
    data = value.tobytes() if is_array(value) or _is_numpy_scalar(value) else value
    if not _is_bytes(data) or len(bytes(data)) != parameter.size:
        raise UsageError(where, _brief(value), f"{parameter.size} bytes (or a NumPy value of that size) for {wanted}")
    return bytes(data)


def _scalar(parameter: Parameter, value: object, where: str, wanted: str) -> bytes:
    if _is_numpy_scalar(value) and value.nbytes == parameter.size and parameter.type.kind == "b":
        return value.tobytes()
    if _is_float(value) and parameter.type.kind in "fb":
        kinds = {2: np.float16, 4: np.float32, 8: np.float64}
        if parameter.size in kinds:
            with np.errstate(all="ignore"):  # what is too large is infinite, as in C
                return kinds[parameter.size](float(value)).tobytes()
    if _is_integer(value):
        number = int(value)
        if parameter.type.kind == "f":
            return _scalar(parameter, _as_float(number), where, wanted)
        bits = 8 * parameter.size
        if -(1 << bits - 1) <= number < 1 << bits:
            return (number & (1 << bits) - 1).to_bytes(parameter.size, "little")
        raise UsageError(where, value, f"within the range of {wanted}")
    raise UsageError(where, _brief(value), f"a number for {wanted}" + (" or an array" if parameter.size == 8 else ""))


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _brief(value: object) -> object:
    return brief(value) if is_array(value) else value


def _is_numpy_scalar(value: object) -> TypeGuard[np.generic[Any]]:
    return isinstance(value, np.generic)


def _is_float(value: object) -> TypeGuard[float]:
    return isinstance(value, float) or (_is_numpy_scalar(value) and is_float(value.dtype))


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer, np.bool_))


def _is_list_of_maps(value: object) -> TypeGuard[list[MappedArray]]:
    several = cast("list[object]", value) if isinstance(value, list) else []
    return bool(several) and all(isinstance(one, MappedArray) for one in several)


def _is_bytes(value: object) -> TypeGuard[bytes]:
    return isinstance(value, (bytes, bytearray, memoryview))
