"""Memory that a program maps itself: pieces of memory, and addresses reserved in both processes."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from enum import IntEnum
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.protocol import VIRTUAL, VIRTUAL_TOLD
from ptxloom.cuda_driver.regions import SEALS, AddressRange
from ptxloom.dataclass import dataclass
from ptxloom.machine import OutOfDeviceMemory

if TYPE_CHECKING:
    from ptxloom.machine.port.region import DeviceMemory

UNIT: Final = 2 << 20
"""The granularity of allocations and mappings, as on real GPUs."""
_READ_WRITE: Final = 3


class Step(IntEnum):
    """The step of a request; `enum step` in `virtual.c`."""

    RANGE = 1
    CREATE = 2
    IMPORT = 3
    RELEASE = 4
    MAP = 5
    UNMAP = 6
    ACCESS = 7


@dataclass(frozen=True, slots=True)
class _Memory:
    """A piece of memory: its file, its size, and its name in reports."""

    file: int
    nbytes: int
    name: str


@dataclass(slots=True)
class _Mapping:
    """A piece of memory mapped at an address, and the access that kernels have."""

    nbytes: int
    name: str
    flags: int = 0


class VirtualMemory:
    """The mappings of one program.

    Args:
        memory: The device's memory, which counts it and lets kernels access it.
    """

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory
        self._range: AddressRange | None = None
        self._numbers = count(1)
        self._pieces: dict[int, _Memory] = {}
        self._mappings: dict[int, _Mapping] = {}
        self._reached: list[int] = []  # the starts of runs of mappings that kernels may access

    def answer(self, data: bytes) -> bytes:
        """Carry out a request.

        Raises:
            Refused: It cannot be carried out.
        """
        step, first, second, third = VIRTUAL.unpack_from(data)
        match step:
            case Step.RANGE:
                space = self._space()
                return VIRTUAL_TOLD.pack(space.address, space.nbytes, 0)
            case Step.CREATE:
                return self._create(first, data[VIRTUAL.size :].decode("utf-8", "replace"))
            case Step.IMPORT:
                return self._import(first, second)
            case Step.RELEASE:
                self._release(first)
            case Step.MAP:
                self._map(first, second, third)
            case Step.UNMAP:
                self._unmap(first)
            case Step.ACCESS:
                self._allow(first, second, third)
            case _:
                raise Refused(CudaError.NOT_SUPPORTED)
        return VIRTUAL_TOLD.pack(0, 0, 0)

    def close(self) -> None:
        """Release everything at the end of the program."""
        for piece in self._pieces.values():
            os.close(piece.file)
        if self._range is not None:
            self._range.close()

    def _space(self) -> AddressRange:
        self._range = self._range or AddressRange()
        return self._range

    def _create(self, nbytes: int, origin: str) -> bytes:
        if not nbytes or nbytes % UNIT:
            raise Refused(CudaError.INVALID_VALUE)
        try:
            self._memory.charge(nbytes)
        except OutOfDeviceMemory:
            raise Refused(CudaError.OUT_OF_MEMORY) from None
        try:
            file = _new_file(nbytes)
        except OSError:  # too many open files, or the file would be too long
            self._memory.charge(-nbytes)
            raise Refused(CudaError.OUT_OF_MEMORY) from None
        return self._kept(file, nbytes, origin)

    def _import(self, process: int, given: int) -> bytes:
        """Import memory by a file of the program that another of its processes made."""
        try:
            file = os.open(f"/proc/{process}/fd/{given}", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            raise Refused(CudaError.UNKNOWN) from None
        nbytes = os.fstat(file).st_size
        if not _is_memory(file) or not nbytes or nbytes % UNIT:
            os.close(file)
            raise Refused(CudaError.INVALID_VALUE)
        return self._kept(file, nbytes, "an import", charged=False)

    def _kept(self, file: int, nbytes: int, origin: str, *, charged: bool = True) -> bytes:
        number = next(self._numbers)
        self._pieces[number] = _Memory(
            file, nbytes if charged else 0, f"memory[{number}]" + f" of {origin}" * bool(origin)
        )
        return VIRTUAL_TOLD.pack(number, nbytes, file)

    def _release(self, number: int) -> None:
        piece = self._pieces.pop(number, None)
        if piece is None:
            raise Refused(CudaError.INVALID_VALUE)
        self._memory.charge(-piece.nbytes)
        os.close(piece.file)

    def _map(self, address: int, nbytes: int, number: int) -> None:
        piece = self._pieces.get(number)
        if piece is None or nbytes != os.fstat(piece.file).st_size or not self._is_free(address, nbytes):
            raise Refused(CudaError.INVALID_VALUE)
        self._space().map(address, nbytes, piece.file)
        self._mappings[address] = _Mapping(nbytes, piece.name)

    def _is_free(self, address: int, nbytes: int) -> bool:
        inside = address % UNIT == 0 and self._space().holds(address, nbytes)
        others = self._mappings.items()
        return inside and all(address + nbytes <= at or at + one.nbytes <= address for at, one in others)

    def _unmap(self, address: int) -> None:
        mapping = self._mappings.pop(address, None)
        if mapping is None:
            raise Refused(CudaError.INVALID_VALUE)
        self._reach()
        self._space().unmap(address, mapping.nbytes)

    def _allow(self, address: int, nbytes: int, flags: int) -> None:
        for at, mapping in self._mappings.items():
            if address <= at and at + mapping.nbytes <= address + nbytes:
                mapping.flags = flags
        self._reach()

    def _reach(self) -> None:
        """Let kernels access the mappings that they may, adjacent ones as one piece."""
        for start in self._reached:
            self._memory.unregister(start)
        self._reached.clear()
        runs: list[tuple[int, _Mapping]] = []
        for at, one in sorted(self._mappings.items()):
            if not one.flags:
                continue
            if runs and runs[-1][0] + runs[-1][1].nbytes == at and runs[-1][1].flags == one.flags:
                runs[-1][1].nbytes += one.nbytes
            else:
                runs.append((at, _Mapping(one.nbytes, one.name, one.flags)))
        for start, run in runs:
            there = np.ctypeslib.as_array((ctypes.c_uint8 * run.nbytes).from_address(start))
            self._memory.register(there, run.name, constant=run.flags != _READ_WRITE)
            self._reached.append(start)


def _is_memory(file: int) -> bool:
    """Whether a file is lasting memory: it cannot be shortened, and does not use huge pages, which are scarce."""
    try:
        is_sealed = fcntl.fcntl(file, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
    except OSError:  # no file in memory
        return False
    return bool(is_sealed) and os.fstatvfs(file).f_bsize == mmap.PAGESIZE


def _new_file(nbytes: int) -> int:
    """A file in memory whose length cannot change."""
    file = os.memfd_create("ptxloom memory", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, nbytes)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
    except OSError:
        os.close(file)
        raise
    return file
