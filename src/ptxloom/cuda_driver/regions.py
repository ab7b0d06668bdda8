"""Memory that two processes map at the same addresses."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import sys
from itertools import count
from typing import Final

import numpy as np

from ptxloom.machine.port.region import OutOfHostMemory

SEALS: Final = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""The seals of a mapped file: no process can change its length."""
_FIRST: Final = 0x2000_0000_0000  # far from the usual addresses of programs, heaps and libraries
_SPACE: Final = 0x2F00_0000_0000  # bytes from there, in which a mapping may start
_STEP: Final = 29745 << 30  # the stride: the golden ratio of the space, coprime to it in units of 2^30
_MOST: Final = 0x0100_0000_0000
_USUAL: Final = 0x0020_0000_0000  # addresses of one device, unless it has more than half as much memory
_TRIES: Final = 256
_FIXED: Final = 0x10
_NO_ACCESS: Final = 0  # Python does not name these
_FIXED_NOREPLACE: Final = 0x100000
_NORESERVE: Final = 0x4000
_REMOVE: Final = 9  # for madvise: the pages are dropped from the file, too
_places = count()


def _place() -> int:
    """Addresses that are not in use."""
    return _FIRST + next(_places) * _STEP % _SPACE


class AddressRange:
    """Reserved addresses in which files are mapped; other processes reserve the same ones.

    Attributes:
        address: The first.
        nbytes: Their number.
    """

    def __init__(self) -> None:
        self._map = _libc().mmap
        for self.nbytes in (_MOST, _USUAL):
            self.address = _at_a_free_place(self.nbytes, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)
            if self.address:
                return
        raise OutOfHostMemory(_USUAL, "addresses to map memory at")

    def holds(self, address: int, nbytes: int) -> bool:
        """Whether addresses are in the range."""
        return self.address <= address and nbytes <= self.nbytes and address - self.address <= self.nbytes - nbytes

    def map(self, address: int, nbytes: int, file: int) -> None:
        """Map a file at some of the addresses."""
        self._put(address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file)

    def unmap(self, address: int, nbytes: int) -> None:
        """Unmap addresses; they stay reserved."""
        self._put(address, nbytes, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)

    def close(self) -> None:
        """Release the addresses."""
        _libc().munmap(ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes))

    def _put(self, address: int, nbytes: int, protection: int, flags: int, file: int) -> None:
        if self._map(address, nbytes, protection, flags | _FIXED | _NORESERVE, file, 0) != address:
            raise OutOfHostMemory(nbytes, "memory at an address")


def _at_a_free_place(size: int, protection: int, flags: int, file: int) -> int:
    """Map memory at the first free address that is tried; zero if all are taken, or the size is not available."""
    libc = _libc()
    for _ in range(_TRIES):
        wanted = _place()
        if libc.mmap(wanted, size, protection, flags | _FIXED_NOREPLACE | _NORESERVE, file, 0) == wanted:
            return wanted
        if ctypes.get_errno() == errno.ENOMEM:
            return 0
    return 0


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    return libc


class SharedRegion:
    """A mapped file in memory, which other processes map at the same address.

    Attributes:
        bytes: Its memory; zeros at first.
        address: Its start.
        nbytes: Its size.
        file: The file's descriptor.
    """

    def __init__(self, least: int, most: int) -> None:
        if sys.platform != "linux":
            raise OutOfHostMemory(least, "the memory of a device")
        self._libc = _libc()
        try:
            self.file = os.memfd_create("ptxloom", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError:  # more files than this process may have
            raise OutOfHostMemory(least, "the memory of a device") from None
        self.address, self.nbytes = self._mapped(least, min(most, max(2 * least, _USUAL), _MOST))
        fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, SEALS)
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * self.nbytes).from_address(self.address))

    def _mapped(self, least: int, most: int) -> tuple[int, int]:
        """The address and size of the mapping: as much as limits of addresses and files allow, up to `most`.

        Raises:
            OutOfHostMemory: The limits allow less than `least`.
        """
        size = -(-most // mmap.PAGESIZE) * mmap.PAGESIZE
        while size >= max(least, mmap.PAGESIZE):
            address = self._of_size(size)
            if address:
                return address, size
            size = size // 2 // mmap.PAGESIZE * mmap.PAGESIZE
        os.close(self.file)
        raise OutOfHostMemory(least, "the memory of a device")

    def _of_size(self, size: int) -> int:
        """Map the file, extended to this size; returns the address, or zero if it cannot be mapped."""
        try:
            os.ftruncate(self.file, size)
        except OSError:
            return 0
        return _at_a_free_place(size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, self.file)

    def forget(self, start: int, size: int) -> None:
        """Zero whole pages, and release their memory."""
        if size > 0:
            self._libc.madvise(ctypes.c_void_p(self.address + start), ctypes.c_size_t(size), _REMOVE)

    def close(self) -> None:
        """Release the addresses: they must not be accessed from now on."""
        self._libc.munmap(ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes))
        os.close(self.file)
