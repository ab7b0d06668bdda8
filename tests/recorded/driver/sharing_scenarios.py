"""Scenarios: events and pools that go to another process, which is a child of the one that makes them."""

from __future__ import annotations

import ctypes as ct
import io
import json
import os
import socket
from typing import TYPE_CHECKING, Final

from recorded.driver.calls import Calls, I, N, P, at
from recorded.driver.memory_scenarios import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

HANDLE_BYTES: Final = 64
POOL: Final = "<IIiiQQH54x"
_TO_FILE: Final = 1
_MESSAGE_BYTES: Final = 1 << 16


class Handle(ct.Structure):
    """`CUipcEventHandle`, which goes by value."""

    _fields_ = (("bytes", ct.c_char * HANDLE_BYTES),)


class Line:
    """What two processes say to each other: bytes, and a file with them."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._end.settimeout(20)

    def say(self, data: bytes = b"", *files: int) -> None:
        """Send a message."""
        socket.send_fds(self._end, [data or b"."], files)

    def hear(self) -> tuple[bytes, list[int]]:
        """Wait for a message."""
        data, files, *_ = socket.recv_fds(self._end, _MESSAGE_BYTES, 1)
        return data, list(files)


def _with_child(t: Calls, here: Callable[[Calls, Line], None], there: Callable[[Calls, Line], None]) -> None:
    """Two processes, each with a driver of its own; the rows of the child follow those of its parent."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        out, line = io.StringIO(), Line(ends[1])
        try:
            there(Calls(out), line)
        except Exception as error:  # noqa: BLE001 - whatever stops the child is reported
            out.write(json.dumps(["stopped", repr(error)]) + "\n")
        line.say(out.getvalue().encode())
        os._exit(0)
    line = Line(ends[0])
    here(t, line)
    rows = line.hear()[0].decode()
    os.waitpid(child, 0)
    for row in map(json.loads, rows.splitlines()):
        t.told(f"there: {row[0]}", *row[1:])


def shared_event(t: Calls) -> None:
    """An event that one process records, and another one waits for."""

    def here(t: Calls, line: Line) -> None:
        t.begin()
        stream, a = t.stream(), t.memory(64)
        handle, again, other = (ct.create_string_buffer(HANDLE_BYTES) for _ in range(3))
        event = t.event(6)
        t("cuIpcGetEventHandle", handle, event)
        t("cuIpcGetEventHandle", again, event, about="again")
        t.told("the same handle", handle.raw == again.raw)
        t("cuIpcGetEventHandle", other, t.event(7), about="that blocks")
        line.say(handle.raw)
        line.hear()
        t("cuMemsetD32Async", at(a), 5, 16, stream)
        t("cuEventRecord", event, stream)
        t("cuEventSynchronize", event)
        line.say()
        line.hear()
        t("cuEventQuery", event, about="recorded there")
        t("cuEventElapsedTime_v2", ct.byref(ct.c_float()), event, event)
        t("cuStreamWaitEvent", stream, event, 0)
        graph = P()
        t("cuStreamBeginCapture_v2", stream, 0)
        t("cuEventRecord", event, stream, about="in a stream that is recorded")
        t("cuStreamWaitEvent", stream, event, 0, about="in a stream that is recorded")
        t("cuStreamEndCapture", stream, ct.byref(graph))
        t("cuEventDestroy_v2", event, about="that another process has opened")
        line.say()
        line.hear()
        line.say(handle.raw)

    def there(t: Calls, line: Line) -> None:
        handle = Handle.from_buffer_copy(line.hear()[0])
        opened, again, back = P(), P(), ct.create_string_buffer(HANDLE_BYTES)
        t("cuIpcOpenEventHandle", ct.byref(opened), handle, about="before cuInit")
        t.begin()
        stream = t.stream()
        t("cuIpcOpenEventHandle", None, handle)
        t("cuIpcOpenEventHandle", ct.byref(opened), handle, gives=lambda: opened.value is not None)
        t("cuIpcOpenEventHandle", ct.byref(again), handle, about="again", gives=lambda: again.value != opened.value)
        t("cuEventQuery", opened, about="not recorded")
        t("cuEventSynchronize", opened, about="not recorded")
        t("cuIpcGetEventHandle", back, opened, about="of an event that was opened")
        line.say()
        line.hear()
        t("cuEventQuery", opened, about="recorded")
        t("cuEventSynchronize", opened)
        t("cuStreamWaitEvent", stream, opened, 0)
        t("cuEventElapsedTime_v2", ct.byref(ct.c_float()), opened, opened)
        t("cuEventRecord", opened, stream)
        t("cuEventSynchronize", opened)
        line.say()
        line.hear()
        t("cuEventQuery", opened, about="destroyed where it was made")
        t("cuEventRecord", opened, stream, about="destroyed where it was made")
        t("cuEventDestroy_v2", again)
        t("cuEventQuery", opened, about="the other one destroyed")
        t("cuEventDestroy_v2", opened)
        t("cuEventQuery", opened, about="destroyed")
        line.say()
        late = P()
        t("cuIpcOpenEventHandle", ct.byref(late), Handle.from_buffer_copy(line.hear()[0]), about="destroyed")

    _with_child(t, here, there)


