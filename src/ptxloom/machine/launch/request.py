"""A call of some lanes of a running kernel, stopped for Python: the request, and the lanes that make it."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.machine.native import jit, language
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.machine.runtime.state import GENERIC, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Cta

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.launch.launch_state import LaunchState
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.hazard import Hazard

_LONGEST: Final = 1 << 16  # bytes of a format, and of an assertion's text


@dataclass(frozen=True, slots=True)
class Request:
    """A call of some lanes of a warp, stopped for Python."""

    launch: LaunchState
    warp: Any
    lanes: tuple[int, ...]
    frame: int  # bytes from a lane's own frame to the callee's
    op: Op
    wanted: int = 0  # the key of a plan

    @property
    def block(self) -> tuple[int, int, int]:
        """The index of the CTA that the warp belongs to."""
        cta: Any = language.structure(Cta).from_address(self.warp.cta)
        return cta.ctaid[0], cta.ctaid[1], cta.ctaid[2]

    def place(self, lane: int, offset: int) -> int:
        """The host address of a byte of the callee's frame."""
        start: int = self.warp.local + lane * self.warp.local_bytes
        return start + self.warp.sp[lane] + self.frame + offset

    def number(self, lane: int, offset: int, size: int = 8) -> int:
        """An integer in the callee's frame."""
        self.use(lane, LOCAL_WINDOW + self.warp.sp[lane] + self.frame + offset, size)
        return int.from_bytes(ctypes.string_at(self.place(lane, offset), size), "little")

    def use(self, lane: int, address: int, size: int) -> None:
        """Record that a lane's call uses memory at a generic address: initcheck checks it, if it watches."""
        if self.launch.native.poison_bytes or self.launch.native.watches_global:
            _read_lane()(ctypes.addressof(self.warp), lane, address, GENERIC, size, self.op.site)

    def bytes_at(self, lane: int, address: int, size: int) -> bytes:
        """The bytes that a lane reads at a generic address; fewer if its memory ends there."""
        offset = address % WINDOW_BYTES
        if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
            start: int = self.warp.local + lane * self.warp.local_bytes + offset
            return ctypes.string_at(start, max(0, min(size, self.warp.local_bytes - offset)))
        if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
            return ctypes.string_at(self.warp.shared + offset, max(0, min(size, self.warp.shared_bytes - offset)))
        return self.launch.bytes_at(address, size)

    def text_at(self, lane: int, address: int, most: int = _LONGEST) -> bytes:
        """The C string at a generic address, cut after `most` bytes."""
        found = b""
        while b"\0" not in found and len(found) < most:
            more = self.bytes_at(lane, address + len(found), min(4096, most - len(found)))
            if not more:
                break
            found += more
        text, end, _ = found.partition(b"\0")
        self.use(lane, address, len(text) + len(end))
        return text

    def result(self, lane: int, value: int, size: int) -> None:
        """Store the result of the call where the caller expects it."""
        ctypes.memmove(self.place(lane, FRAME_HEAD), value.to_bytes(size, "little", signed=value < 0), size)

    def hazard(self, kind: str, lane: int | None = None, /, **words: object) -> Hazard:
        """One of memcheck's hazards at the call, by all its lanes or one of them."""
        reporter = self.launch.reporter
        lanes = self.lanes if lane is None else (lane,)
        party = reporter.party(self.op, self.block, int(self.warp.index), lanes)
        return reporter.hazard(f"memcheck.{kind}", party, self.op.opcode, **words)


@cache
def _read_lane() -> Callable[[int, int, int, int, int, int], None]:
    """The native function by which initcheck checks a lane's read."""
    kinds = (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint64, *[ctypes.c_uint32] * 3)
    return ctypes.CFUNCTYPE(None, *kinds)(
        jit.named_address("ptxloom.machine.runtime.initcheck.slow_path", "read_lane", watched=True)
    )
