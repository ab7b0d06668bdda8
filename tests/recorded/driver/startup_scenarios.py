"""Scenarios: before cuInit and without a context, every function with nothing; names, versions, devices, contexts."""

from __future__ import annotations

import ctypes as ct
import re
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.names import names
from recorded.driver.calls import I, N, P

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recorded.driver.calls import Calls

_LEFT: Final = re.compile(
    r"cu(GL|EGL|VDPAU|Graphics|Multicast|Checkpoint|Coredump|Profiler|GetExportTable|Init|FlushGPUDirect"
    r"|Import|WaitExternal|SignalExternal|DestroyExternal|External|LogsRegister|LogsUnregister)"
)
"""What needs a display, several GPUs or other processes, or changes all that follows."""
_ENDING: Final = ("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease")
_ARGUMENTS: Final = 12
_GRAPHICS: Final = re.compile(r"cu(GL|EGL|VDPAU|\w*(GL|EGL|VDPAU)[A-Z]|GraphicsResourceGetMappedEgl)")
"""Doors to graphics, which came to be names after the recording."""


def _functions() -> dict[str, tuple[tuple[int, str], ...]]:
    return {name: versions for name, versions in names().functions.items() if not _GRAPHICS.match(name)}


def symbols() -> list[str]:
    """Those of all functions that are asked."""
    known = [symbol for versions in _functions().values() for _, symbol in versions]
    return sorted(one for one in known if not _LEFT.match(one))


def _chunks() -> Iterator[tuple[str, list[str]]]:
    all_ = symbols()
    for start in range(0, len(all_), 60):
        yield f"{start // 60:02}", all_[start : start + 60]


def _before(part: list[str]) -> Callable[[Calls], None]:
    def asked(t: Calls) -> None:
        for symbol in part:
            t(symbol, *[0] * _ARGUMENTS)

    return asked


def _without_context(part: list[str]) -> Callable[[Calls], None]:
    def asked(t: Calls) -> None:
        t.do("cuInit", 0)
        for symbol in part:
            t(symbol, *[0] * _ARGUMENTS)
            t.quietly("cuCtxSetCurrent", None)

    return asked


def _with_context(part: list[str]) -> Callable[[Calls], None]:
    def asked(t: Calls) -> None:
        t.begin()
        for symbol in part:
            if not symbol.startswith(_ENDING):
                t(symbol, *[0] * _ARGUMENTS)
                t.quietly("cuCtxSetCurrent", t.context)

    return asked


def init(t: Calls) -> None:
    """Initialise rightly and wrongly."""
    version = I()
    t("cuDriverGetVersion", ct.byref(version))
    t("cuDriverGetVersion", None)
    t("cuDeviceGetCount", ct.byref(version))
    for flags in (1, 7, 0xFFFFFFFF, 0, 0, 1):
        t("cuInit", flags)
    t("cuDeviceGetCount", ct.byref(version), gives=version)


def error_names(t: Calls) -> None:
    """The names of all errors, and the words of a few."""
    text = ct.c_char_p()
    for number in (*range(1010), -1, 10_000):
        if number in names().errors or number % 97 == 0 or number > 1000 or number < 0:
            t("cuGetErrorName", number, ct.byref(text), gives=text)
            t("cuGetErrorString", number, ct.byref(text), gives=lambda: bool(text.value))
    t("cuGetErrorName", 0, None)
    t("cuGetErrorString", 0, None)


def addresses(t: Calls) -> None:
    """What `cuGetProcAddress` knows of every name, at several versions."""
    found, status = P(), I()
    for name, versions in _functions().items():
        for version in {versions[0][0] - 1, versions[0][0], 13000}:
            t(
                "cuGetProcAddress_v2",
                name.encode(),
                ct.byref(found),
                version,
                0,
                ct.byref(status),
                gives=(status, lambda: bool(found.value)),
            )


