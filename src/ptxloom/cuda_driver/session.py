"""One program's device: its memory, its modules, its launches."""

from __future__ import annotations

import hashlib
import os
import threading
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.cuda_driver.answers import Ending, one_answer
from ptxloom.cuda_driver.errors import CudaError, Refused, error_of
from ptxloom.cuda_driver.facts import alignment_of, table
from ptxloom.cuda_driver.images import module_of
from ptxloom.cuda_driver.linking import linked, linked_inputs
from ptxloom.cuda_driver.loaded import MOST_REGISTERS, Loaded
from ptxloom.cuda_driver.protocol import (
    ATTRIBUTES,
    DEVICE,
    DONE,
    ENDED,
    ENDING,
    FUNCTION,
    HOST_KINDS,
    LAUNCH,
    NUMBER,
    PAIR,
    PARAMETER,
    PLACED_KINDS,
    REFUSED,
    SHARED,
    Operation,
    PlaceStep,
)
from ptxloom.cuda_driver.regions import SharedRegion
from ptxloom.cuda_driver.virtual import VirtualMemory
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.isa import Target
from ptxloom.lazy import cached_property
from ptxloom.machine import LaunchError, OutOfDeviceMemory
from ptxloom.machine.port.launch import Prepared
from ptxloom.machine.port.prepare import assembled
from ptxloom.machine.port.region import DeviceMemory, OutOfHostMemory
from ptxloom.source import Source
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.cuda_driver.report import Report
    from ptxloom.cuda_driver.textures import Images
    from ptxloom.machine import Kernel, LaunchOptions

    Others: TypeAlias = Callable[[int], "Session | None"]

_TARGET_NUMBER: Final = 0xFFFF  # of a CUjit_target; the bits above say that it is architecture-specific
_MOST_PREPARED: Final = 256  # launches
_SHARING: Final = threading.Lock()  # no memory is released while another process opens it
_HEAP_BYTES: Final = 8 << 20  # what cuCtxGetLimit returns for malloc's heap before it is set


