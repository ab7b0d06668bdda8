"""Memory that two processes see at the same addresses."""

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
"""Of a file that processes map: no process can change its length under the others."""
_FIRST: Final = 0x2000_0000_0000  # far from where systems put programs, their heaps and their libraries
_SPACE: Final = 0x2F00_0000_0000  # addresses from there on at which something may start
_STEP: Final = 29745 << 30  # from a place to the next: a golden part of the space, and coprime to it in units of 2^30
_MOST: Final = 0x0100_0000_0000
_USUAL: Final = 0x0020_0000_0000  # addresses of one device, unless it has more than half as much memory
_TRIES: Final = 256
_FIXED: Final = 0x10
_NO_ACCESS: Final = 0  # Python does not name these
_FIXED_NOREPLACE: Final = 0x100000
_NORESERVE: Final = 0x4000
_REMOVE: Final = 9  # of madvise: what the pages held is gone from the file, too
_places = count()


def _place() -> int:
    """Addresses that nothing else has been given here."""
    return _FIRST + next(_places) * _STEP % _SPACE


class AddressRange:
    """Addresses that hold nothing until files are mapped there; other processes set the same ones aside.

    Attributes:
        address: Where they start.
        nbytes: How many.
    """

    def __init__(self) -> None:
        self._map = _libc().mmap
        for self.nbytes in (_MOST, _USUAL):
            self.address = _at_a_free_place(self.nbytes, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)
            if self.address:
                return
        raise OutOfHostMemory(_USUAL, "addresses to map memory at")

    def holds(self, address: int, nbytes: int) -> bool:
        """Whether addresses are of these."""
        return self.address <= address and nbytes <= self.nbytes and address - self.address <= self.nbytes - nbytes

    def map(self, address: int, nbytes: int, file: int) -> None:
        """Show a file at some of the addresses."""
        self._put(address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file)

    def unmap(self, address: int, nbytes: int) -> None:
        """Hold nothing there again."""
        self._put(address, nbytes, _NO_ACCESS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)

    def close(self) -> None:
        """Release the addresses."""
        _libc().munmap(ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes))

    def _put(self, address: int, nbytes: int, protection: int, flags: int, file: int) -> None:
        if self._map(address, nbytes, protection, flags | _FIXED | _NORESERVE, file, 0) != address:
            raise OutOfHostMemory(nbytes, "memory at an address")


def _at_a_free_place(size: int, protection: int, flags: int, file: int) -> int:
    """Map something at the first of the places that is free; zero if all are taken, or nothing of this size can be."""
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
    """Addresses of a file in memory, which other processes map at the same place.

    Attributes:
        bytes: All of them; zeros at first.
        address: Where they start.
        nbytes: How many.
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
        """Where it has been mapped, and how much: what limits of addresses and of files leave, up to `most`.

        Raises:
            OutOfHostMemory: That is less than `least`.
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
        """Where the file, made this long, has been mapped; zero if it cannot be."""
        try:
            os.ftruncate(self.file, size)
        except OSError:
            return 0
        return _at_a_free_place(size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, self.file)

    def forget(self, start: int, size: int) -> None:
        """Whole pages hold zeros again, and take nothing."""
        if size > 0:
            self._libc.madvise(ctypes.c_void_p(self.address + start), ctypes.c_size_t(size), _REMOVE)

    def close(self) -> None:
        """Release the addresses: they must not be accessed from now on."""
        self._libc.munmap(ctypes.c_void_p(self.address), ctypes.c_size_t(self.nbytes))
        os.close(self.file)