def addresses_wrong(t: Calls) -> None:
    """Odd names, flags, versions and missing pointers."""
    found, status = P(), I()
    ask = "cuGetProcAddress_v2"

    def given() -> bool:
        return bool(found.value)

    for name in (
        b"",
        b"cu",
        b"cuNothing",
        b"cuMemAlloc_v2",
        b"cuMemAlloc",
        b"cuinit",
        b"cudaMalloc",
        b"cuStreamSynchronize_ptsz",
    ):
        found.value = None
        t(ask, name, ct.byref(found), 13000, 0, ct.byref(status), gives=(status, given))
        t(ask, name, ct.byref(found), 13000, 0, None, gives=given)
    for flags in (0, 1, 2, 3, 4, 8):
        t(ask, b"cuStreamSynchronize", ct.byref(found), 13000, flags, ct.byref(status), gives=(status, given))
    for version in (-1, 0, 1, 1999, 2000, 13000, 13010, 20000, 2**31 - 1):
        t(ask, b"cuMemAlloc", ct.byref(found), version, 0, ct.byref(status), gives=(status, given))
        t("cuGetProcAddress", b"cuMemAlloc", ct.byref(found), version, 0, gives=given)
    t(ask, None, ct.byref(found), 13000, 0, ct.byref(status), gives=status)
    t(ask, b"cuInit", None, 13000, 0, ct.byref(status), gives=status)
    t("cuGetProcAddress", b"cuNothing", ct.byref(found), 13000, 0, gives=given)
    first, second = P(), P()
    for name, older, newer in (
        (b"cuMemAlloc", 2000, 3020),
        (b"cuCtxCreate", 3020, 12050),
        (b"cuStreamBeginCapture", 10000, 10010),
    ):
        t(ask, name, ct.byref(first), older, 0, ct.byref(status), gives=status)
        t(ask, name, ct.byref(second), newer, 0, ct.byref(status), gives=(status, lambda: first.value == second.value))


def devices(t: Calls) -> None:
    """The device, and ordinals that there are not."""
    t.do("cuInit", 0)
    number, other, size, text = I(), I(), N(), ct.create_string_buffer(300)
    for which in (0, 1, 99, -1, 2**31 - 1):
        t("cuDeviceGet", ct.byref(number), which, gives=number)
        t("cuDeviceGetName", text, 300, which)
        t("cuDeviceGetUuid_v2", text, which)
        t("cuDeviceTotalMem_v2", ct.byref(size), which, gives=lambda: size.value > 0)
        t("cuDeviceGetAttribute", ct.byref(number), 75, which)
        t("cuDeviceComputeCapability", ct.byref(number), ct.byref(other), which, gives=(number, other))
        t("cuDeviceGetPCIBusId", text, 300, which)
        t("cuDeviceGetLuid", text, ct.byref(number), which)
        t("cuDeviceCanAccessPeer", ct.byref(number), which, 0, gives=number)
        t("cuDeviceCanAccessPeer", ct.byref(number), 0, which, gives=number)
        t("cuDeviceGetP2PAttribute", ct.byref(number), 1, which, 0, gives=number)
        t("cuDeviceGetProperties", text, which)
        t("cuDeviceGetExecAffinitySupport", ct.byref(number), 0, which, gives=number)
        t("cuDeviceGetTexture1DLinearMaxWidth", ct.byref(size), 0x20, 1, which, gives=lambda: size.value > 0)
        t("cuDevicePrimaryCtxGetState", which, ct.byref(number), ct.byref(other), gives=(number, other))
        t("cuDevicePrimaryCtxSetFlags_v2", which, 0)
    for length in (0, 1, 5, -1):
        t("cuDeviceGetName", text, length, 0, gives=lambda: len(text.value))
        t("cuDeviceGetPCIBusId", text, length, 0, gives=lambda: len(text.value))
    for bus in (b"", b"nonsense", b"0000:ff:1f.7", None):
        t("cuDeviceGetByPCIBusId", ct.byref(number), bus)
    t("cuDeviceGetExecAffinitySupport", ct.byref(number), 5, 0, gives=number)
    for form, channels in ((0, 1), (0x20, 0), (0x20, 3), (0x20, 5), (0x77, 1)):
        t("cuDeviceGetTexture1DLinearMaxWidth", ct.byref(size), form, channels, 0, gives=lambda: size.value > 0)