class Session:
    """The device's state for one process of the program.

    Args:
        number: The number of the session.
        arch: The architecture whose tensor cores compute.
        checks: The tools that watch.
        memory_bytes: The bytes that may be allocated.
        report: Receives the reports on its kernels.
        others: Returns the session with a number, whose memory this one may open.

    Attributes:
        memory: Its device memory, which the process sees at the same addresses.
        checks: The tools that watch.
        regions: The memory that the process maps: its own, and its marks if it is watched.
    """

    def __init__(
        self, number: int, arch: str, checks: Sequence[str], memory_bytes: int, *, report: Report, others: Others
    ) -> None:
        self.number = number
        self._others = others
        self._opened: dict[int, int] = {}
        self._borrowers: set[Session] = set()  # sessions that have opened memory of this one
        self._lenders: set[Session] = set()
        self._is_over = False
        self._given: set[int] = set()  # addresses of the program's allocations that it may free
        self.checks = tuple(checks)
        self.regions: list[SharedRegion] = []
        try:
            self.memory = DeviceMemory(memory_bytes, watched="initcheck:global" in checks, reserve=self._reserve)
        except OutOfHostMemory:  # the second one
            self._unmap()
            raise
        self._virtual = VirtualMemory(self.memory)
        self._arch = arch
        self._capability = Target.parse(arch).number
        self._report = report
        self._numbers = count(1)
        self._allocations = count()
        self._modules: dict[int, Loaded] = {}
        self._kernels: dict[int, Kernel] = {}
        self._prepared: dict[bytes, Prepared] = {}
        self._answers: dict[int, Callable[[bytes], bytes]] = {
            Operation.ALLOCATE: self._allocate,
            Operation.FREE: self._free,
            Operation.LOAD: self._load,
            Operation.UNLOAD: self._unload,
            Operation.GET_FUNCTION: self._function,
            Operation.GET_GLOBAL: self._global,
            Operation.LIST_FUNCTIONS: self._list,
            Operation.LINK: self._link,
            Operation.MISSING: self._missing,
            Operation.TENSOR_MAP: self._tensor_map,
            Operation.IPC_OPEN: self._open,
            Operation.IMAGE: lambda data: self._images.show(data),  # noqa: PLW0108 - created on first use
            Operation.DROP_IMAGE: lambda data: self._images.drop(data),  # noqa: PLW0108 - likewise
            Operation.PLACE: self._place,
            Operation.REFERENCE: lambda data: self._of(data)[1].reference(data),
            Operation.VIRTUAL: self._virtual.answer,
        }

    def _reserve(self, least: int, most: int) -> SharedRegion:
        self.regions.append(SharedRegion(least, most))
        return self.regions[-1]

    def _unmap(self) -> None:
        for region in self.regions:
            region.close()

    def hello(self) -> bytes:
        """Describe the device."""
        region, *marks = self.regions
        uuid = hashlib.sha256(f"{self._arch} {self.number}".encode()).digest()[:16]
        return DEVICE.pack(
            region.address, region.nbytes, marks[0].address if marks else 0, self.memory.capacity, self.number,
            *table(self._capability, ATTRIBUTES), uuid, f"ptxloom {self._arch}".encode(),
        )  # fmt: skip

    def answer(self, operation: int, data: bytes) -> tuple[CudaError, bytes]:
        """Carry out a request.

        Raises:
            Ending: The program must end.
        """
        return one_answer(self._answered, operation, data, self._report)

    def _answered(self, operation: int, data: bytes) -> tuple[CudaError, bytes]:
        if operation == Operation.LAUNCH:
            return self._launch(data)
        return CudaError.SUCCESS, self._answers[operation](data)

    def close(self) -> None:
        """End the session; memory that other processes have opened stays until they have ended, too."""
        self._prepared.clear()
        self._kernels.clear()
        self._modules.clear()
        self._virtual.close()
        with _SHARING:
            self._is_over = True
            for lender in (self, *self._lenders):
                lender._borrowers.discard(self)  # noqa: SLF001 - a session, too
                lender._give_back()  # noqa: SLF001 - as above

    def _give_back(self) -> None:
        """Release the memory once no process can access it."""
        if self._is_over and not self._borrowers:
            self._unmap()

    # -- memory

    def _allocate(self, data: bytes) -> bytes:
        size, kind = PAIR.unpack_from(data)
        origin = data[PAIR.size :].decode("utf-8", "replace")
        number = next(self._allocations)
        try:
            name = f"alloc[{number}]" + f" of {origin}" * bool(origin)
            made = self.memory.allocate(size, name, align=alignment_of(size) if kind in PLACED_KINDS else 1)
        except OutOfDeviceMemory:
            raise Refused(CudaError.OUT_OF_MEMORY) from None
        self._given.add(made.address)
        if kind in HOST_KINDS:
            self.memory.written(made.address, size)
        return NUMBER.pack(made.address)

    def _open(self, data: bytes) -> bytes:
        """Let kernels of this process access an allocation of another one."""
        number, address = PAIR.unpack(data)
        with _SHARING:
            other = self._others(number)
            if other is None or other is self or address not in other.memory:  # other memory can be unmapped
                raise Refused(CudaError.INVALID_VALUE)
            piece = next((one for one in other.memory.pieces() if one.start == address), None)
            if piece is None:
                raise Refused(CudaError.INVALID_VALUE)
            if address not in self._opened:
                try:
                    view = other.memory.view(address, piece.size)
                except UsageError:  # freed since
                    raise Refused(CudaError.INVALID_VALUE) from None
                self.memory.register(view, piece.name, constant=False)
                self._opened[address] = piece.size
            other._borrowers.add(self)  # noqa: SLF001 - a session, too
            self._lenders.add(other)
        region = other.regions[0]
        return SHARED.pack(region.address, region.nbytes, os.getpid(), region.file, piece.size)

    def _free(self, data: bytes) -> bytes:
        (address,) = NUMBER.unpack(data)
        try:
            if self._opened.pop(address, None) is not None:
                self.memory.unregister(address)
            else:
                self._own(address)
                self.memory.free(address)
                self._given.discard(address)
        except UsageError:
            raise Refused(CudaError.INVALID_VALUE) from None
        return b""

    def _own(self, address: int) -> None:
        """Check that an address is that of an allocation of the program.

        Raises:
            Refused: It is not: a module's variables are released with the module.
        """
        if address not in self._given:
            raise Refused(CudaError.INVALID_VALUE)

    def _place(self, data: bytes) -> bytes:
        """Handle memory of graphs, which is mapped only at times, always at the same address."""
        step, address = PAIR.unpack(data)
        try:
            match step:
                case PlaceStep.REST:
                    self._own(address)
                    self.memory.free(address, keeps_place=True)
                case PlaceStep.RESTORE:
                    self.memory.restore(address)
                case PlaceStep.LEAVE:
                    self.memory.leave(address)
                    self._given.discard(address)
                case _:
                    raise Refused(CudaError.NOT_SUPPORTED)
        except OutOfDeviceMemory:
            raise Refused(CudaError.OUT_OF_MEMORY) from None
        except UsageError:
            raise Refused(CudaError.INVALID_VALUE) from None
        return b""

    # -- textures and tensor maps

    @cached_property
    def _images(self) -> Images:
        from ptxloom.cuda_driver.textures import Images  # noqa: PLC0415 - few programs have any

        return Images(self.memory)

    def _tensor_map(self, data: bytes) -> bytes:
        from ptxloom.cuda_driver.tensor_maps import encoded  # noqa: PLC0415 - likewise

        return encoded(data, self._capability)

    # -- modules

    def _load(self, data: bytes) -> bytes:
        registers, size = PAIR.unpack_from(data)
        path = data[PAIR.size : PAIR.size + size].decode("utf-8", "replace")
        given = module_of(data[PAIR.size + size :], path, self._capability)
        text = linked([given])
        source = given.source
        module = given if text == source.text else parse_source(Source(text, source.name, source.written))
        try:
            loaded = Loaded(module, self.memory, registers or MOST_REGISTERS)
        except OutOfDeviceMemory:
            raise Refused(CudaError.OUT_OF_MEMORY) from None
        except PtxloomError as error:
            raise Refused(CudaError.NOT_SUPPORTED, f"ptxloom: {error}") from None
        number = next(self._numbers)
        self._modules[number] = loaded
        return NUMBER.pack(number)

    def _link(self, data: bytes) -> bytes:
        at, end = 0, len(data) - PAIR.size
        registers, target = PAIR.unpack_from(data, end)
        inputs: list[tuple[int, bytes]] = []
        while at < end:
            kind, size = PAIR.unpack_from(data, at)
            at += PAIR.size + size
            if at > end:
                raise Refused(CudaError.INVALID_VALUE)
            inputs.append((kind, data[at - size : at]))
        return linked_inputs(inputs, target & _TARGET_NUMBER or self._capability, registers).encode()

    def _unload(self, data: bytes) -> bytes:
        loaded = self._modules.pop(self._of(data)[0])
        self._prepared.clear()
        for number in loaded.kernels.values():
            del self._kernels[number]
        loaded.variables.drop()
        return b""

    def _of(self, data: bytes) -> tuple[int, Loaded, str]:
        """The module that a request names, and the name in it."""
        (number,) = NUMBER.unpack_from(data)
        loaded = self._modules.get(number)
        if loaded is None:
            raise Refused(CudaError.INVALID_HANDLE)
        return number, loaded, data[NUMBER.size :].decode("utf-8", "replace")

    def _list(self, data: bytes) -> bytes:
        _, loaded, _ = self._of(data)
        return b"".join(f"{name}\0".encode() for name in loaded.module.kernels)

    def _global(self, data: bytes) -> bytes:
        _, loaded, name = self._of(data)
        piece = loaded.variables.piece(name)
        if piece is None:
            raise Refused(CudaError.INVALID_VALUE if name in loaded.module.functions else CudaError.NOT_FOUND)
        try:
            loaded.variables.note_filled(name)  # the caller may fill an `.extern` one
        except UsageError:  # a texture reference, which has no bytes
            raise Refused(CudaError.NOT_SUPPORTED) from None
        return PAIR.pack(piece.start, piece.size)

    def _function(self, data: bytes) -> bytes:
        _, loaded, name = self._of(data)
        one = loaded.module.functions.get(name)
        if one is None or one.kind != "entry":
            raise Refused(CudaError.NOT_FOUND)
        if name not in loaded.kernels:
            try:
                made = assembled(loaded.module, name, self._arch)
            except PtxloomError as error:
                raise Refused(CudaError.NOT_SUPPORTED, f"ptxloom: kernel {name}: {error}") from None
            number = next(self._numbers)
            loaded.kernels[name], self._kernels[number] = number, made
        number = loaded.kernels[name]
        kernel = self._kernels[number]
        values = loaded.attributes(kernel, self._capability)
        told = [PARAMETER.pack(one.offset, one.size) for one in kernel.parameters]
        return FUNCTION.pack(number, *values, kernel.parameter_bytes, len(told)) + b"".join(told)

    # -- launches

    def _launch(self, data: bytes) -> tuple[CudaError, bytes]:
        kernel = self._kernels.get(NUMBER.unpack_from(data)[0])
        if kernel is None:
            return CudaError.INVALID_HANDLE, ENDING.pack(REFUSED)
        self._report.launched()
        head = data[: LAUNCH.size]
        try:
            prepared = self._prepared.get(head) or self._prepare(kernel, head)
            result = prepared.launch(data[LAUNCH.size :])
        except LaunchError as error:
            self._tell(kernel, error)
            return error_of(error), ENDING.pack(ENDED if self._report.destroys == "context" else REFUSED)
        except PtxloomError as error:
            self._tell(kernel, error)
            wrong = CudaError.INVALID_VALUE if isinstance(error, UsageError) else CudaError.NOT_SUPPORTED
            return wrong, ENDING.pack(REFUSED)
        if result.hazards:
            self._tell(kernel, result.hazards)
        return CudaError.SUCCESS, ENDING.pack(DONE) + result.output.encode("utf-8", "surrogateescape")

    def _prepare(self, kernel: Kernel, head: bytes) -> Prepared:
        """Check a launch except for its parameters; kept for the next launch of the same kind."""
        _, *sizes = LAUNCH.unpack(head)
        cluster, shared_bytes, (stack_bytes, printf_bytes, heap_bytes, pending) = sizes[6:9], sizes[9], sizes[11:15]
        options: LaunchOptions = {
            "cluster": cluster if cluster[0] else None,
            "stack_bytes": stack_bytes,
            "printf_bytes": printf_bytes,
            "heap_bytes": None if heap_bytes == _HEAP_BYTES else heap_bytes,
            "memory_limit": self.memory.launch_limit,
        }
        made = Prepared(
            kernel, sizes[:3], sizes[3:6], self, options, shared_bytes=shared_bytes, pending_launches=pending
        )
        if len(self._prepared) >= _MOST_PREPARED:
            self._prepared.clear()
        self._prepared[head] = made
        return made

    def _tell(self, kernel: Kernel, what: object) -> None:
        """Report a hazard.

        Raises:
            Ending: The hazard ends the program.
        """
        if self._report.found(kernel.name, str(what), has_lines=".loc" in kernel.module.source.text):
            raise Ending

    def _missing(self, data: bytes) -> bytes:
        self._report.missing(data.decode("utf-8", "replace"))
        return b""
