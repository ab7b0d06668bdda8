"""Guard zones: memory between pages that trap, with canaries; a machine that takes all of its memory from them."""

from __future__ import annotations

import ctypes
import mmap
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE: Final = mmap.PAGESIZE
_CANARY: Final = 0xA5
_MOST_LEFT: Final = 1024  # a zone is three mappings, of which Linux allows a process 65,530


class Zone:
    """Bytes that end (except for their alignment) where a page begins that no code may touch; around them, canaries."""

    def __init__(self, size: int, alignment: int, name: str, place: int = 0) -> None:
        self.name = name
        self.size = size
        pages = -(-(size + alignment) // PAGE) * PAGE
        self._total = pages + 2 * PAGE
        wanted = place + size + PAGE - self._total if place else 0
        self._start = _map(wanted, self._total)
        _protect(self._start, PAGE, _NOTHING)
        _protect(self._start + PAGE + pages, PAGE, _NOTHING)
        self._inside = _bytes_at(self._start + PAGE, pages)
        self._inside[:] = _CANARY
        self.address = (self._start + PAGE + pages - size) // alignment * alignment
        self._at = self.address - self._start - PAGE
        self.content[:] = 0

    @property
    def content(self) -> NDArray[np.uint8]:
        """The bytes themselves."""
        return self._inside[self._at : self._at + self.size]

    def is_broken(self) -> bool:
        """Whether a canary has changed."""
        around = (self._inside[: self._at], self._inside[self._at + self.size :])
        return any(bool((side != _CANARY).any()) for side in around)

    def release(self) -> None:
        """Unmap it."""
        _LIBC.munmap(self._start, self._total)


_NOTHING: Final = 0  # PROT_NONE, which `mmap` does not name
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _map(wanted: int, size: int) -> int:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    at: int | None = _LIBC.mmap(wanted, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if at is None or at + 1 >> 64 or (wanted and at != wanted):
        raise MemoryError(f"no room of {size} bytes at {wanted:#x}")
    return at


def _protect(at: int, size: int, how: int) -> None:
    if _LIBC.mprotect(at, size, how):
        raise OSError(ctypes.get_errno(), "mprotect")


def _bytes_at(at: int, size: int) -> NDArray[np.uint8]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(at))


class Zones:
    """The zones of what the machine makes for itself.

    Attributes:
        live: Those that have not been released.
        left: Those of arenas that are gone. A collection can come at any time: `check` looks at them and releases them,
            and so does `make`: kernels that launch kernels without end leave as many as there is time for.
        kept: Those of variables, and of device heaps.
        broken: The names of those whose canaries had changed when they were released.
    """

    def __init__(self) -> None:
        self.live: dict[Zone, None] = {}
        self.left: list[Zone] = []
        self.kept: list[Zone] = []
        self.broken: list[str] = []

    def make(self, size: int, alignment: int, name: str) -> Zone:
        """Another one; refused as the machine itself refuses what the host has not got."""
        from ptxloom.diagnostics import PtxloomError  # noqa: PLC0415 - of the child alone

        if len(self.left) > _MOST_LEFT:
            self._look_and_release()
        try:
            zone = Zone(size, alignment, name)
        except MemoryError as error:
            raise PtxloomError(str(error)) from None
        self.live[zone] = None
        return zone

    def check(self) -> list[str]:
        """The names of those whose canaries have changed."""
        self._look_and_release()
        found = [*self.broken, *(zone.name for zone in list(self.live) if zone.is_broken())]
        self.broken.clear()
        return found

    def release_kept(self) -> None:
        """No kernel that has run will run again."""
        while self.kept:
            self._release(self.kept.pop())

    def _look_and_release(self) -> None:
        while self.left:
            zone = self.left.pop()
            if zone.is_broken():
                self.broken.append(zone.name)
            self._release(zone)

    def _release(self, zone: Zone) -> None:
        del self.live[zone]
        zone.release()


def guard(zones: Zones) -> None:
    """Have the machine take all its memory from zones."""
    from ptxloom.machine.launch import launch_state  # noqa: PLC0415 - of the child alone
    from ptxloom.machine.launch.shadows import provenance  # noqa: PLC0415 - of the child alone
    from ptxloom.machine.memory import arena, heap, module_variables  # noqa: PLC0415 - of the child alone
    from ptxloom.machine.results import trace  # noqa: PLC0415 - of the child alone

    class Arena(arena.Arena):
        def __init__(self, budget: arena.Budget) -> None:
            super().__init__(budget)
            self._zones: list[Zone] = []

        def take(self, size: int, what: str = "state") -> int:
            self.budget.charge(what, size)
            self.taken += size
            zone = zones.make(size, 64, f"{size} bytes for {what}")
            self._zones.append(zone)
            return zone.address

        def image(self) -> tuple[tuple[int, bytes], ...]:
            return tuple((zone.address, zone.content.tobytes()) for zone in self._zones)

        def __del__(self) -> None:
            zones.left += self._zones

    def zeroed(size: int, alignment: int, what: str) -> NDArray[np.uint8]:
        zone = zones.make(size, max(alignment, 1), what)
        zones.kept.append(zone)
        return zone.content

    launch_state.Arena = Arena
    for module in (arena, module_variables, heap, trace):
        vars(module)["zeroed"] = zeroed

    def zeroed_widely(size: int, what: str) -> NDArray[np.uint8]:
        return zeroed(size, 64, what)

    def left_over(size: int, what: str) -> NDArray[np.uint8]:
        content = zeroed(size, 64, what)
        content[:] = 0xA5  # what a launch before may have left
        return content

    setattr(provenance, zeroed_widely.__name__, zeroed_widely)
    setattr(provenance, left_over.__name__, left_over)