def attributes(t: Calls) -> None:
    """All attributes of the device, and numbers that are not attributes."""
    t.do("cuInit", 0)
    value = I()
    for number in (*range(-1, 152), 255, 256, 1000, 2**31 - 1):
        t("cuDeviceGetAttribute", ct.byref(value), number, 0, gives=value, about=names().attributes.get(number, ""))
    t("cuDeviceGetAttribute", None, 75, 0)
    t("cuDeviceGetAttribute", None, 75, 7)
    t("cuDeviceGetAttribute", ct.byref(value), 0, 7)


def contexts(t: Calls) -> None:
    """Contexts pushed, popped, destroyed."""
    t.do("cuInit", 0)
    first, second, now, flags, number, version = P(), P(), P(), ct.c_uint(), I(), ct.c_uint()

    def which() -> int:
        return (
            [None, first.value, second.value].index(now.value) if now.value in (None, first.value, second.value) else -1
        )

    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxPopCurrent_v2", ct.byref(now))
    t("cuCtxGetDevice", ct.byref(number))
    t("cuCtxSynchronize")
    t("cuCtxSetCurrent", None)
    t("cuCtxGetFlags", ct.byref(flags))
    t("cuCtxGetApiVersion", None, ct.byref(version), gives=version)
    t("cuCtxGetId", None, ct.byref(N()))
    for wrong in (0x80, 0x100, 0x1000, 3, 5, 6, 7, 0xFFFFFFFF):
        if t("cuCtxCreate_v2", ct.byref(first), wrong, 0) == 0:
            t("cuCtxGetFlags", ct.byref(flags), gives=flags)
            t("cuCtxDestroy_v2", first)
    t("cuCtxCreate_v2", ct.byref(first), 0, 1)
    t("cuCtxCreate_v2", None, 0, 0)
    for good in (0, 1, 2, 4, 8, 16, 0x20, 0x40):
        t("cuCtxCreate_v2", ct.byref(first), good, 0)
        t("cuCtxGetFlags", ct.byref(flags), gives=flags)
        t("cuCtxDestroy_v2", first)
    t("cuCtxCreate_v2", ct.byref(first), 0, 0)
    t("cuCtxCreate_v2", ct.byref(second), 0, 0)
    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxGetApiVersion", first, ct.byref(version), gives=version)
    t("cuCtxGetApiVersion", None, ct.byref(version), gives=version)
    t("cuCtxPushCurrent_v2", first)
    t("cuCtxPushCurrent_v2", first)
    t("cuCtxPopCurrent_v2", ct.byref(now), gives=which)
    t("cuCtxPopCurrent_v2", None)
    t("cuCtxPopCurrent_v2", ct.byref(now), gives=which)
    t("cuCtxPopCurrent_v2", ct.byref(now), gives=which)
    t("cuCtxPopCurrent_v2", ct.byref(now), gives=which)
    t("cuCtxPushCurrent_v2", None)
    t("cuCtxSetCurrent", second)
    t("cuCtxSetCurrent", first)
    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxSetCurrent", None)
    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxPushCurrent_v2", first)
    t("cuCtxPushCurrent_v2", second)
    t("cuCtxSetCurrent", None)
    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxSetCurrent", None)
    t("cuCtxGetCurrent", ct.byref(now), gives=which)
    t("cuCtxPushCurrent_v2", second)
    t("cuCtxDestroy_v2", second)
    t("cuCtxGetCurrent", ct.byref(now), gives=lambda: bool(now.value))
    t("cuCtxSynchronize")
    t("cuMemAlloc_v2", ct.byref(N()), 64)
    t("cuCtxDestroy_v2", None)
    t("cuCtxSynchronize", about="after another context's end")
    t("cuCtxPopCurrent_v2", ct.byref(now))
    t("cuCtxDestroy_v2", second, about="twice")
    t("cuCtxPushCurrent_v2", second, about="destroyed")
    t("cuCtxSetCurrent", second, about="destroyed")