def shared_pool(t: Calls) -> None:
    """A pool of one process, of whose allocations another one reads and writes some."""

    def here(t: Calls, line: Line) -> None:
        t.begin()
        pool, file, made, second = P(), I(-1), N(), N()
        t("cuMemPoolCreate", ct.byref(pool), bytes_of(POOL, 1, _TO_FILE, 1, 0, 0, 0, 0))
        t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, _TO_FILE, 0, gives=lambda: file.value >= 0)
        t("cuMemAllocFromPoolAsync", ct.byref(made), 4096, pool, None)
        t("cuMemAllocFromPoolAsync", ct.byref(second), 1 << 20, pool, None)
        t("cuMemsetD32_v2", made, 5, 16)
        t("cuMemsetD32_v2", second, 6, 16)
        data, other, inner = (ct.create_string_buffer(HANDLE_BYTES) for _ in range(3))
        t("cuMemPoolExportPointer", data, made)
        t("cuMemPoolExportPointer", inner, at(made.value + 16), about="its middle")
        t("cuMemPoolExportPointer", other, second)
        types, value = N(), ct.create_string_buffer(16)
        t("cuPointerGetAttribute", ct.byref(types), 14, made, gives=types)
        t("cuPointerGetAttribute", value, 10, made, gives=lambda: value.raw[0])
        line.say(data.raw + other.raw, file.value)
        line.hear()
        t.told("words written there", t.words(made.value, 2))
        t("cuMemFreeAsync", second, None)
        t("cuStreamSynchronize", None)
        line.say()
        line.hear()
        t("cuMemFree_v2", made)
        t("cuMemPoolDestroy", pool)

    def there(t: Calls, line: Line) -> None:
        told, files = line.hear()
        data, other = told[:HANDLE_BYTES], told[HANDLE_BYTES:]
        pool, again, made, second, own = P(), P(), N(), N(), N()
        file = P(files[0])
        t("cuMemPoolImportFromShareableHandle", ct.byref(pool), file, _TO_FILE, 0, about="before cuInit")
        t.begin()
        t("cuMemPoolImportFromShareableHandle", ct.byref(pool), file, _TO_FILE, 0, gives=lambda: pool.value is not None)
        t("cuMemPoolImportFromShareableHandle", ct.byref(again), file, _TO_FILE, 0, about="again")
        t("cuMemPoolImportFromShareableHandle", None, file, _TO_FILE, 0)
        t("cuMemPoolImportFromShareableHandle", ct.byref(again), file, 2, 0)
        t("cuMemPoolImportFromShareableHandle", ct.byref(again), file, _TO_FILE, 1)
        t("cuMemPoolImportPointer", ct.byref(made), pool, data, gives=lambda: made.value != 0)
        t("cuMemPoolImportPointer", ct.byref(own), pool, data, about="again", gives=lambda: own.value == made.value)
        t("cuMemPoolImportPointer", ct.byref(second), pool, other)
        t("cuMemPoolImportPointer", None, pool, data)
        t("cuMemPoolImportPointer", ct.byref(own), pool, None)
        t("cuMemPoolImportPointer", ct.byref(own), pool, bytes(HANDLE_BYTES), about="zeros")
        t("cuMemPoolImportPointer", ct.byref(own), None, data)
        t.told("words", t.words(made.value, 2), t.words(second.value, 2))
        t("cuMemsetD32_v2", made, 9, 16)
        size, value = N(), ct.create_string_buffer(16)
        t("cuMemGetAddressRange_v2", None, ct.byref(size), made, gives=size)
        t("cuPointerGetAttribute", value, 17, made, gives=lambda: value.raw[:8] != bytes(8))
        t("cuPointerGetAttribute", value, 10, made, gives=lambda: value.raw[0])
        t("cuMemAllocFromPoolAsync", ct.byref(own), 64, pool, None, about="of a pool that was opened")
        t("cuMemPoolExportToShareableHandle", ct.byref(I()), pool, _TO_FILE, 0, about="of a pool that was opened")
        t("cuMemPoolExportPointer", ct.create_string_buffer(HANDLE_BYTES), made, about="of a pool that was opened")
        number = N()
        for attribute in (1, 4, 5, 7):
            t("cuMemPoolGetAttribute", pool, attribute, ct.byref(number), about="of a pool that was opened")
            t("cuMemPoolSetAttribute", pool, attribute, ct.byref(number), about="of a pool that was opened")
        t("cuMemPoolTrimTo", pool, 0, about="of a pool that was opened")
        t("cuDeviceSetMemPool", 0, pool, about="of a pool that was opened")
        t("cuMemPoolGetAccess", ct.byref(I()), pool, (ct.c_int * 2)(1, 0), about="of a pool that was opened")
        line.say()
        line.hear()
        t.told("words, freed where it was made", t.words(second.value, 1) != [])
        t("cuMemFreeAsync", second, None)
        t("cuMemFree_v2", made)
        t("cuMemFree_v2", made, about="twice")
        t("cuMemPoolDestroy", pool)
        t("cuMemPoolDestroy", pool, about="twice")
        line.say()

    _with_child(t, here, there)


