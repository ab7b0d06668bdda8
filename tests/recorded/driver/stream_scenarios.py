"""Scenarios: streams, values in memory, events, functions of the host, recording."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import I, N, P, at

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

HOST_FUNCTION: Final = ct.CFUNCTYPE(None, ct.c_void_p)


@HOST_FUNCTION
def nothing(_: int) -> None:
    """What streams call."""


@ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_void_p)
def called(_stream: int, _error: int, _argument: int) -> None:
    """What `cuStreamAddCallback` calls."""


def streams(t: Calls) -> None:
    """Make streams, ask them, destroy them."""
    t.begin()
    made, flags, priority, number, context = P(), ct.c_uint(), I(), N(), P()
    t("cuStreamCreate", None, 0)
    for wanted in (0, 1, 2, 3, 0xFFFFFFFF):
        if t("cuStreamCreate", ct.byref(made), wanted) == 0:
            t("cuStreamGetFlags", made, ct.byref(flags), gives=flags)
            t("cuStreamDestroy_v2", made)
    for wanted in (0, -1, -2, -5, -6, -100, 1, 100):
        if t("cuStreamCreateWithPriority", ct.byref(made), 1, wanted) == 0:
            t("cuStreamGetPriority", made, ct.byref(priority), gives=priority)
            t("cuStreamDestroy_v2", made)
    t("cuStreamCreateWithPriority", ct.byref(made), 5, 0)
    t("cuStreamCreateWithPriority", None, 1, 0)
    for which in (None, 1, 2):
        t("cuStreamGetFlags", which, ct.byref(flags), gives=flags)
        t("cuStreamGetPriority", which, ct.byref(priority), gives=priority)
        t("cuStreamGetId", which, ct.byref(number))
        t("cuStreamGetCtx", which, ct.byref(context), gives=lambda: context.value == t.context.value)
        t("cuStreamGetDevice", which, ct.byref(priority), gives=priority)
        t("cuStreamQuery", which)
        t("cuStreamSynchronize", which)
        t("cuStreamDestroy_v2", which)
    stream = t.stream()
    for name in ("cuStreamGetFlags", "cuStreamGetPriority", "cuStreamGetId", "cuStreamGetCtx", "cuStreamGetDevice"):
        t(name, stream, None)
    t("cuStreamGetCtx", stream, ct.byref(context), gives=lambda: context.value == t.context.value)
    green = P(5)
    t(
        "cuStreamGetCtx_v2",
        stream,
        ct.byref(context),
        ct.byref(green),
        gives=(lambda: context.value == t.context.value, green),
    )
    t("cuStreamGetGreenCtx", stream, ct.byref(green), gives=green)
    t("cuStreamQuery", stream)
    t("cuStreamCopyAttributes", stream, t.stream())
    t("cuStreamCopyAttributes", stream, None)
    value = ct.create_string_buffer(64)
    for attribute in range(-1, 19):
        t("cuStreamGetAttribute", stream, attribute, value)
    for attribute in range(-1, 19):
        t("cuStreamSetAttribute", stream, attribute, ct.create_string_buffer(64))
    t("cuStreamGetAttribute", stream, 1, None)
    t("cuStreamSetAttribute", stream, 1, None)
    t("cuStreamGetAttribute", None, 1, value)
    value = ct.create_string_buffer(struct.pack("<i60x", -3), 64)
    t("cuStreamSetAttribute", stream, 8, value, about="priority")
    t("cuStreamGetAttribute", stream, 8, value, gives=lambda: struct.unpack_from("<i", value)[0])
    t("cuStreamGetPriority", stream, ct.byref(priority), gives=priority)
    value = ct.create_string_buffer(struct.pack("<i60x", 2), 64)
    t("cuStreamSetAttribute", stream, 3, value, about="synchronisation")
    t("cuStreamGetAttribute", stream, 3, value, gives=lambda: struct.unpack_from("<i", value)[0])
    t("cuStreamDestroy_v2", stream)


def destroyed_stream(t: Calls) -> None:
    """A stream that is gone."""
    t.begin()
    stream, kernel, memory = t.stream(), t.function(b"empty"), t.memory(64)
    t("cuStreamDestroy_v2", stream)
    t("cuStreamQuery", stream)
    t("cuStreamSynchronize", stream)
    t("cuStreamGetFlags", stream, ct.byref(I()))
    t("cuMemsetD8Async", at(memory), 0, 16, stream)
    t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    t("cuEventRecord", t.event(), stream)
    t("cuStreamDestroy_v2", stream)


def values(t: Calls) -> None:
    """Values written and waited for in the order of a stream."""
    t.begin()
    stream, a = t.stream(), t.memory(64)
    own, pinned, unified = ct.create_string_buffer(64), P(), N()
    t.do("cuMemHostAlloc", ct.byref(pinned), 64, 2)
    t.do("cuMemAllocManaged", ct.byref(unified), 64, 1)
    for bits in (32, 64):
        write, wait = f"cuStreamWriteValue{bits}_v2", f"cuStreamWaitValue{bits}_v2"
        for where in (stream, None, 1, 2):
            t(write, where, at(a), 7, 0)
        for flags in (1, 2, 3, 0x10):
            t(write, stream, at(a), 7, flags)
        for address in (at(a + 2), at(a + 4), at(a + 1), 0, at(a + 60), at(a + 64), pinned, unified):
            t(write, stream, address, 7, 0)
        t(write, stream, P(ct.addressof(own) // 8 * 8 + 8), 7, 0, about="plain memory")
        for flags, value in ((0, 7), (0, 6), (1, 7), (2, 3), (3, 0), (1 << 30 | 1, 7), (4, 7), (8, 7), (0x10, 7)):
            t(wait, stream, at(a), value, flags)
        for address in (0, at(a + 2)):
            t(wait, stream, address, 7, 0)
        t(wait, None, at(a), 7, 0)
    t("cuStreamSynchronize", stream)
    form = "<I4xQQI4xQ8x"
    order: dict[str, tuple[tuple[int, ...], ...]] = {
        "a write": ((2, a, 9, 0, 0),),
        "a write of 64 bits": ((5, a, 9, 0, 0),),
        "a wait": ((1, a, 9, 0, 0),),
        "a wait of 64 bits": ((4, a, 9, 0, 0),),
        "three": ((2, a, 11, 0, 0), (1, a, 11, 1, 0), (2, a + 4, 12, 0, 0)),
        "a flush": ((3, 0, 0, 0, 0),),
        "a barrier": ((6, 0, 0, 0, 0),),
        "kind 0": ((0, a, 9, 0, 0),),
        "kind 9": ((9, a, 9, 0, 0),),
        "nowhere": ((2, 0, 9, 0, 0),),
        "flags": ((2, a, 9, 2, 0),),
        "good, then bad": ((2, a + 8, 13, 0, 0), (2, 0, 9, 0, 0)),
    }
    for about, operations in order.items():
        packed = b"".join(struct.pack(form, *one) for one in operations)
        t("cuStreamBatchMemOp_v2", stream, len(operations), packed, 0, about=about)
    t("cuStreamSynchronize", stream)
    t.told("words", t.words(a, 3))
    t("cuStreamBatchMemOp_v2", stream, 0, None, 0)
    t("cuStreamBatchMemOp_v2", stream, 1, None, 0)
    t("cuStreamBatchMemOp_v2", stream, 1, struct.pack(form, 2, a, 9, 0, 0), 1)
    t("cuStreamBatchMemOp_v2", None, 1, struct.pack(form, 2, a, 9, 0, 0), 0)
    t("cuStreamBatchMemOp_v2", stream, 257, struct.pack(form, 2, a, 9, 0, 0) * 257, 0)
    t("cuStreamSynchronize", stream)


def host_functions(t: Calls) -> None:
    """Functions that streams call."""
    t.begin()
    stream = t.stream()
    for where in (stream, None, 1, 2):
        t("cuLaunchHostFunc", where, nothing, None)
        t("cuStreamAddCallback", where, called, None, 0)
    t("cuStreamAddCallback", stream, called, None, 1)
    t("cuStreamAddCallback", stream, None, None, 0)
    t("cuStreamSynchronize", stream)
    t("cuCtxSynchronize")
    answers: list[int] = []

    @HOST_FUNCTION
    def asks(_: int) -> None:
        answers.extend(
            (
                t.quietly("cuCtxSynchronize"),
                t.quietly("cuMemAlloc_v2", ct.byref(N()), 64),
                t.quietly("cuStreamQuery", None),
                t.quietly("cuDeviceGetCount", ct.byref(I())),
            )
        )

    t("cuLaunchHostFunc", stream, asks, None)
    t("cuStreamSynchronize", stream)
    t.told("what a function of the host is answered", answers)
    t("cuLaunchHostFunc", stream, None, None)


def events(t: Calls) -> None:
    """Events: flags, order, times."""
    t.begin()
    made, time, stream = P(), ct.c_float(), t.stream()
    for flags in (*range(10), 16, 0xFFFFFFFF):
        if t("cuEventCreate", ct.byref(made), flags) == 0:
            t("cuEventDestroy_v2", made)
    t("cuEventCreate", None, 0)
    first, last, quiet, never = t.event(), t.event(), t.event(2), t.event()
    t("cuEventQuery", never)
    t("cuEventSynchronize", never)
    t("cuEventElapsedTime_v2", ct.byref(time), first, last, about="neither recorded")
    t("cuStreamWaitEvent", stream, never, 0)
    t("cuEventRecord", first, stream)
    t("cuEventRecord", last, None)
    t("cuEventRecord", last, 1)
    t("cuEventRecord", last, 2)
    t("cuEventRecord", quiet, stream)
    t("cuCtxSynchronize")
    t("cuEventQuery", first)
    t("cuEventElapsedTime_v2", ct.byref(time), first, last, gives=lambda: time.value >= 0)
    t("cuEventElapsedTime", ct.byref(time), first, first, gives=time)
    t("cuEventElapsedTime_v2", ct.byref(time), first, never)
    t("cuEventElapsedTime_v2", ct.byref(time), never, last)
    t("cuEventElapsedTime_v2", ct.byref(time), first, quiet)
    t("cuEventElapsedTime_v2", ct.byref(time), quiet, last)
    t("cuEventElapsedTime_v2", None, first, last)
    t("cuEventElapsedTime_v2", ct.byref(time), None, last)
    t("cuEventElapsedTime_v2", ct.byref(time), first, None)
    t("cuEventQuery", None)
    t("cuEventSynchronize", None)
    t("cuEventDestroy_v2", None)
    t("cuEventRecord", None, stream)
    for flags in (0, 1, 2, 3):
        t("cuEventRecordWithFlags", first, stream, flags)
        t("cuStreamWaitEvent", stream, first, flags)
    t("cuStreamWaitEvent", None, first, 0)
    t("cuStreamWaitEvent", stream, None, 0)
    t("cuEventDestroy_v2", first)


def destroyed_event(t: Calls) -> None:
    """An event that is gone."""
    t.begin()
    event, stream = t.event(), t.stream()
    t("cuEventDestroy_v2", event)
    t("cuEventRecord", event, stream)
    t("cuEventQuery", event)
    t("cuEventSynchronize", event)
    t("cuStreamWaitEvent", stream, event, 0)
    t("cuEventDestroy_v2", event)


def _status(t: Calls, stream: P | None, about: str = "") -> None:
    status = I()
    t("cuStreamIsCapturing", stream, ct.byref(status), gives=status, about=about)


def capture_modes(t: Calls) -> None:
    """How recording begins, ends, and how its state is reported."""
    t.begin()
    stream, graph, status, number = t.stream(), P(), I(), N()
    for where in (None, 1, 2):
        t("cuStreamBeginCapture_v2", where, 0)
        t("cuStreamEndCapture", where, ct.byref(graph))
        _status(t, P(where or 0))
    t("cuStreamEndCapture", stream, ct.byref(graph))
    for mode in (3, -1):
        t("cuStreamBeginCapture_v2", stream, mode)
    for mode in (0, 1, 2):
        t("cuStreamBeginCapture_v2", stream, mode)
        _status(t, stream)
        t("cuStreamBeginCapture_v2", stream, mode)
        t(
            "cuStreamGetCaptureInfo_v2",
            stream,
            ct.byref(status),
            ct.byref(number),
            ct.byref(graph),
            None,
            None,
            gives=(status, lambda: number.value > 0, lambda: bool(graph.value)),
        )
        t("cuStreamEndCapture", stream, ct.byref(graph))
        _status(t, stream)
        t("cuGraphDestroy", graph)
    t("cuStreamGetCaptureInfo_v2", stream, ct.byref(status), None, None, None, None, gives=status)
    t("cuStreamGetCaptureInfo_v2", stream, None, None, None, None, None)
    t("cuStreamGetCaptureInfo_v3", stream, ct.byref(status), None, None, None, None, None, gives=status)
    t("cuStreamIsCapturing", stream, None)
    t("cuStreamBeginCapture_v2", stream, 2)
    t("cuStreamEndCapture", stream, None)
    _status(t, stream)
    t("cuStreamEndCapture", stream, ct.byref(graph))
    mode = I(0)
    for wanted in (0, 1, 2, 3, -1):
        mode.value = wanted
        t("cuThreadExchangeStreamCaptureMode", ct.byref(mode), gives=mode)
    t("cuThreadExchangeStreamCaptureMode", None)
    t("cuStreamUpdateCaptureDependencies_v2", stream, None, None, 0, 0, about="not recorded")


def _illegal(name: str, mode: int, call: Callable[[Calls, P, dict[str, Any]], None]) -> Callable[[Calls], None]:
    def scenario(t: Calls) -> None:
        t.begin()
        stream, graph = t.stream(), P()
        facts: dict[str, Any] = {
            "a": t.memory(4096),
            "own": ct.create_string_buffer(4096),
            "event": t.event(),
            "other": t.stream(),
            "legacy": t.stream(0),
            "kernel": t.function(b"empty"),
            "module": t.module(),
        }
        t.do("cuMemAllocAsync", ct.byref(pooled := N()), 4096, None)
        facts["pooled"] = pooled.value
        t.do("cuStreamSynchronize", None)
        t.do("cuStreamBeginCapture_v2", stream, mode)
        call(t, stream, facts)
        _status(t, stream, about=f"after {name}")
        t("cuStreamEndCapture", stream, ct.byref(graph), gives=lambda: bool(graph.value), about=f"after {name}")
        _status(t, stream)

    return scenario


def _launch(t: Calls, where: Any, kernel: P) -> None:
    t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, where, None, None)


def _all(_: object) -> None:
    """Calls that have been made."""


_WHILE: Final[dict[str, Callable[[Calls, P, dict[str, Any]], None]]] = {
    "synchronise": lambda t, s, _: _all([t("cuStreamSynchronize", s)]),
    "query": lambda t, s, _: _all([t("cuStreamQuery", s)]),
    "context": lambda t, _, __: _all([t("cuCtxSynchronize")]),
    "allocate": lambda t, _, __: _all([t("cuMemAlloc_v2", ct.byref(N()), 64)]),
    "allocate host": lambda t, _, __: _all([t("cuMemAllocHost_v2", ct.byref(P()), 64)]),
    "free": lambda t, _, f: _all([t("cuMemFree_v2", at(f["a"]))]),
    "copy": lambda t, _, f: _all([t("cuMemcpyDtoD_v2", at(f["a"]), at(f["a"] + 64), 64)]),
    "copy down": lambda t, _, f: _all([t("cuMemcpyDtoH_v2", f["own"], at(f["a"]), 64)]),
    "fill": lambda t, _, f: _all([t("cuMemsetD8_v2", at(f["a"]), 0, 64)]),
    "fill here": lambda t, s, f: _all([t("cuMemsetD8Async", at(f["a"]), 0, 64, s)]),
    "pageable copy": lambda t, s, f: _all([t("cuMemcpyDtoHAsync_v2", f["own"], at(f["a"]), 64, s)]),
    "launch in the default stream": lambda t, _, f: _launch(t, None, f["kernel"]),
    "launch in the thread's stream": lambda t, _, f: _launch(t, 2, f["kernel"]),
    "launch in another stream": lambda t, _, f: _launch(t, f["other"], f["kernel"]),
    "launch in a blocking stream": lambda t, _, f: _launch(t, f["legacy"], f["kernel"]),
    "launch here": lambda t, s, f: _launch(t, s, f["kernel"]),
    "function of the host": lambda t, s, _: _all([t("cuLaunchHostFunc", s, nothing, None)]),
    "callback": lambda t, s, _: _all([t("cuStreamAddCallback", s, called, None, 0)]),
    "module": lambda t, _, __: _all(
        [t("cuModuleLoadData", ct.byref(P()), b".version 7.0\n.target sm_80\n.address_size 64\n")]
    ),
    "unload": lambda t, _, f: _all([t("cuModuleUnload", f["module"])]),
    "event query": lambda t, _, f: _all([t("cuEventQuery", f["event"])]),
    "recorded event": lambda t, s, f: _all(
        [
            t("cuEventRecord", f["event"], s),
            t("cuEventQuery", f["event"]),
            t("cuEventSynchronize", f["event"]),
            t("cuEventElapsedTime_v2", ct.byref(ct.c_float()), f["event"], f["event"]),
        ]
    ),
    "event with a flag": lambda t, s, f: _all(
        [t("cuEventRecordWithFlags", f["event"], s, 1), t("cuEventQuery", f["event"])]
    ),
    "wait for an event from outside": lambda t, s, f: _all(
        [
            t("cuEventRecord", f["event"], f["other"]),
            t("cuStreamWaitEvent", s, f["event"], 0),
        ]
    ),
    "wait with a flag": lambda t, s, f: _all(
        [t("cuEventRecord", f["event"], f["other"]), t("cuStreamWaitEvent", s, f["event"], 1)]
    ),
    "wait for an event never recorded": lambda t, s, f: _all([t("cuStreamWaitEvent", s, f["event"], 0)]),
    "write a value": lambda t, s, f: _all([t("cuStreamWriteValue32_v2", s, at(f["a"]), 1, 0)]),
    "wait for a value": lambda t, s, f: _all([t("cuStreamWaitValue32_v2", s, at(f["a"]), 0, 0)]),
    "allocate from a pool": lambda t, s, _: _all([t("cuMemAllocAsync", ct.byref(N()), 64, s)]),
    "free to a pool": lambda t, s, f: _all([t("cuMemFreeAsync", at(f["pooled"]), s)]),
    "free what it allocated": lambda t, s, _: _all(
        [
            t("cuMemAllocAsync", ct.byref(made := N()), 64, s),
            t("cuMemFreeAsync", made, s),
            t("cuMemFreeAsync", made, s),
        ]
    ),
    "destroy the stream": lambda t, _, f: _all([t("cuStreamDestroy_v2", f["other"])]),
    "make a stream": lambda t, _, __: _all([t("cuStreamCreate", ct.byref(P()), 0)]),
    "make an event": lambda t, _, __: _all([t("cuEventCreate", ct.byref(P()), 0)]),
    "attributes": lambda t, s, _: _all(
        [
            t("cuStreamGetFlags", s, ct.byref(I())),
            t("cuStreamGetPriority", s, ct.byref(I())),
            t("cuStreamGetCtx", s, ct.byref(P())),
            t("cuStreamGetId", s, ct.byref(N())),
        ]
    ),
    "attach": lambda t, s, f: _all([t("cuStreamAttachMemAsync", s, at(f["a"]), 0, 1)]),
    "memory": lambda t, _, __: _all([t("cuMemGetInfo_v2", ct.byref(N()), ct.byref(N()))]),
    "end in another stream": lambda t, _, f: _all([t("cuStreamEndCapture", f["other"], ct.byref(P()))]),
    "end while another one is in": lambda t, s, f: _all(
        [
            t("cuEventRecord", f["event"], s),
            t("cuStreamWaitEvent", f["other"], f["event"], 0),
            _launch(t, f["other"], f["kernel"]),
            _status(t, f["other"]),
            t("cuStreamEndCapture", f["other"], ct.byref(P())),
        ]
    ),
    "join": lambda t, s, f: _all(
        [
            t("cuEventRecord", f["event"], s),
            t("cuStreamWaitEvent", f["other"], f["event"], 0),
            _launch(t, f["other"], f["kernel"]),
            t("cuEventRecord", f["event"], f["other"]),
            t("cuStreamWaitEvent", s, f["event"], 0),
        ]
    ),
    "join without work": lambda t, s, f: _all(
        [
            t("cuEventRecord", f["event"], s),
            t("cuStreamWaitEvent", f["other"], f["event"], 0),
        ]
    ),
    "the default stream waits": lambda t, s, f: _all(
        [t("cuEventRecord", f["event"], s), t("cuStreamWaitEvent", None, f["event"], 0)]
    ),
    "merge two": lambda t, s, f: _all(
        [
            t("cuStreamBeginCapture_v2", f["other"], 2),
            _launch(t, f["other"], f["kernel"]),
            t("cuEventRecord", f["event"], f["other"]),
            t("cuStreamWaitEvent", s, f["event"], 0),
            _status(t, f["other"]),
            t("cuStreamEndCapture", f["other"], ct.byref(P())),
        ]
    ),
    "begin in another stream": lambda t, _, f: _all(
        [
            t("cuStreamBeginCapture_v2", f["other"], 2),
            t("cuStreamEndCapture", f["other"], ct.byref(P())),
        ]
    ),
    "relaxed for a moment": lambda t, _, f: _all(
        [
            t("cuThreadExchangeStreamCaptureMode", ct.byref(I(2))),
            t("cuMemAlloc_v2", ct.byref(N()), 64),
            t("cuMemcpyDtoD_v2", at(f["a"]), at(f["a"] + 64), 64),
        ]
    ),
}

SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    **{
        one.__name__: one
        for one in (
            streams,
            destroyed_stream,
            values,
            host_functions,
            events,
            destroyed_event,
            capture_modes,
        )
    },
    **{
        f"while recorded in mode {mode}: {name}": _illegal(name, mode, call)
        for mode in (0, 1, 2)
        for name, call in _WHILE.items()
    },
}