def destroyed_below(t: Calls) -> None:
    """A context destroyed while it is not on top."""
    t.do("cuInit", 0)
    first, second, now = P(), P(), P()
    t("cuCtxCreate_v2", ct.byref(first), 0, 0)
    t("cuCtxCreate_v2", ct.byref(second), 0, 0)
    t("cuCtxDestroy_v2", first)
    t("cuCtxGetCurrent", ct.byref(now), gives=lambda: now.value == second.value)
    t("cuCtxPopCurrent_v2", ct.byref(now), gives=lambda: now.value == second.value)
    t("cuCtxGetCurrent", ct.byref(now), gives=lambda: bool(now.value))
    t("cuCtxSynchronize")
    t("cuCtxPopCurrent_v2", ct.byref(now))
    t("cuCtxPopCurrent_v2", ct.byref(now))


def primary(t: Calls) -> None:
    """The primary context: uses, flags, reset."""
    t.do("cuInit", 0)
    first, second, flags, active, size = P(), P(), ct.c_uint(), I(), N()
    state = ("cuDevicePrimaryCtxGetState", 0, ct.byref(flags), ct.byref(active))
    t(*state, gives=(flags, active))
    t("cuDevicePrimaryCtxRelease_v2", 0)
    t("cuDevicePrimaryCtxReset_v2", 0)
    for wrong in (3, 0x100, 0xFFFFFFFF, 0x80, 4, 0x18):
        t("cuDevicePrimaryCtxSetFlags_v2", 0, wrong)
        t(*state, gives=(flags, active))
    t("cuDevicePrimaryCtxSetFlags_v2", 0, 4)
    t("cuDevicePrimaryCtxRetain", ct.byref(first), 0)
    t(*state, gives=(flags, active))
    t("cuDevicePrimaryCtxRetain", ct.byref(second), 0, gives=lambda: first.value == second.value)
    t("cuDevicePrimaryCtxSetFlags_v2", 0, 1)
    t(*state, gives=(flags, active))
    t("cuDevicePrimaryCtxSetFlags_v2", 0, 8)
    t("cuCtxSetCurrent", first)
    t("cuCtxGetFlags", ct.byref(flags), gives=flags)
    for new in (0, 1, 2, 4, 8, 16, 0x20, 0x40, 0x60, 3, 0x80, 0x100):
        t("cuCtxSetFlags", new)
        t("cuCtxGetFlags", ct.byref(flags), gives=flags)
    t("cuCtxDestroy_v2", first, about="the primary one")
    t("cuDevicePrimaryCtxRelease_v2", 0)
    t("cuMemAlloc_v2", ct.byref(size), 64)
    t("cuDevicePrimaryCtxRelease_v2", 0)
    t(*state, gives=active)
    t("cuMemAlloc_v2", ct.byref(size), 64, about="released")
    t("cuDevicePrimaryCtxRelease_v2", 0)
    t("cuDevicePrimaryCtxRetain", ct.byref(second), 0, gives=lambda: first.value == second.value)
    t("cuMemAlloc_v2", ct.byref(size), 64, about="retained again")
    t("cuCtxSetCurrent", second)
    t("cuMemAlloc_v2", ct.byref(size), 64)
    t("cuDevicePrimaryCtxReset_v2", 0)
    t(*state, gives=active)
    t("cuMemFree_v2", size, about="before the reset")
    t("cuMemAlloc_v2", ct.byref(size), 64, about="after the reset")
    t("cuDevicePrimaryCtxRetain", ct.byref(second), 0)
    t("cuMemAlloc_v2", ct.byref(size), 64)
    t("cuDevicePrimaryCtxRelease_v2", 0)
    t("cuDevicePrimaryCtxRelease_v2", 0)


