"""What Python does for a running kernel: `vprintf`, `malloc`, `free`, `__assertfail` (CUDA's device run-time calls)."""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.machine.calling import FRAME_HEAD
from ptxloom.machine.hazard import LaunchError
from ptxloom.machine.runtime.state import GLOBAL, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES

if TYPE_CHECKING:
    from ptxloom.machine.hazard import Hazard
    from ptxloom.machine.launch import Worker

_DIRECTIVE: Final = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%n])")
_HEAP_LIMIT: Final = 8 << 20  # bytes of one allocation, as cudaLimitMallocHeapSize has it


@dataclass(frozen=True, slots=True)
class Request:
    """A call of some lanes of a warp, stopped for Python."""

    worker: Worker
    warp: Any
    lanes: tuple[int, ...]
    frame: int  # bytes from a lane's own frame to the callee's

    def place(self, lane: int, offset: int) -> int:
        """The host address of a byte of the callee's frame."""
        start: int = self.warp.local + lane * self.warp.local_bytes
        return start + self.warp.sp[lane] + self.frame + offset

    def number(self, lane: int, offset: int, size: int = 8) -> int:
        """An integer in the callee's frame."""
        return int.from_bytes(ctypes.string_at(self.place(lane, offset), size), "little")

    def bytes_at(self, lane: int, address: int, size: int) -> bytes:
        """What a lane finds at a generic address; fewer bytes where its memory ends."""
        offset = address % WINDOW_BYTES
        if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
            start: int = self.warp.local + lane * self.warp.local_bytes + offset
            return ctypes.string_at(start, max(0, min(size, self.warp.local_bytes - offset)))
        if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
            return ctypes.string_at(self.warp.shared + offset, max(0, min(size, self.warp.shared_bytes - offset)))
        return self.worker.grid.bytes_at(address, size)

    def text_at(self, lane: int, address: int) -> str:
        """The C string at a generic address."""
        found = b""
        while b"\0" not in found and len(found) % 256 == 0 and len(found) < 1 << 16:
            more = self.bytes_at(lane, address + len(found), 256)
            if not more:
                break
            found += more
        return found.partition(b"\0")[0].decode(errors="replace")


def serve(number: int, request: Request) -> None:
    """Do what a kernel called for.

    Raises:
        LaunchError: An assertion failed.
    """
    match number:
        case 0:
            for lane in request.lanes:
                _print(request, lane)
        case 1:
            for lane in request.lanes:
                size = request.number(lane, FRAME_HEAD + 8)
                address = request.worker.grid.allocate(size) if size <= _HEAP_LIMIT else 0
                ctypes.memmove(request.place(lane, FRAME_HEAD), struct.pack("<Q", address), 8)
        case 2:
            for lane in request.lanes:
                _free(request, lane)
        case _:
            _fail(request)


def _print(request: Request, lane: int) -> None:
    template = request.text_at(lane, request.number(lane, FRAME_HEAD + 8))
    values = request.number(lane, FRAME_HEAD + 16)
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at = -(-at // size) * size
        found = request.bytes_at(lane, values + at, size).ljust(size, b"\0") if values else bytes(size)
        at += size
        return found

    def one(found: re.Match[str]) -> str:
        flags, width, precision, length, letter = found.groups()
        if letter == "%":
            return "%"
        wide = str(struct.unpack("<i", take(4))[0]) if width == "*" else width or ""
        exact = str(struct.unpack("<i", take(4))[0]) if precision == "*" else precision or ""
        form = f"%{flags}{wide}" + (f".{exact}" if "." in found[0] else "")
        if letter in "fFeEgGaA":
            value = struct.unpack("<d", take(8))[0]
            return float.hex(value) if letter in "aA" else (form + letter) % value
        if letter == "s":
            return (form + "s") % request.text_at(lane, int.from_bytes(take(8), "little"))
        size = 8 if letter == "p" or length in {"l", "ll", "j", "z", "t"} else 4
        value = int.from_bytes(take(size), "little", signed=letter in "di")
        if letter == "c":
            return (form + "c") % chr(value & 0xFF)
        return f"{value:#x}" if letter == "p" else (form + {"i": "d", "u": "d"}.get(letter, letter)) % value

    request.worker.grid.print(_DIRECTIVE.sub(one, template))
    ctypes.memmove(request.place(lane, FRAME_HEAD), struct.pack("<i", at), 4)


def _fail(request: Request) -> None:
    """`__assertfail(message, file, line, function, size of a character)`."""
    lane = request.lanes[0]
    message, file = (request.text_at(lane, request.number(lane, FRAME_HEAD + at)) for at in (0, 8))
    line = request.number(lane, FRAME_HEAD + 16, 4)
    function = request.text_at(lane, request.number(lane, FRAME_HEAD + 24))
    text = f"assertion `{message}` failed at {file}:{line}, in {function}"
    raise LaunchError("the kernel was ended by an error", (_hazard(request, "assertion", text=text),))


def _free(request: Request, lane: int) -> None:
    """`free(pointer)`: of what `malloc` gave, once; a null pointer is nothing to free."""
    grid = request.worker.grid
    address = request.number(lane, FRAME_HEAD)
    if address == 0 or grid.release(address):
        return
    op = grid.program.ops[int(request.worker.state.service_site)]
    found = grid.reporter.atlas.locate(op, GLOBAL, address)
    kind = "double-free" if found.is_freed else "invalid-free"
    grid.noted.append(_hazard(request, kind, lane, place=found.text))


def _hazard(request: Request, kind: str, lane: int | None = None, /, **words: object) -> Hazard:
    """One of memcheck's hazards at a call, by all its lanes or one of them."""
    worker = request.worker
    reporter = worker.grid.reporter
    op = worker.grid.program.ops[int(worker.state.service_site)]
    lanes = request.lanes if lane is None else (lane,)
    party = reporter.party(op, worker.block_of(request.warp), int(request.warp.index), lanes)
    return reporter.hazard(f"memcheck.{kind}", party, op.opcode, **words)


def array_of(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Zeroed memory for a kernel's `malloc`."""
    return np.zeros(max(size, 1), np.uint8)