def pools_to_files(t: Calls) -> None:
    """Pools that may go to other processes, as one process sees them."""
    t.begin()
    pool, file, again, made = P(), I(-1), P(), N()
    for handles in (0, 1, 2, 4, 8, 3, 16):
        if (
            t("cuMemPoolCreate", ct.byref(pool), bytes_of(POOL, 1, handles, 1, 0, 0, 0, 0), about=f"handles {handles}")
            == 0
        ):
            t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 0, about=f"handles {handles}")
            t("cuMemPoolDestroy", pool)
    t("cuMemPoolCreate", ct.byref(pool), bytes_of(POOL, 1, 1, 2, 0, 0, 0, 0), about="on the host, to a file")
    t("cuMemPoolCreate", ct.byref(pool), bytes_of(POOL, 1, 1, 1, 0, 0, 0, 0))
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 0, gives=lambda: file.value >= 0)
    t(
        "cuMemPoolImportFromShareableHandle",
        ct.byref(again),
        P(file.value),
        1,
        0,
        gives=lambda: (again.value is not None, again.value != pool.value),
        about="in the same process",
    )
    data, copy = ct.create_string_buffer(HANDLE_BYTES), N()
    t("cuMemAllocFromPoolAsync", ct.byref(made), 4096, pool, None)
    t("cuStreamSynchronize", None)
    t("cuMemPoolExportPointer", data, made)
    t(
        "cuMemPoolImportPointer",
        ct.byref(copy),
        again,
        data,
        about="in the same process",
        gives=lambda: copy.value == made.value,
    )
    t("cuMemsetD32_v2", made, 5, 4)
    t.told("words", t.words(copy.value, 2))
    t("cuMemFree_v2", copy, about="in the same process")
    t("cuMemsetD32_v2", made, 5, 4)
    t("cuMemFree_v2", made)
    t("cuMemAllocFromPoolAsync", ct.byref(made), 4096, pool, None)
    null = os.open("/dev/null", os.O_RDWR)
    t("cuMemPoolImportFromShareableHandle", ct.byref(again), P(null), 1, 0, about="another file")
    t("cuMemPoolDestroy", pool, about="with memory in use")
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 0, about="destroyed")


