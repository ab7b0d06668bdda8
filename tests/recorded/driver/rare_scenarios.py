"""Scenarios: launches as they were once made, logs, what is known of ranges, capabilities, work of a whole context."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import PTX, I, N, P, at
from recorded.driver.memory_scenarios import Location, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

LOG_FUNCTION: Final = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_void_p, ct.c_size_t)
_LAUNCH: Final = "<Q7I4xQQ"
MAP_BYTES: Final = 128


def old_launches(t: Calls) -> None:
    """Block, shared memory and parameters set one by one, then a grid."""
    t.begin()
    a, module = t.memory(4096), t.module()
    fill, mixed, small, exact = (t.function(name, module) for name in (b"fill", b"mixed", b"small", b"exact"))
    empty, statically, stream = t.function(b"empty", module), t.function(b"statically", module), t.stream()
    t("cuMemsetD8_v2", at(a), 0, 256)
    t("cuLaunch", fill, about="nothing set")
    t("cuCtxSynchronize")
    t("cuParamSetv", fill, 0, ct.byref(N(a)), 8)
    t("cuParamSeti", fill, 8, 4)
    t("cuParamSetSize", fill, 12)
    t("cuFuncSetBlockShape", fill, 32, 1, 1)
    t("cuLaunch", fill)
    t("cuCtxSynchronize")
    t.told("words", t.words(a, 5))
    t("cuParamSeti", fill, 8, 6)
    t("cuLaunchGrid", fill, 1, 1, about="a parameter changed")
    t.told("words", t.words(a, 7))
    t("cuParamSeti", fill, 8, 8)
    t("cuLaunchGridAsync", fill, 2, 1, stream)
    t.told("words", t.words(a, 9))
    for width, height in ((0, 1), (1, 0), (-1, 1), (65536, 1), (1, 65536)):
        t("cuLaunchGrid", empty, width & 0xFFFFFFFF, height)
    for shape in ((0, 1, 1), (1, 0, 1), (-1, 1, 1), (1024, 1, 1), (1025, 1, 1), (32, 32, 2), (1, 1, 65), (1, 2000, 1)):
        t("cuFuncSetBlockShape", empty, *(one & 0xFFFFFFFF for one in shape))
        t("cuLaunch", empty, about=f"of {shape}")
    t("cuFuncSetBlockShape", small, 65, 1, 1)
    t("cuFuncSetBlockShape", exact, 32, 1, 1)
    t("cuFuncSetBlockShape", exact, 32, 2, 1)
    for size in (0, 48 << 10, (48 << 10) + 1, 1 << 20, 0xFFFFFFFF):
        t("cuFuncSetSharedSize", statically, size)
    for offset, size in ((0, 4), (8, 8), (12, 4), (4092, 4), (4096, 4), (40000, 4), (1, 4), (2, 8), (-4, 4), (0, 0)):
        t("cuParamSetv", fill, offset & 0xFFFFFFFF, ct.byref(ct.create_string_buffer(64)), size)
        t("cuParamSeti", fill, offset & 0xFFFFFFFF, 4)
    t("cuParamSetv", fill, 0, None, 4)
    for size in (0, 4, 11, 12, 13, 16, 4096, 4097, 40000, 0xFFFFFFFF):
        t("cuParamSetSize", fill, size)
    t("cuParamSetf", fill, 8)
    t("cuParamSetSize", mixed, 50)
    t("cuFuncSetBlockShape", mixed, 1, 1, 1)
    t("cuLaunch", mixed)
    t("cuParamSetSize", fill, 4)
    t("cuFuncSetBlockShape", fill, 1, 1, 1)
    t("cuLaunch", fill, about="a size too small")
    t("cuCtxSynchronize")
    reference = P()
    t.quietly("cuTexRefCreate", ct.byref(reference))
    t("cuParamSetTexRef", empty, -1 & 0xFFFFFFFF, reference)
    t("cuParamSetTexRef", empty, 0, reference)
    t("cuParamSetTexRef", empty, -1 & 0xFFFFFFFF, None)
    t("cuLaunch", None)
    t("cuLaunchGrid", None, 1, 1)
    t("cuFuncSetBlockShape", None, 1, 1, 1)
    t("cuParamSetSize", None, 4)
    t("cuParamSeti", None, 0, 4)
    graph = P()
    t("cuFuncSetBlockShape", empty, 1, 1, 1)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuLaunchGridAsync", empty, 1, 1, stream, about="recorded")
    t("cuStreamEndCapture", stream, ct.byref(graph))


def several_devices(t: Calls) -> None:
    """Cooperative launches over devices, of which there is one."""
    t.begin()
    a, stream, other = t.memory(4096), t.stream(), t.stream()
    module = t.module()
    fill, empty = t.function(b"fill", module), t.function(b"empty", module)
    words = t.pointers(N(a), ct.c_uint32(4))

    def launch(
        function: P = fill, where: P | None = stream, grid: int = 1, block: int = 32, given: Any = words
    ) -> bytes:
        parameters = ct.addressof(given) if given is not None else 0
        return struct.pack(
            _LAUNCH, function.value or 0, grid, 1, 1, block, 1, 1, 0, where.value or 0 if where else 0, parameters
        )

    for about, launches, count, flags in (
        ("one", launch(), 1, 0),
        ("one, with flags", launch(), 1, 3),
        ("one, wrong flags", launch(), 1, 4),
        ("none", launch(), 0, 0),
        ("two of one device", launch() + launch(where=other), 2, 0),
        ("two of one stream", launch() + launch(), 2, 0),
        ("in the default stream", launch(where=None), 1, 0),
        ("no function", launch(P(0)), 1, 0),
        ("no threads", launch(block=0), 1, 0),
        ("no parameters", launch(given=None), 1, 0),
        ("too many blocks", launch(empty, grid=1 << 30, given=None), 1, 0),
    ):
        room = ct.create_string_buffer(launches, len(launches))
        t("cuLaunchCooperativeKernelMultiDevice", room, count, flags, about=about)
    t("cuLaunchCooperativeKernelMultiDevice", None, 1, 0)
    t("cuCtxSynchronize")
    t.told("words", t.words(a, 4))


def messages(t: Calls) -> None:
    """Logs of errors: who receives them, and what is kept."""
    t.begin()
    told: list[tuple[int, int, bool]] = []

    @LOG_FUNCTION
    def hear(data: int | None, level: int, message: int | None, length: int) -> None:
        text = ct.string_at(message or 0, length) if message else b""
        told.append((data or 0, level, len(text.rstrip(b"\0")) > 0))

    def heard() -> list[tuple[int, int, bool]]:
        found = sorted(set(told))
        told.clear()
        return found

    first, second, before, after = P(), P(), ct.c_uint(), ct.c_uint()
    size, text = N(100), ct.create_string_buffer(1 << 16)
    t("cuLogsCurrent", ct.byref(before), 0)
    t("cuMemAlloc_v2", None, 16, about="an error")
    t("cuLogsCurrent", ct.byref(after), 0, gives=lambda: after.value - before.value)
    for wanted in (0, 1, 99, 100, 200, 1000, 25600, 1 << 16):
        size.value = wanted
        t("cuLogsDumpToMemory", ct.byref(ct.c_uint(before.value)), text, ct.byref(size), 0, about=f"{wanted} bytes")
    iterator = ct.c_uint(before.value)
    size.value = 1 << 12
    t(
        "cuLogsDumpToMemory",
        ct.byref(iterator),
        text,
        ct.byref(size),
        0,
        gives=(
            lambda: iterator.value == after.value,
            lambda: 0 < size.value < 1 << 12,
            lambda: text.value.count(b"\n"),
        ),
    )
    size.value = 1 << 12
    t(
        "cuLogsDumpToMemory",
        ct.byref(iterator),
        text,
        ct.byref(size),
        0,
        gives=(lambda: iterator.value == after.value, size),
        about="again",
    )
    path = t.file("logs.txt")
    path.unlink(missing_ok=True)
    iterator = ct.c_uint(before.value)
    t("cuLogsDumpToFile", ct.byref(iterator), path, 0, gives=lambda: iterator.value == after.value)
    t.told("the file", path.exists() and path.stat().st_size > 0)
    path.unlink(missing_ok=True)
    t("cuLogsDumpToFile", None, path, 0)
    t("cuLogsDumpToFile", None, path, 1)
    t("cuLogsDumpToFile", None, b"", 0)
    path.unlink(missing_ok=True)
    t("cuLogsDumpToMemory", ct.byref(ct.c_uint(1 << 30)), text, ct.byref(size), 0, about="an iterator of later")
    t("cuLogsRegisterCallback", None, P(1), ct.byref(first))
    t("cuLogsRegisterCallback", hear, P(1), None)
    t("cuLogsRegisterCallback", hear, P(2), ct.byref(first), gives=lambda: first.value is not None)
    t("cuLogsRegisterCallback", hear, P(2), ct.byref(second), about="twice", gives=lambda: first.value != second.value)
    t("cuMemAlloc_v2", None, 16, about="an error")
    t.told("heard", heard())
    t("cuMemGetInfo_v2", None, None, about="no error")
    t.told("heard", heard())
    t("cuLogsUnregisterCallback", first)
    t("cuMemAlloc_v2", None, 16, about="an error")
    t.told("heard", heard())
    t("cuLogsUnregisterCallback", second)
    t("cuMemAlloc_v2", None, 16, about="an error")
    t.told("heard", heard())
    t("cuLogsUnregisterCallback", None)


def ranges(t: Calls) -> None:
    """What is known of managed memory: advice and where it was moved last."""
    t.begin()
    made, stream = N(), t.stream()
    t.do("cuMemAllocManaged", ct.byref(made), 1 << 16, 1)
    device = t.memory(4096)
    value, values = I(), (ct.c_int * 4)()

    def ask(about: str, start: N = made, size: int = 1 << 16) -> None:
        for attribute in (1, 2, 4, 5, 6, 7, 8):
            t("cuMemRangeGetAttribute", ct.byref(value), 4, attribute, start, size, gives=value, about=about)
        t("cuMemRangeGetAttribute", ct.byref(values), 16, 3, start, size, gives=lambda: list(values), about=about)

    ask("fresh")
    t("cuMemAdvise_v2", made, 1 << 16, 1, Location(1, 0))
    t("cuMemAdvise_v2", made, 1 << 16, 3, Location(1, 0))
    t("cuMemAdvise_v2", made, 1 << 16, 5, Location(1, 0))
    ask("of the device")
    t("cuMemAdvise_v2", made, 1 << 16, 3, Location(2, 0))
    t("cuMemAdvise_v2", made, 1 << 16, 5, Location(2, 0))
    ask("of the host")
    t("cuMemAdvise_v2", made, 1 << 16, 3, Location(3, 0))
    ask("of a node of the host")
    t("cuMemAdvise_v2", made, 1 << 16, 6, Location(1, 0))
    t("cuMemAdvise_v2", made, 1 << 16, 2, Location(1, 0))
    t("cuMemAdvise_v2", made, 1 << 16, 4, Location(1, 0))
    ask("taken back")
    t("cuMemPrefetchAsync_v2", made, 1 << 16, Location(1, 0), 0, stream)
    ask("moved to the device")
    t("cuMemPrefetchAsync_v2", made, 4096, Location(2, 0), 0, stream)
    ask("half of it moved to the host")
    ask("the half", made, 4096)
    t("cuMemAdvise_v2", made, 4096, 1, Location(1, 0))
    t("cuMemAdvise_v2", made, 4096, 3, Location(1, 0))
    t("cuMemAdvise_v2", made, 4096, 5, Location(1, 0))
    ask("half of it advised")
    ask("the half, advised", made, 4096)
    ask("a part of a page", at(made.value + 16), 16)
    for size in (1, 2, 3, 5, 8, 12, 1024):
        room = (ct.c_int * 256)()
        t("cuMemRangeGetAttribute", room, size, 3, made, 4096, about=f"{size} bytes", gives=lambda r=room: list(r[:4]))
        t("cuMemRangeGetAttribute", room, size, 1, made, 4096, about=f"{size} bytes")
    t("cuMemRangeGetAttribute", ct.byref(value), 4, 1, at(device), 4096, about="memory of the device")
    t("cuMemRangeGetAttribute", ct.byref(value), 4, 1, made, (1 << 16) + 1, about="beyond")
    mine, others = I(), (ct.c_int * 2)()
    data = (P * 2)(ct.addressof(mine), ct.addressof(others))
    widths, kinds = (ct.c_size_t * 2)(4, 8), (ct.c_int * 2)(1, 3)
    both = ("cuMemRangeGetAttributes", data, widths, kinds)
    t(*both, 2, made, 4096, gives=(mine, lambda: list(others)))
    t(*both, 0, made, 4096)
    t(*both, 2, at(device), 4096)
    t(*both, 2, made, 0)
    t("cuMemRangeGetAttributes", None, widths, kinds, 2, made, 4096)
    t("cuMemRangeGetAttributes", data, None, kinds, 2, made, 4096)
    t("cuMemRangeGetAttributes", data, widths, None, 2, made, 4096)
    t("cuMemRangeGetAttributes", data, (ct.c_size_t * 2)(4, 3), kinds, 2, made, 4096, about="a width of 3")
    t("cuMemRangeGetAttributes", data, widths, (ct.c_int * 2)(1, 9), 2, made, 4096, about="attribute 9")


def capabilities(t: Calls) -> None:
    """What a device says that it can do with others and with the host."""
    t.begin()
    value, found, kinds = I(), (ct.c_uint * 14)(), (ct.c_int * 14)(*range(13), 99)
    for attribute in (0, 1, 2, 3, 4, 5, 6):
        t("cuDeviceGetP2PAttribute", ct.byref(value), attribute, 0, 0)
        t("cuDeviceGetP2PAttribute", ct.byref(value), attribute, 0, 1)
    t("cuDeviceGetP2PAttribute", None, 1, 0, 0)
    for count in (0, 1, 13, 14):
        t("cuDeviceGetHostAtomicCapabilities", found, kinds, count, 0, gives=lambda n=count: list(found[:n]))
        t("cuDeviceGetP2PAtomicCapabilities", found, kinds, count, 0, 0, gives=lambda n=count: list(found[:n]))
    t("cuDeviceGetHostAtomicCapabilities", None, kinds, 1, 0)
    t("cuDeviceGetHostAtomicCapabilities", found, None, 1, 0)
    t("cuDeviceGetHostAtomicCapabilities", found, kinds, 1, 5)
    t("cuDeviceGetP2PAtomicCapabilities", None, kinds, 1, 0, 0)
    t("cuDeviceGetP2PAtomicCapabilities", found, kinds, 1, 0, 1)
    for target in (0, 1):
        for scope in (100, 200, 0):
            t("cuFlushGPUDirectRDMAWrites", target, scope)
    t("cuProfilerInitialize", b"/nowhere", b"/nowhere", 0)
    t("cuProfilerInitialize", None, None, 0)
    affinity = ct.create_string_buffer(64)
    for kind in (0, 1, -1, 5):
        t("cuCtxGetExecAffinity", affinity, kind, gives=lambda: struct.unpack_from("<i", affinity.raw)[0])
    t("cuCtxGetExecAffinity", None, 0)
    handle, a = I(), t.memory(1 << 21)
    for kind in (1, 2, 0):
        t("cuMemGetHandleForAddressRange", ct.byref(handle), at(a), 1 << 21, kind, 0)
    t("cuMemGetHandleForAddressRange", ct.byref(handle), at(a), 100, 1, 0, about="no whole pages")
    t("cuMemGetHandleForAddressRange", None, at(a), 1 << 21, 1, 0)
    told = ct.CFUNCTYPE(None, P, P, P)(lambda *_: None)
    entry = P()
    t("cuDeviceRegisterAsyncNotification", 0, told, None, ct.byref(entry), gives=lambda: entry.value is not None)
    t("cuDeviceRegisterAsyncNotification", 5, told, None, ct.byref(entry))
    t("cuDeviceRegisterAsyncNotification", 0, None, None, ct.byref(entry))
    t("cuDeviceRegisterAsyncNotification", 0, told, None, None)
    t("cuDeviceUnregisterAsyncNotification", 0, entry)
    t("cuDeviceUnregisterAsyncNotification", 0, None)
    library, function = P(), P()
    t.do("cuLibraryLoadData", ct.byref(library), _TEXT, None, None, 0, None, None, 0)
    t("cuLibraryGetUnifiedFunction", ct.byref(function), library, b"one")
    t("cuLibraryGetUnifiedFunction", ct.byref(function), library, b"nowhere")
    t("cuLibraryGetUnifiedFunction", ct.byref(function), None, b"one")
    t("cuLibraryGetUnifiedFunction", None, library, b"one")
    room = bytes_of("<QQQQIIQQ", a, 16, a + 4096, 16, 1, 0, 0, 0)
    failed = N()
    t("cuMemBatchDecompressAsync", room, 1, 0, ct.byref(failed), None)
    t("cuMemBatchDecompressAsync", None, 1, 0, ct.byref(failed), None)
    t("cuMemBatchDecompressAsync", room, 0, 0, ct.byref(failed), None)


_TEXT: Final = b".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry one() { ret; }\n"


def whole_context(t: Calls) -> None:
    """Events behind all that a context has been given, and the way in which contexts were once shared."""
    t.begin()
    event, stream, made, number = t.event(), t.stream(), P(), N()
    t("cuCtxRecordEvent", t.context, event)
    t("cuCtxWaitEvent", t.context, event)
    t("cuEventQuery", event)
    t("cuCtxRecordEvent", None, event)
    t("cuCtxWaitEvent", None, event)
    t("cuCtxRecordEvent", t.context, None)
    t("cuCtxWaitEvent", t.context, None)
    t("cuCtxWaitEvent", t.context, t.event(), about="never recorded")
    t("cuStreamBeginCapture_v2", stream, 2)
    t("cuCtxRecordEvent", t.context, event, about="while a stream is recorded")
    t("cuCtxWaitEvent", t.context, event, about="while a stream is recorded")
    t("cuStreamEndCapture", stream, ct.byref(P()))
    t("cuCtxAttach", ct.byref(made), 0, gives=lambda: made.value == t.context.value)
    t("cuCtxDetach", made)
    t("cuCtxAttach", None, 0)
    t("cuCtxCreate_v4", ct.byref(made), None, 0, 0)
    t("cuCtxAttach", ct.byref(P()), 0)
    t("cuCtxDetach", made)
    t("cuCtxGetId", made, ct.byref(number), about="detached once")
    t("cuCtxRecordEvent", t.context, event, about="of another context")
    t("cuCtxRecordEvent", made, event, about="of another context")
    t("cuCtxRecordEvent", made, t.event())
    t("cuCtxDetach", made)
    t("cuCtxGetId", made, ct.byref(number), about="detached twice")
    now = P()
    t("cuCtxGetCurrent", ct.byref(now), gives=lambda: now.value == t.context.value)
    t("cuCtxDetach", made, about="gone")
    t("cuCtxDetach", None)
    t("cuCtxCreate_v4", ct.byref(made), None, 0, 0)
    t("cuCtxPopCurrent_v2", None)
    t("cuCtxDetach", made, about="not current")


def without_context(t: Calls) -> None:
    """What is known of code where no context is current."""
    t.begin()
    library, kernel, function = P(), P(), t.function(b"fill")
    t("cuLibraryLoadData", ct.byref(library), PTX, None, None, 0, None, None, 0)
    t("cuLibraryGetKernel", ct.byref(kernel), library, b"fill")
    t("cuCtxSetCurrent", None)
    value, size, offset, count = I(), N(), N(), N()
    module, name = P(), P()
    for about, one in (("a kernel", kernel), ("a function", function)):
        t("cuFuncGetAttribute", ct.byref(value), 0, one, gives=value, about=about)
        t("cuFuncGetParamInfo", one, 0, ct.byref(offset), ct.byref(size), gives=(offset, size), about=about)
        t("cuFuncGetParamCount", one, ct.byref(count), gives=count, about=about)
        t("cuFuncGetModule", ct.byref(module), one, about=about)
        t("cuFuncGetName", ct.byref(name), one, about=about)
        t("cuFuncIsLoaded", ct.byref(value), one, about=about)
    t("cuKernelGetParamInfo", kernel, 0, ct.byref(offset), ct.byref(size), gives=(offset, size))
    t("cuKernelGetParamInfo", kernel, 7, ct.byref(offset), ct.byref(size))
    t("cuKernelGetParamCount", kernel, ct.byref(count), gives=count)
    t("cuKernelGetAttribute", ct.byref(value), 0, kernel, 0, gives=value)
    t("cuKernelSetAttribute", 8, 64, kernel, 0)
    t("cuKernelGetFunction", ct.byref(module), kernel)
    t("cuKernelGetName", ct.byref(name), kernel)
    t("cuKernelGetLibrary", ct.byref(module), kernel)
    t("cuLibraryGetKernel", ct.byref(kernel), library, b"empty")
    t("cuLibraryGetKernelCount", ct.byref(value), library, gives=value)
    t("cuLibraryGetModule", ct.byref(module), library)
    t("cuLibraryGetGlobal", ct.byref(offset), ct.byref(size), library, b"base")
    t("cuLibraryUnload", library)


def replaced(t: Calls) -> None:
    """Tensor maps whose address is changed, and those of columns whose width alone is offset."""
    t.begin()
    a, b = t.memory(1 << 16), t.memory(1 << 16)
    room = ct.create_string_buffer(2 * MAP_BYTES)
    start = (ct.addressof(room) + 63) & ~63
    first, fresh = P(start), ct.create_string_buffer(2 * MAP_BYTES)
    other = P((ct.addressof(fresh) + 63) & ~63)
    sizes, strides = (ct.c_uint64 * 2)(64, 64), (ct.c_uint64 * 1)(256)
    box, steps = (ct.c_uint32 * 2)(32, 8), (ct.c_uint32 * 2)(1, 1)
    for place, address in ((first, a), (other, b)):
        t("cuTensorMapEncodeTiled", place, 7, 2, at(address), sizes, strides, box, steps, 0, 0, 0, 0)
    t("cuTensorMapReplaceAddress", first, at(b))
    t.told("equal", ct.string_at(first.value or 0, MAP_BYTES) == ct.string_at(other.value or 0, MAP_BYTES))
    t("cuTensorMapReplaceAddress", first, at(b + 4), about="misaligned")
    t("cuTensorMapReplaceAddress", first, at(b + 16), about="aligned to 16")
    t("cuTensorMapReplaceAddress", first, None)
    t("cuTensorMapReplaceAddress", None, at(b))
    t("cuTensorMapReplaceAddress", first, at(1 << 60), about="far away")
    blank = ct.create_string_buffer(2 * MAP_BYTES)
    t("cuTensorMapReplaceAddress", P((ct.addressof(blank) + 63) & ~63), at(b), about="zeros")
    t("cuTensorMapReplaceAddress", P(start + 8), at(b), about="of a map at a place that is not aligned")


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one
    for one in (old_launches, several_devices, messages, ranges, capabilities, whole_context, without_context, replaced)
}
