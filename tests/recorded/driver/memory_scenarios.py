"""Scenarios: memory of every kind, copies, fills, pools, pointers, memory of the host."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import I, N, P, at, held

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

KIB: Final = 1 << 10
HUGE: Final = (1 << 40, 1 << 47, 1 << 63, (1 << 64) - 1)


class Location(ct.Structure):
    """A `CUmemLocation`."""

    _fields_ = (("type", ct.c_int), ("id", ct.c_int))


def location(type_: int, number: int) -> Any:
    """A `CUmemLocation`, by reference."""
    return ct.byref(Location(type_, number))


def bytes_of(form: str, *values: int) -> Any:
    """A structure."""
    return ct.create_string_buffer(struct.pack(form, *values), struct.calcsize(form))


def allocation(t: Calls) -> None:
    """Allocate, free, and ask whose an address is."""
    t.begin()
    made, size, start, pitch = N(), N(), N(), N()
    t("cuMemAlloc_v2", None, 16)
    for wrong in (0, *HUGE):
        t("cuMemAlloc_v2", ct.byref(made), wrong)
    for right in (1, 3, 255, 256, 257, 4096, 1 << 20, (1 << 21) + 1):
        t("cuMemAlloc_v2", ct.byref(made), right, gives=lambda: made.value % 256)
        t(
            "cuMemGetAddressRange_v2",
            ct.byref(start),
            ct.byref(size),
            made,
            gives=(lambda: start.value == made.value, size),
        )
        t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), at(made.value + right - 1), gives=size)
        t("cuMemFree_v2", made)
    t("cuMemAlloc_v2", ct.byref(made), 8192)
    t("cuMemGetAddressRange_v2", None, None, made)
    t("cuMemGetAddressRange_v2", ct.byref(start), None, made)
    t("cuMemGetAddressRange_v2", None, ct.byref(size), at(made.value + 5), gives=size)
    t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), 0)
    t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), 0x1234)
    t("cuMemFree_v2", 0)
    t("cuMemFree_v2", at(made.value + 256), about="in its middle")
    t("cuMemFree_v2", 0x1234)
    t("cuMemFreeHost", P(made.value), about="memory of the device")
    t("cuMemFree_v2", made)
    t("cuMemFree_v2", made, about="twice")
    t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), made, about="freed")
    for width, height, element in (
        (0, 4, 4),
        (4, 0, 4),
        (100, 3, 3),
        (100, 3, 0),
        (100, 3, 1),
        (100, 3, 4),
        (100, 3, 8),
        (512, 3, 16),
        (513, 3, 16),
        (1000, 1, 4),
        (1 << 40, 1 << 30, 4),
        ((1 << 64) - 1, 2, 4),
        (100, 3, 32),
    ):
        if t("cuMemAllocPitch_v2", ct.byref(made), ct.byref(pitch), width, height, element, gives=pitch) == 0:
            t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), made, gives=size)
            t("cuMemFree_v2", made)
    t("cuMemAllocPitch_v2", ct.byref(made), None, 100, 3, 4)
    t("cuMemAllocPitch_v2", None, ct.byref(pitch), 100, 3, 4)
    free, total = N(), N()
    t("cuMemGetInfo_v2", ct.byref(free), ct.byref(total), gives=lambda: 0 < free.value <= total.value)
    t("cuMemGetInfo_v2", None, ct.byref(total))
    t("cuMemGetInfo_v2", ct.byref(free), None)


def managed(t: Calls) -> None:
    """Managed memory, advice and prefetching."""
    t.begin()
    made = N()
    for flags in (0, 1, 2, 3, 4, 0xFFFFFFFF):
        if t("cuMemAllocManaged", ct.byref(made), 4096, flags) == 0:
            t("cuMemFree_v2", made)
    t("cuMemAllocManaged", ct.byref(made), 0, 1)
    t("cuMemAllocManaged", None, 64, 1)
    t("cuMemAllocManaged", ct.byref(made), 8192, 1)
    device, stream = t.memory(4096), t.stream()
    own = ct.create_string_buffer(4096)
    for address, size in (
        (made, 8192),
        (made, 0),
        (made, 8193),
        (at(made.value + 8192), 1),
        (at(device), 4096),
        (0, 16),
        (P(ct.addressof(own)), 64),
    ):
        for advice in (1, 2, 3, 4, 5, 6):
            t("cuMemAdvise_v2", address, size, advice, Location(1, 0))
        t("cuMemPrefetchAsync_v2", address, size, Location(1, 0), 0, stream)
    for where in ((0, 0), (1, 1), (1, -1), (2, 0), (3, 0), (3, 99), (4, 0), (9, 0)):
        t("cuMemAdvise_v2", made, 8192, 3, Location(*where), about=str(where))
        t("cuMemPrefetchAsync_v2", made, 8192, Location(*where), 0, stream, about=str(where))
    for advice in (0, 7, -1):
        t("cuMemAdvise_v2", made, 8192, advice, Location(1, 0))
    t("cuMemPrefetchAsync_v2", made, 8192, Location(1, 0), 1, stream)
    t("cuMemPrefetchAsync_v2", made, 8192, Location(1, 0), 0, None)
    for number in (0, 1, -1, -2):
        t("cuMemAdvise", made, 8192, 3, number)
        t("cuMemPrefetchAsync", made, 8192, number, stream)
    value, values = I(), (ct.c_int * 4)()
    t("cuMemAdvise_v2", made, 8192, 1, Location(1, 0))
    t("cuMemAdvise_v2", made, 8192, 3, Location(2, 0))
    for attribute in (*range(9), 100):
        t("cuMemRangeGetAttribute", ct.byref(value), 4, attribute, made, 8192, gives=value)
    t("cuMemRangeGetAttribute", ct.byref(values), 16, 3, made, 8192, gives=lambda: list(values))
    t("cuMemRangeGetAttribute", ct.byref(value), 3, 1, made, 8192)
    t("cuMemRangeGetAttribute", ct.byref(value), 4, 1, at(device), 4096)
    t("cuMemRangeGetAttribute", ct.byref(value), 4, 1, made, 0)
    t("cuMemRangeGetAttribute", None, 4, 1, made, 8192)
    for flags in (0, 1, 2, 4, 3, 8):
        t("cuStreamAttachMemAsync", stream, made, 0, flags)
        t("cuStreamAttachMemAsync", stream, made, 8192, flags)
    t("cuStreamAttachMemAsync", stream, made, 100, 1)
    t("cuStreamAttachMemAsync", None, made, 0, 4)
    t("cuStreamAttachMemAsync", stream, at(device), 0, 1)
    t("cuStreamSynchronize", stream)


def host(t: Calls) -> None:
    """Memory of the host: allocated, registered."""
    t.begin()
    made, seen, flags = P(), N(), ct.c_uint()
    for wanted in (0, 1, 2, 3, 4, 7, 8, 15, 16):
        if t("cuMemHostAlloc", ct.byref(made), 4096, wanted) == 0:
            t("cuMemHostGetFlags", ct.byref(flags), made, gives=flags)
            t("cuMemHostGetDevicePointer_v2", ct.byref(seen), made, 0, gives=lambda: seen.value == made.value)
            t("cuMemFreeHost", made)
    t("cuMemHostAlloc", ct.byref(made), 0, 0)
    t("cuMemHostAlloc", None, 64, 0)
    t("cuMemAllocHost_v2", ct.byref(made), 0)
    t("cuMemAllocHost_v2", None, 64)
    t("cuMemHostAlloc", ct.byref(made), 1 << 62, 0)
    t("cuMemAllocHost_v2", ct.byref(made), 4096)
    t("cuMemHostGetDevicePointer_v2", ct.byref(seen), P(held(made) + 100), 0, gives=lambda: seen.value - held(made))
    t("cuMemHostGetDevicePointer_v2", ct.byref(seen), P(held(made) + 4096), 0)
    t("cuMemHostGetDevicePointer_v2", ct.byref(seen), made, 1)
    t("cuMemHostGetDevicePointer_v2", None, made, 0)
    t("cuMemHostGetDevicePointer_v2", ct.byref(seen), None, 0)
    t("cuMemHostGetFlags", ct.byref(flags), P(held(made) + 5), gives=flags)
    t("cuMemHostGetFlags", None, made)
    t("cuMemHostGetFlags", ct.byref(flags), None)
    t("cuMemFreeHost", P(held(made) + 64))
    t("cuMemFree_v2", at(held(made)), about="memory of the host")
    t("cuMemFreeHost", None)
    t("cuMemFreeHost", made)
    t("cuMemFreeHost", made, about="twice")
    room = ct.create_string_buffer(5 * 4096)
    own = -(-ct.addressof(room) // 4096) * 4096
    device = t.memory(4096)
    t("cuMemHostRegister_v2", P(own), 0, 0)
    t("cuMemHostRegister_v2", None, 64, 0)
    t("cuMemHostRegister_v2", P(own), 8192, 16)
    t("cuMemHostRegister_v2", P(own), 8192, 32)
    t("cuMemHostRegister_v2", P(device), 4096, 0, about="memory of the device")
    t("cuMemHostRegister_v2", P(0x1000), 4096, 0, about="nothing there")
    t("cuMemHostGetDevicePointer_v2", ct.byref(seen), P(own), 0, about="not registered")
    t("cuMemHostGetFlags", ct.byref(flags), P(own), about="not registered")
    t("cuMemHostUnregister", P(own), about="not registered")
    for wanted in (0, 1, 2, 3, 4, 8):
        if t("cuMemHostRegister_v2", P(own), 8192, wanted) == 0:
            t("cuMemHostGetFlags", ct.byref(flags), P(own), gives=flags)
            t("cuMemHostRegister_v2", P(own), 8192, wanted, about="twice")
            t("cuMemHostRegister_v2", P(own + 4096), 8192, wanted, about="overlapping")
            t("cuMemHostGetDevicePointer_v2", ct.byref(seen), P(own + 5000), 0)
            t("cuMemHostGetDevicePointer_v2", ct.byref(seen), P(own + 8192), 0)
            t("cuMemFreeHost", P(own))
            t("cuMemHostUnregister", P(own + 4096))
            t("cuMemHostUnregister", P(own))
            t("cuMemHostUnregister", P(own))
    t("cuMemHostUnregister", None)
    t("cuMemHostRegister_v2", P(own + 10), 100, 0)
    t("cuMemHostRegister_v2", P(own + 200), 100, 0, about="in the same page")
    t("cuMemHostUnregister", P(own + 10))
    t("cuMemAllocHost_v2", ct.byref(made), 4096)
    t("cuMemHostRegister_v2", made, 4096, 0, about="allocated by the driver")
    t("cuMemHostUnregister", made, about="allocated by the driver")


_POINTER_ATTRIBUTES: Final = {
    1: 8,
    2: 4,
    3: 8,
    4: 8,
    5: 16,
    6: 4,
    7: 8,
    8: 1,
    9: 4,
    10: 1,
    11: 8,
    12: 8,
    13: 1,
    14: 8,
    15: 1,
    16: 4,
    17: 8,
    18: 8,
    19: 8,
    20: 1,
    21: 8,
}


def pointers(t: Calls) -> None:
    """What is known of addresses of every kind."""
    t.begin()
    device, unified, pinned, mapped = N(t.memory(5000)), N(), P(), P()
    t.do("cuMemAllocManaged", ct.byref(unified), 5000, 1)
    t.do("cuMemHostAlloc", ct.byref(pinned), 5000, 0)
    t.do("cuMemHostAlloc", ct.byref(mapped), 5000, 3)
    pooled, variable, size = N(), N(), N()
    t.do("cuMemAllocAsync", ct.byref(pooled), 5000, None)
    t.do("cuStreamSynchronize", None)
    module = t.module()
    t.do("cuModuleGetGlobal_v2", ct.byref(variable), ct.byref(size), module, b"room")
    room = ct.create_string_buffer(3 * 4096)
    own = -(-ct.addressof(room) // 4096) * 4096
    t.do("cuMemHostRegister_v2", P(own), 4096, 0)
    pool = P()
    t.do("cuDeviceGetDefaultMemPool", ct.byref(pool), 0)
    addresses = {
        "device": device.value,
        "device's middle": device.value + 4000,
        "managed": unified.value,
        "pinned": pinned.value,
        "mapped": mapped.value,
        "pool": pooled.value,
        "variable": variable.value,
        "registered": own + 100,
        "plain": own + 4096,
        "nothing": 0x1000,
        "null": 0,
    }
    bases = {0: "0", t.context.value: "context", pool.value: "pool"}

    def value(data: Any, width: int, address: int) -> Any:
        number = int.from_bytes(data.raw[:width], "little")
        if width != 8:
            return number
        return bases.get(number) or (
            f"+{number - address}" if abs(number - address) < 8192 else number if number < 1 << 21 else "other"
        )

    for name, address in addresses.items():
        for attribute, width in _POINTER_ATTRIBUTES.items():
            data = ct.create_string_buffer(b"\x5a" * 64, 64)
            hidden = attribute in {5, 7, 18, 19}
            t(
                "cuPointerGetAttribute",
                data,
                attribute,
                at(address or 0),
                about=name,
                gives=() if hidden else (lambda d=data, w=width, a=address: value(d, w, a or 0)),
            )
            data = ct.create_string_buffer(b"\x5a" * 64, 64)
            t(
                "cuPointerGetAttributes",
                1,
                (ct.c_int * 1)(attribute),
                (P * 1)(ct.addressof(data)),
                at(address or 0),
                about=f"{attribute} of {name}",
                gives=() if hidden else (lambda d=data, w=width, a=address: value(d, w, a or 0)),
            )
        flag = ct.c_uint(1)
        t("cuPointerSetAttribute", ct.byref(flag), 6, at(address or 0), about=name)
    for attribute in (0, 22, 100, -1):
        data = ct.create_string_buffer(64)
        t("cuPointerGetAttribute", data, attribute, device)
        t(
            "cuPointerGetAttributes",
            1,
            (ct.c_int * 1)(attribute),
            (P * 1)(ct.addressof(data)),
            device,
            about=str(attribute),
        )
        t("cuPointerSetAttribute", data, attribute, device)
    t("cuPointerGetAttribute", None, 2, device)
    t("cuPointerGetAttributes", 0, (ct.c_int * 1)(2), (P * 1)(0), device)
    t("cuPointerGetAttributes", 1, None, (P * 1)(0), device)
    t("cuPointerSetAttribute", None, 6, device)
    t("cuMemFree_v2", device)
    t("cuPointerGetAttribute", ct.byref(N()), 2, device, about="freed")


def copies(t: Calls) -> None:
    """Copies in a row: sizes, directions, beyond ends."""
    t.begin()
    a, b = t.memory(4096), t.memory(4096)
    own = ct.create_string_buffer(8192)
    here, stream = P(ct.addressof(own)), t.stream()
    unified, pinned = N(), P()
    t.do("cuMemAllocManaged", ct.byref(unified), 4096, 1)
    t.do("cuMemAllocHost_v2", ct.byref(pinned), 4096)
    t("cuMemsetD8_v2", at(a), 7, 4096)
    for size in (0, 1, 4096, 4097, 1 << 30):
        t("cuMemcpyDtoD_v2", at(b), at(a), size)
    t("cuMemcpyDtoH_v2", here, at(a), 0)
    t("cuMemcpyDtoH_v2", here, at(a), 4096, gives=lambda: own.raw[0])
    t("cuMemcpyDtoH_v2", here, at(a), 4097)
    t("cuMemcpyDtoH_v2", here, at(a + 4000), 97)
    t("cuMemcpyDtoH_v2", None, at(a), 16)
    t("cuMemcpyDtoH_v2", None, at(a), 0)
    t("cuMemcpyDtoH_v2", here, 0, 16)
    t("cuMemcpyDtoH_v2", here, 0, 0)
    t("cuMemcpyDtoH_v2", here, 0x1000, 16)
    t("cuMemcpyDtoH_v2", here, here, 16, about="from the host")
    t("cuMemcpyDtoH_v2", here, pinned, 16, about="from pinned memory")
    t("cuMemcpyDtoH_v2", here, unified, 16, about="from managed memory")
    t("cuMemcpyDtoH_v2", P(a), at(b), 16, about="into memory of the device")
    t("cuMemcpyHtoD_v2", at(a), here, 4096)
    t("cuMemcpyHtoD_v2", at(a), here, 4097)
    t("cuMemcpyHtoD_v2", at(a), None, 16)
    t("cuMemcpyHtoD_v2", at(a), None, 0)
    t("cuMemcpyHtoD_v2", 0, here, 16)
    t("cuMemcpyHtoD_v2", at(a - 1), here, 16)
    t("cuMemcpyHtoD_v2", here, here, 16, about="to the host")
    t("cuMemcpyHtoD_v2", at(a), P(b), 16, about="from memory of the device")
    t("cuMemcpyDtoD_v2", at(a), here, 16, about="from the host")
    t("cuMemcpyDtoD_v2", 0, at(a), 16)
    t("cuMemcpyDtoD_v2", at(a + 8), at(a), 16, about="overlapping")
    for to, source in (
        (at(a), at(b)),
        (here, at(a)),
        (at(a), here),
        (here, P(held(here) + 100)),
        (unified, here),
        (0, here),
        (here, 0),
    ):
        t("cuMemcpy", to, source, 16)
        t("cuMemcpyAsync", to, source, 16, stream)
    t("cuMemcpy", at(a), at(b), 4097)
    t("cuMemcpyHtoDAsync_v2", at(a), here, 4097, stream)
    t("cuMemcpyHtoDAsync_v2", at(a), here, 16, stream)
    t("cuMemcpyDtoHAsync_v2", here, at(a), 16, stream)
    t("cuMemcpyDtoDAsync_v2", at(a), at(b), 16, stream)
    t("cuMemcpyDtoDAsync_v2", at(a), at(b), 16, None)
    t("cuMemcpyDtoDAsync_v2", at(a), at(b), 16, 1)
    t("cuMemcpyDtoDAsync_v2", at(a), at(b), 16, 2)
    t("cuMemcpyPeer", at(a), t.context, at(b), t.context, 16)
    t("cuMemcpyPeer", at(a), None, at(b), None, 16)
    t("cuMemcpyPeer", at(a), t.context, at(b), t.context, 4097)
    t("cuMemcpyPeerAsync", at(a), t.context, at(b), t.context, 16, stream)
    t("cuStreamSynchronize", stream)
    t("cuMemFree_v2", at(b))
    t("cuMemcpyDtoD_v2", at(a), at(b), 16, about="freed")
    t("cuMemcpyDtoH_v2", here, at(b), 16, about="freed")


def neighbours(t: Calls) -> None:
    """Copies and fills that begin in one allocation and end in another one."""
    t.begin()
    first, second = N(), N()
    t("cuMemAlloc_v2", ct.byref(first), 2 << 20)
    t("cuMemAlloc_v2", ct.byref(second), 2 << 20)
    low = min(first.value, second.value)
    own = ct.create_string_buffer(4 << 20)
    t("cuMemcpyDtoH_v2", own, at(low), 4 << 20, about="both")
    t("cuMemsetD8_v2", at(low), 1, 4 << 20, about="both")


def fills(t: Calls) -> None:
    """Fills: widths, alignment, pitches, ends."""
    t.begin()
    a, stream = t.memory(4096), t.stream()
    own, pinned, unified = ct.create_string_buffer(4096), P(), N()
    t.do("cuMemAllocHost_v2", ct.byref(pinned), 4096)
    t.do("cuMemAllocManaged", ct.byref(unified), 4096, 1)
    for name, width in (("cuMemsetD8", 1), ("cuMemsetD16", 2), ("cuMemsetD32", 4)):
        full = 4096 // width
        for to, count in (
            (a, 0),
            (a, 1),
            (a, full),
            (a, full + 1),
            (a + 4096, 1),
            (a + 4096, 0),
            (0, 1),
            (0, 0),
            (0x1000, 4),
        ):
            t(f"{name}_v2", at(to), 0x5A, count)
            t(f"{name}Async", at(to), 0x5A, count, stream)
        for offset in (1, 2, 3):
            t(f"{name}_v2", at(a + offset), 0x5A, 4, about=f"+{offset}")
        t(f"{name}_v2", P(ct.addressof(own)), 1, 4, about="the host's")
        t(f"{name}_v2", pinned, 1, 4, about="pinned")
        t(f"{name}_v2", unified, 1, 4, about="managed")
    for name, width in (("cuMemsetD2D8", 1), ("cuMemsetD2D16", 2), ("cuMemsetD2D32", 4)):
        for pitch, columns, rows in (
            (64, 64 // width, 64),
            (64, 64 // width, 65),
            (64, 64 // width + 1, 2),
            (63, 4, 4),
            (0, 4, 4),
            (0, 4, 1),
            (0, 0, 0),
            (64, 0, 4),
            (64, 4, 0),
            (62, 4, 4),
            (1 << 62, 4, 4),
            (64, 1 << 62, 1),
            (4096, 4, 1),
            (8192, 4, 2),
        ):
            t(f"{name}_v2", at(a), pitch, 1, columns, rows)
            t(f"{name}Async", at(a), pitch, 1, columns, rows, stream)
    t("cuStreamSynchronize", stream)
    t("cuMemsetD8Async", at(a), 1, 16, P(0), about="the default stream")
    t("cuMemsetD32_v2", at(a), 0x01020304, 4)
    t("cuMemsetD16_v2", at(a + 16), 0x0506, 4)
    t.told("words", t.words(a, 6))


_BOX2: Final = "<QQI4xQQQQQQI4xQQQQQQ"


def box2(t: Calls, name: str, about: str, *tail: Any, **facts: int) -> None:
    """A copy in two dimensions, of fields by name."""
    order = ("sx", "sy", "st", "sh", "sd", "sa", "sp", "dx", "dy", "dt", "dh", "dd", "da", "dp", "w", "h")
    t(name, bytes_of(_BOX2, *(facts.get(one, 0) for one in order)), *tail, about=about)


def boxes(t: Calls) -> None:
    """Copies in two and three dimensions: pitches, kinds, ends."""
    t.begin()
    a, b, stream = t.memory(4096), t.memory(4096), t.stream()
    own = ct.create_string_buffer(8192)
    here = ct.addressof(own)
    good: dict[str, int] = {"st": 1, "sh": here, "sp": 64, "dt": 2, "dd": a, "dp": 64, "w": 32, "h": 8}
    changes: dict[str, dict[str, int]] = {
        "as it should be": {},
        "no width": {"w": 0},
        "no height": {"h": 0},
        "width over the source's pitch": {"sp": 31},
        "width over the target's pitch": {"dp": 31},
        "no pitches": {"sp": 0, "dp": 0},
        "pitch of the source 0": {"sp": 0},
        "x beyond": {"dx": 40},
        "x and width to the pitch": {"dx": 32},
        "too many rows": {"h": 65},
        "last row": {"h": 64},
        "y beyond": {"dy": 60},
        "no source": {"sh": 0},
        "no target": {"dd": 0},
        "kind 0": {"st": 0},
        "kind 5": {"dt": 5},
        "unified": {"st": 4, "sd": b, "dt": 4},
        "unified, host": {"st": 4, "sd": here},
        "array without one": {"dt": 3},
        "huge pitch": {"dp": 1 << 40},
        "pitch at the limit": {"dp": 2**31 - 1, "h": 1},
        "pitch over it": {"dp": 2**31, "h": 1},
        "device to device": {"st": 2, "sd": b},
        "host to host": {"dt": 1, "dh": here + 4096},
    }
    for about, change in changes.items():
        box2(t, "cuMemcpy2D_v2", about, **(good | change))
        box2(t, "cuMemcpy2DUnaligned_v2", about, **(good | change))
        box2(t, "cuMemcpy2DAsync_v2", about, stream, **(good | change))
    t("cuMemcpy2D_v2", None)
    t("cuMemcpy3D_v2", None)
    t("cuStreamSynchronize", stream)
    form = "<QQQQI4xQQQQQQQQQQI4xQQQQQQQQQ"
    order = (
        "sx",
        "sy",
        "sz",
        "sl",
        "st",
        "sh",
        "sd",
        "sa",
        "s0",
        "sp",
        "sv",
        "dx",
        "dy",
        "dz",
        "dl",
        "dt",
        "dh",
        "dd",
        "da",
        "d0",
        "dp",
        "dv",
        "w",
        "h",
        "d",
    )
    solid = {**good, "h": 4, "d": 4, "sv": 4, "dv": 4}
    deeper: dict[str, dict[str, int]] = {
        "as it should be": {},
        "no depth": {"d": 0},
        "no heights": {"sv": 0, "dv": 0},
        "height under the box's": {"dv": 3},
        "too deep": {"d": 17},
        "as deep as it is": {"d": 16},
        "z beyond": {"dz": 13},
        "level": {"sl": 1},
        "reserved": {"s0": 1},
        "y over the height": {"dy": 2},
        "width over the pitch": {"dp": 31},
        "no pitches": {"sp": 0, "dp": 0, "sv": 0, "dv": 0},
    }
    for about, change in deeper.items():
        facts = solid | change
        t("cuMemcpy3D_v2", bytes_of(form, *(facts.get(one, 0) for one in order)), about=about)
        t("cuMemcpy3DAsync_v2", bytes_of(form, *(facts.get(one, 0) for one in order)), stream, about=about)
    t("cuStreamSynchronize", stream)


def pools(t: Calls) -> None:
    """Memory pools, their attributes, allocation in the order of a stream."""
    t.begin()
    default, current, mine, value, made = P(), P(), P(), N(), N()
    t("cuDeviceGetDefaultMemPool", ct.byref(default), 0)
    t("cuDeviceGetMemPool", ct.byref(current), 0, gives=lambda: current.value == default.value)
    t("cuDeviceGetDefaultMemPool", None, 0)
    t("cuDeviceGetDefaultMemPool", ct.byref(current), 1)
    for attribute in (*range(10), 11, 100, -1):
        t("cuMemPoolGetAttribute", default, attribute, ct.byref(value), gives=value)
        value.value = 0
        t("cuMemPoolSetAttribute", default, attribute, ct.byref(value))
    for attribute in (1, 4, 6, 8):
        value.value = 5
        t("cuMemPoolSetAttribute", default, attribute, ct.byref(value), about="5")
        t("cuMemPoolGetAttribute", default, attribute, ct.byref(value), gives=value)
    t("cuMemPoolDestroy", default)
    t("cuMemPoolDestroy", None)
    props = "<IIiiQQH54x"
    for about, fields in {
        "right": (1, 0, 1, 0, 0, 0, 0),
        "no kind": (0, 0, 1, 0, 0, 0, 0),
        "kind 9": (9, 0, 1, 0, 0, 0, 0),
        "another device": (1, 0, 1, 5, 0, 0, 0),
        "nowhere": (1, 0, 0, 0, 0, 0, 0),
        "the host": (1, 0, 2, 0, 0, 0, 0),
        "a node of the host": (1, 0, 3, 0, 0, 0, 0),
        "to a file": (1, 1, 1, 0, 0, 0, 0),
        "to a handle of another system": (1, 2, 1, 0, 0, 0, 0),
        "limited": (1, 0, 1, 0, 0, 1 << 20, 0),
        "usage": (1, 0, 1, 0, 0, 0, 1),
        "managed": (2, 0, 1, 0, 0, 0, 0),
    }.items():
        if t("cuMemPoolCreate", ct.byref(mine), bytes_of(props, *fields), about=about) == 0:
            t("cuMemPoolDestroy", mine)
    t("cuMemPoolCreate", None, bytes_of(props, 1, 0, 1, 0, 0, 0, 0))
    t("cuMemPoolCreate", ct.byref(mine), None)
    t("cuMemPoolCreate", ct.byref(mine), bytes_of(props, 1, 0, 1, 0, 0, 0, 0))
    for attribute in range(1, 9):
        t("cuMemPoolGetAttribute", mine, attribute, ct.byref(value), gives=value)
    stream = t.stream()
    t("cuMemAllocFromPoolAsync", ct.byref(made), 100, mine, stream)
    t("cuStreamSynchronize", stream)
    for attribute in (5, 6, 7, 8):
        t("cuMemPoolGetAttribute", mine, attribute, ct.byref(value), gives=value, about="100 bytes in use")
    size, start = N(), N()
    t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), made, gives=size)
    t("cuMemFreeAsync", at(made.value + 256), stream)
    t("cuMemFreeAsync", 0, stream)
    t("cuMemFreeAsync", made, stream)
    t("cuStreamSynchronize", stream)
    t("cuMemFreeAsync", made, stream, about="twice")
    t("cuStreamSynchronize", stream)
    for attribute in (5, 6, 7, 8):
        t("cuMemPoolGetAttribute", mine, attribute, ct.byref(value), gives=value, about="freed")
    t("cuMemAllocFromPoolAsync", ct.byref(made), 0, mine, stream)
    t("cuMemAllocFromPoolAsync", ct.byref(made), 1 << 50, mine, stream)
    t("cuMemAllocFromPoolAsync", None, 16, mine, stream)
    t("cuMemAllocFromPoolAsync", ct.byref(made), 16, None, stream)
    t("cuMemAllocAsync", ct.byref(made), 0, stream)
    t("cuMemAllocAsync", None, 16, stream)
    t("cuMemAllocAsync", ct.byref(made), 1 << 50, stream)
    t("cuMemAllocAsync", ct.byref(made), 300, stream)
    t("cuMemFree_v2", made, about="of a pool")
    t("cuMemAllocAsync", ct.byref(made), 300, None)
    t("cuMemFreeAsync", made, None)
    plain = t.memory(64)
    t("cuMemFreeAsync", at(plain), stream, about="not of a pool")
    t("cuMemFree_v2", at(plain), about="again")
    access = "<iii"
    for where, flags in (((1, 0), 3), ((1, 0), 1), ((1, 0), 0), ((1, 5), 3), ((0, 0), 3), ((2, 0), 3), ((3, 0), 3)):
        t("cuMemPoolSetAccess", mine, bytes_of(access, *where, flags), 1, about=f"{where} {flags}")
        t(
            "cuMemPoolGetAccess",
            ct.byref(current),
            mine,
            location(*where),
            gives=lambda: ct.c_int.from_buffer(current).value,
            about=f"{where}",
        )
    t("cuMemPoolSetAccess", mine, None, 0)
    t("cuMemPoolSetAccess", None, bytes_of(access, 1, 0, 3), 1)
    t("cuMemPoolGetAccess", None, mine, location(1, 0))
    t("cuMemPoolTrimTo", mine, 0)
    t("cuMemPoolTrimTo", mine, 1 << 40)
    t("cuMemPoolTrimTo", None, 0)
    t("cuDeviceSetMemPool", 0, mine)
    t("cuDeviceGetMemPool", ct.byref(current), 0, gives=lambda: current.value == mine.value)
    t("cuDeviceSetMemPool", 0, None)
    t("cuDeviceSetMemPool", 1, mine)
    t("cuMemAllocAsync", ct.byref(made), 300, stream)
    t("cuMemPoolDestroy", mine, about="in use")
    t("cuDeviceGetMemPool", ct.byref(current), 0, gives=lambda: current.value == default.value)
    t("cuMemFreeAsync", made, stream, about="of a destroyed pool")
    t("cuStreamSynchronize", stream)
    for where in ((0, 0), (1, 0), (1, 5), (2, 0), (3, 0)):
        for kind in (0, 1, 2, 3):
            t("cuMemGetDefaultMemPool", ct.byref(current), location(*where), kind, about=str(where))
            t("cuMemGetMemPool", ct.byref(current), location(*where), kind, about=str(where))


def exported(t: Calls) -> None:
    """Pools and allocations that go to other processes, as far as one process sees it."""
    t.begin()
    pool, again, handle, file = P(), P(), ct.create_string_buffer(64), I(-1)
    props = "<IIiiQQH54x"
    t("cuMemPoolCreate", ct.byref(pool), bytes_of(props, 1, 1, 1, 0, 0, 0, 0))
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 0, gives=lambda: file.value >= 0)
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 2, 0)
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 0, 0)
    t("cuMemPoolExportToShareableHandle", ct.byref(file), pool, 1, 1)
    t("cuMemPoolExportToShareableHandle", None, pool, 1, 0)
    plain = P()
    t("cuDeviceGetDefaultMemPool", ct.byref(plain), 0)
    t("cuMemPoolExportToShareableHandle", ct.byref(file), plain, 1, 0, about="the default pool")
    made, copy, data = N(), N(), ct.create_string_buffer(64)
    t("cuMemAllocFromPoolAsync", ct.byref(made), 4096, pool, None)
    t("cuStreamSynchronize", None)
    t("cuMemPoolExportPointer", data, made)
    t("cuMemPoolExportPointer", data, at(t.memory(64)), about="not of a pool")
    t("cuMemPoolExportPointer", None, made)
    t("cuMemPoolImportFromShareableHandle", ct.byref(again), P(file.value), 1, 0, about="in the same process")
    t("cuMemPoolImportFromShareableHandle", ct.byref(again), P(-1 & (1 << 64) - 1), 1, 0, about="no file")
    t("cuMemPoolImportPointer", ct.byref(copy), pool, data, about="its own pool")
    device = t.memory(4096)
    t("cuIpcGetMemHandle", handle, at(device))
    t("cuIpcGetMemHandle", handle, at(device + 16), about="its middle")
    t("cuIpcGetMemHandle", handle, 0)
    t("cuIpcGetMemHandle", None, at(device))
    t("cuIpcGetMemHandle", handle, made, about="of a pool")
    pinned, unified = P(), N()
    t.do("cuMemAllocHost_v2", ct.byref(pinned), 4096)
    t.do("cuMemAllocManaged", ct.byref(unified), 4096, 1)
    t("cuIpcGetMemHandle", handle, pinned, about="pinned")
    t("cuIpcGetMemHandle", handle, unified, about="managed")
    t("cuIpcCloseMemHandle", at(device))
    t("cuIpcCloseMemHandle", 0)

    class Handle(ct.Structure):
        _fields_ = (("bytes", ct.c_char * 64),)

    t("cuIpcGetMemHandle", handle, at(device))
    t("cuIpcOpenMemHandle_v2", ct.byref(copy), Handle.from_buffer_copy(handle), 1, about="in the same process")
    t("cuIpcOpenMemHandle_v2", ct.byref(copy), Handle.from_buffer_copy(handle), 0, about="in the same process")
    t("cuIpcOpenMemHandle_v2", ct.byref(copy), Handle(), 1, about="zeros")
    for flags in (0, 2, 6):
        event = t.event(flags)
        t("cuIpcGetEventHandle", handle, event, about=f"flags {flags}")
    t("cuIpcGetEventHandle", None, t.event(6))
    t("cuIpcGetEventHandle", handle, None)
    t("cuIpcGetEventHandle", handle, t.event(6))
    t("cuIpcOpenEventHandle", ct.byref(copy), Handle.from_buffer_copy(handle), about="in the same process")
    t("cuIpcOpenEventHandle", ct.byref(copy), Handle(), about="zeros")


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one
    for one in (allocation, managed, host, pointers, copies, neighbours, fills, boxes, pools, exported)
}