def pools_by_place(t: Calls) -> None:
    """Where pools may lie that go to other processes."""
    t.begin()
    pool, file, again, made = P(), I(-1), P(), N()
    for kind in (1, 2):
        for where in ((0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (4, 0)):
            about = f"kind {kind} at {where}"
            if t("cuMemPoolCreate", ct.byref(pool), bytes_of(POOL, kind, 1, *where, 0, 0, 0), about=about) == 0:
                t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 0, about=about)
                t("cuMemPoolImportFromShareableHandle", ct.byref(again), P(file.value), 1, 0, about=about)
                t("cuMemAllocFromPoolAsync", ct.byref(made), 4096, pool, None, about=about)
                t("cuStreamSynchronize", None)
                data = ct.create_string_buffer(HANDLE_BYTES)
                t("cuMemPoolExportPointer", data, made, about=about)
                t("cuMemFree_v2", made)
                t("cuMemPoolDestroy", pool)


def shared_memory(t: Calls) -> None:
    """Memory of one process, which another one opens once and twice."""

    def here(t: Calls, line: Line) -> None:
        t.begin()
        a, handle = t.memory(4096), ct.create_string_buffer(HANDLE_BYTES)
        t("cuMemsetD32_v2", at(a), 5, 16)
        t("cuIpcGetMemHandle", handle, at(a))
        line.say(handle.raw)
        line.hear()
        t("cuMemFree_v2", at(a), about="that another process has opened")
        line.say()
        line.hear()

    def there(t: Calls, line: Line) -> None:
        handle = Handle.from_buffer_copy(line.hear()[0])
        t.begin()
        opened, again = N(), N()
        t("cuIpcOpenMemHandle_v2", ct.byref(opened), handle, 1)
        t("cuIpcOpenMemHandle_v2", ct.byref(again), handle, 1, gives=lambda: again.value == opened.value, about="again")
        t.told("words", t.words(opened.value, 2))
        size, value = N(), ct.create_string_buffer(16)
        t("cuMemGetAddressRange_v2", None, ct.byref(size), opened, gives=size)
        t("cuPointerGetAttribute", value, 10, opened, gives=lambda: value.raw[0])
        t("cuIpcGetMemHandle", ct.create_string_buffer(HANDLE_BYTES), opened, about="that was opened")
        t("cuMemFree_v2", opened, about="that was opened")
        line.say()
        line.hear()
        t.told("words, freed where it was made", t.words(opened.value, 1) != [])
        t("cuIpcCloseMemHandle", opened)
        t.told("words, closed once", t.words(opened.value, 1) != [])
        t("cuIpcCloseMemHandle", opened, about="the second time")
        t("cuIpcCloseMemHandle", opened, about="the third time")
        t.told("words, closed", t.words(opened.value, 1) != [])
        line.say()

    _with_child(t, here, there)


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one for one in (shared_event, shared_pool, shared_memory, pools_to_files, pools_by_place)
}