def limits(t: Calls) -> None:
    """Limits, cache and shared memory settings, priorities, what a context is asked for."""
    t.begin()
    value, low, high = N(), I(), I()
    for limit in (*range(12), -1, 255):
        t("cuCtxGetLimit", ct.byref(value), limit, gives=value)
    for limit, wanted in (
        (0, 0),
        (0, 1),
        (0, 1000),
        (0, 1 << 18),
        (0, 1 << 40),
        (1, 0),
        (1, 1 << 16),
        (1, 5),
        (2, 0),
        (2, 1 << 20),
        (2, 1 << 50),
        (3, 5),
        (4, 100),
        (5, 0),
        (5, 32),
        (5, 64),
        (5, 128),
        (5, 200),
        (6, 0),
        (6, 1 << 20),
        (7, 0),
        (-1, 0),
    ):
        t("cuCtxSetLimit", limit, wanted)
        t("cuCtxGetLimit", ct.byref(value), limit, gives=value)
    t("cuCtxGetLimit", None, 0)
    t("cuCtxGetLimit", None, 99)
    for config in (0, 1, 2, 3, 4, -1):
        t("cuCtxSetCacheConfig", config)
        t("cuCtxGetCacheConfig", ct.byref(low), gives=low)
        t("cuCtxSetSharedMemConfig", config)
        t("cuCtxGetSharedMemConfig", ct.byref(low), gives=low)
    t("cuCtxGetStreamPriorityRange", ct.byref(low), ct.byref(high), gives=(low, high))
    t("cuCtxGetStreamPriorityRange", None, None)
    t("cuCtxGetId", None, ct.byref(value))
    t("cuCtxGetId", t.context, ct.byref(value))
    t("cuCtxGetExecAffinity", ct.byref(ct.create_string_buffer(64)), 0)
    t("cuCtxGetDevice_v2", ct.byref(low), t.context, gives=low)
    t("cuCtxGetDevice_v2", ct.byref(low), None, gives=low)
    t("cuCtxSynchronize_v2", t.context)
    t("cuCtxSynchronize_v2", None)
    t("cuCtxEnablePeerAccess", t.context, 0)
    t("cuCtxEnablePeerAccess", t.context, 1)
    t("cuCtxEnablePeerAccess", None, 0)
    t("cuCtxDisablePeerAccess", t.context)
    t("cuCtxDisablePeerAccess", None)
    t("cuCtxResetPersistingL2Cache")
    made = P()
    t("cuCtxCreate_v3", ct.byref(made), None, 0, 0, 0)
    t("cuCtxCreate_v3", ct.byref(made), None, 1, 0, 0)
    t("cuCtxCreate_v4", ct.byref(made), None, 0, 0)
    t("cuCtxAttach", ct.byref(made), 0)
    t("cuCtxAttach", ct.byref(made), 1)
    t("cuCtxDetach", made)
    event = t.event()
    t("cuCtxRecordEvent", t.context, event)
    t("cuCtxWaitEvent", t.context, event)
    t("cuCtxRecordEvent", None, event)
    t("cuCtxRecordEvent", t.context, None)


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    **{f"before cuInit {number}": _before(part) for number, part in _chunks()},
    **{f"no context {number}": _without_context(part) for number, part in _chunks()},
    **{f"zeros {number}": _with_context(part) for number, part in _chunks()},
    **{
        one.__name__: one
        for one in (
            init,
            error_names,
            addresses,
            addresses_wrong,
            devices,
            attributes,
            contexts,
            destroyed_below,
            primary,
            limits,
        )
    },
}
