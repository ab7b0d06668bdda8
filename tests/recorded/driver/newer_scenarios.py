"""Scenarios: virtual memory, resources and green contexts, copies in batches, logs."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import I, N, P, at
from recorded.driver.memory_scenarios import Location, bytes_of, location

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

PROPERTIES: Final = "<IIiiQBBH4x"
ACCESS: Final = "<iii"
UNIT: Final = 2 << 20


def properties(kind: int = 1, handles: int = 0, where: tuple[int, int] = (1, 0), usage: int = 0) -> Any:
    """`CUmemAllocationProp`."""
    return bytes_of(PROPERTIES, kind, handles, *where, 0, 0, 0, usage)


def access(flags: int, where: tuple[int, int] = (1, 0)) -> Any:
    """`CUmemAccessDesc`."""
    return bytes_of(ACCESS, *where, flags)


def virtual(t: Calls) -> None:
    """Reserve, create, map, allow, unmap, in right and wrong orders."""
    t.begin()
    size, start, handle = N(), N(), N()
    for option in (0, 1, 2):
        t("cuMemGetAllocationGranularity", ct.byref(size), properties(), option, gives=size)
    for about, props in {
        "no kind": properties(0),
        "kind 9": properties(9),
        "another device": properties(where=(1, 5)),
        "nowhere": properties(where=(0, 0)),
        "the host": properties(where=(2, 0)),
        "a node of the host": properties(where=(3, 0)),
        "to a file": properties(handles=1),
        "handle 99": properties(handles=99),
        "usage": properties(usage=1),
        "managed": properties(2),
    }.items():
        t("cuMemGetAllocationGranularity", ct.byref(size), props, 0, gives=size, about=about)
        if t("cuMemCreate", ct.byref(handle), UNIT, props, 0, about=about) == 0:
            t("cuMemRelease", handle)
    t("cuMemGetAllocationGranularity", None, properties(), 0)
    t("cuMemGetAllocationGranularity", ct.byref(size), None, 0)
    for wanted, alignment, flags in (
        (0, 0, 0),
        (1, 0, 0),
        (4096, 0, 0),
        (UNIT, 0, 0),
        (UNIT, 3, 0),
        (UNIT, 4096, 0),
        (UNIT, UNIT, 0),
        (UNIT, 4 * UNIT, 0),
        (UNIT, 0, 1),
        (3 * UNIT, 0, 0),
        (1 << 62, 0, 0),
    ):
        if (
            t("cuMemAddressReserve", ct.byref(start), wanted, alignment, 0, flags, gives=lambda: start.value % UNIT)
            == 0
        ):
            t("cuMemAddressFree", start, wanted)
    t("cuMemAddressReserve", None, UNIT, 0, 0, 0)
    t("cuMemAddressFree", 0, UNIT)
    for wanted in (0, 1, 4096, UNIT, UNIT + 1, 1 << 50):
        if t("cuMemCreate", ct.byref(handle), wanted, properties(), 0) == 0:
            t("cuMemRelease", handle)
    t("cuMemCreate", ct.byref(handle), UNIT, properties(), 1)
    t("cuMemCreate", None, UNIT, properties(), 0)
    t("cuMemCreate", ct.byref(handle), UNIT, None, 0)
    t("cuMemRelease", 0)
    t("cuMemAddressReserve", ct.byref(start), 4 * UNIT, 0, 0, 0)
    t("cuMemCreate", ct.byref(handle), 2 * UNIT, properties(), 0)
    base = start.value
    t("cuMemsetD8_v2", at(base), 1, 64, about="reserved only")
    t("cuMemGetAddressRange_v2", ct.byref(N()), ct.byref(size), at(base), about="reserved only")
    t("cuPointerGetAttribute", ct.byref(size), 13, at(base), about="reserved only")
    t("cuMemSetAccess", at(base), 2 * UNIT, access(3), 1, about="not mapped")
    t("cuMemUnmap", at(base), 2 * UNIT, about="not mapped")
    for about, to, wide, offset, flags in (
        ("half", base, UNIT, 0, 0),
        ("an offset", base, UNIT, UNIT, 0),
        ("not a whole", base, 4096, 0, 0),
        ("misplaced", base + 4096, 2 * UNIT, 0, 0),
        ("flags", base, 2 * UNIT, 0, 1),
        ("nothing", base, 0, 0, 0),
        ("too much", base, 3 * UNIT, 0, 0),
        ("beyond the range", base + 3 * UNIT, 2 * UNIT, 0, 0),
        ("nowhere", 0, 2 * UNIT, 0, 0),
    ):
        if t("cuMemMap", at(to), wide, offset, handle, flags, about=about) == 0:
            t("cuMemUnmap", at(to), wide)
    t("cuMemMap", at(base), 2 * UNIT, 0, 0, 0, about="no handle")
    t("cuMemMap", at(base), 2 * UNIT, 0, handle, 0)
    t("cuMemMap", at(base), 2 * UNIT, 0, handle, 0, about="twice")
    t("cuMemMap", at(base + UNIT), 2 * UNIT, 0, handle, 0, about="overlapping")
    flags = N()
    t("cuMemGetAccess", ct.byref(flags), location(1, 0), at(base), gives=flags)
    t("cuMemsetD8_v2", at(base), 1, 64, about="mapped without access")
    for about, desc, count in (
        ("read", access(1), 1),
        ("read and write", access(3), 1),
        ("flags 2", access(2), 1),
        ("flags 7", access(7), 1),
        ("another device", access(3, (1, 5)), 1),
        ("the host", access(3, (2, 0)), 1),
        ("nothing", None, 0),
        ("nothing, one", None, 1),
    ):
        t("cuMemSetAccess", at(base), 2 * UNIT, desc, count, about=about)
    t("cuMemSetAccess", at(base), UNIT, access(3), 1, about="half")
    t("cuMemSetAccess", at(base), 4096, access(3), 1, about="not a whole")
    t("cuMemSetAccess", at(base), 4 * UNIT, access(3), 1, about="what is not mapped, too")
    t("cuMemSetAccess", at(base), 2 * UNIT, access(3), 1)
    t("cuMemGetAccess", ct.byref(flags), location(1, 0), at(base), gives=flags)
    t("cuMemGetAccess", ct.byref(flags), location(1, 5), at(base), gives=flags)
    t("cuMemGetAccess", None, location(1, 0), at(base))
    t("cuMemsetD8_v2", at(base), 1, 2 * UNIT)
    t("cuMemsetD8_v2", at(base), 1, 2 * UNIT + 1)
    found, whole = N(), N()
    t(
        "cuMemGetAddressRange_v2",
        ct.byref(found),
        ct.byref(whole),
        at(base + 5),
        gives=(lambda: found.value - base, whole),
    )
    for attribute, width in {2: 4, 3: 8, 8: 1, 9: 4, 10: 1, 11: 8, 12: 8, 13: 1, 14: 8, 16: 4, 17: 8, 20: 1}.items():
        data = ct.create_string_buffer(16)
        t(
            "cuPointerGetAttribute",
            data,
            attribute,
            at(base + 5),
            about="mapped",
            gives=lambda d=data, w=width: (
                int.from_bytes(d.raw[:w], "little") - (base if int.from_bytes(d.raw[:w], "little") > 1 << 30 else 0)
            ),
        )
    again = N()
    t("cuMemRetainAllocationHandle", ct.byref(again), P(base + UNIT + 5), gives=lambda: again.value == handle.value)
    t("cuMemRetainAllocationHandle", ct.byref(again), P(t.memory(64)), about="plain memory")
    t("cuMemRetainAllocationHandle", None, P(base))
    told = ct.create_string_buffer(64)
    t(
        "cuMemGetAllocationPropertiesFromHandle",
        told,
        handle,
        gives=lambda: list(struct.unpack_from(PROPERTIES, told.raw)),
    )
    t("cuMemGetAllocationPropertiesFromHandle", None, handle)
    t("cuMemGetAllocationPropertiesFromHandle", told, 0)
    file = I(-1)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 1, 0, about="made for no export")
    t("cuMemFree_v2", at(base), about="mapped")
    t("cuMemAddressFree", at(base), 4 * UNIT, about="mapped")
    t("cuMemRelease", handle, about="mapped")
    t("cuMemsetD8_v2", at(base), 2, 64, about="released, still mapped")
    t("cuMemUnmap", at(base), UNIT, about="half")
    t("cuMemUnmap", at(base + 4096), UNIT)
    t("cuMemUnmap", at(base), 2 * UNIT)
    t("cuMemUnmap", at(base), 2 * UNIT, about="twice")
    t("cuMemsetD8_v2", at(base), 2, 64, about="unmapped")
    t("cuMemAddressFree", at(base), 2 * UNIT, about="half")
    t("cuMemAddressFree", at(base + UNIT), UNIT)
    t("cuMemAddressFree", at(base), 4 * UNIT)
    t("cuMemAddressFree", at(base), 4 * UNIT, about="twice")
    t("cuMemRelease", handle, about="released")


def two_places(t: Calls) -> None:
    """One handle at two places, two handles side by side, a copy across, a kernel over both."""
    t.begin()
    start, first, second = N(), N(), N()
    t("cuMemAddressReserve", ct.byref(start), 4 * UNIT, 0, 0, 0)
    base = start.value
    t("cuMemCreate", ct.byref(first), UNIT, properties(), 0)
    t("cuMemCreate", ct.byref(second), UNIT, properties(), 0)
    t("cuMemMap", at(base), UNIT, 0, first, 0)
    t("cuMemMap", at(base + UNIT), UNIT, 0, second, 0)
    t("cuMemMap", at(base + 2 * UNIT), UNIT, 0, first, 0, about="at a second place")
    t("cuMemSetAccess", at(base), 3 * UNIT, access(3), 1)
    t("cuMemsetD8_v2", at(base), 1, 2 * UNIT, about="across two")
    t("cuMemsetD32_v2", at(base), 0x12345678, 4)
    t.told("words at the second place", t.words(base + 2 * UNIT, 2))
    t("cuMemsetD32_v2", at(base + UNIT - 8), 0, 4)
    found, whole = N(), N()
    t(
        "cuMemGetAddressRange_v2",
        ct.byref(found),
        ct.byref(whole),
        at(base + UNIT + 5),
        gives=(lambda: found.value - base, whole),
    )
    kernel = t.function(b"fill")
    to = N(base + UNIT - 8)
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, t.pointers(to, ct.c_uint32(4)), None)
    t("cuCtxSynchronize")
    t.told("words across", t.words(base + UNIT - 8, 4))
    t("cuMemUnmap", at(base), 3 * UNIT, about="all three")
    t("cuMemRelease", first)
    t("cuMemRelease", second)
    t("cuMemAddressFree", start, 4 * UNIT)


def unmapped_kernel(t: Calls) -> None:
    """A kernel that writes where nothing is mapped."""
    t.begin()
    start, handle = N(), N()
    t("cuMemAddressReserve", ct.byref(start), 2 * UNIT, 0, 0, 0)
    t("cuMemCreate", ct.byref(handle), UNIT, properties(), 0)
    t("cuMemMap", start, UNIT, 0, handle, 0)
    t("cuMemSetAccess", start, UNIT, access(3), 1)
    to, kernel = N(start.value + UNIT), t.function(b"fill")
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, t.pointers(to, ct.c_uint32(4)), None)
    t("cuCtxSynchronize")


def files(t: Calls) -> None:
    """Handles that go through a file."""
    t.begin()
    handle, again, file, start = N(), N(), I(-1), N()
    t("cuMemCreate", ct.byref(handle), UNIT, properties(handles=1), 0)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 1, 0, gives=lambda: file.value >= 0)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 2, 0)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 0, 0)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 1, 1)
    t("cuMemExportToShareableHandle", None, handle, 1, 0)
    t("cuMemExportToShareableHandle", ct.byref(file), 0, 1, 0)
    t("cuMemExportToShareableHandle", ct.byref(file), handle, 1, 0)
    t("cuMemImportFromShareableHandle", ct.byref(again), P(file.value), 1)
    t("cuMemImportFromShareableHandle", ct.byref(again), P((1 << 64) - 1), 1, about="no file")
    t("cuMemImportFromShareableHandle", ct.byref(again), P(file.value), 9)
    t("cuMemImportFromShareableHandle", None, P(file.value), 1)
    t("cuMemImportFromShareableHandle", ct.byref(again), P(file.value), 1)
    t("cuMemAddressReserve", ct.byref(start), 2 * UNIT, 0, 0, 0)
    base = start.value
    t("cuMemMap", at(base), UNIT, 0, handle, 0)
    t("cuMemMap", at(base + UNIT), UNIT, 0, again, 0)
    t("cuMemSetAccess", at(base), 2 * UNIT, access(3), 1)
    t("cuMemsetD32_v2", at(base), 0x1234, 4)
    t.told("words through the import", t.words(base + UNIT, 2))


def _resource(data: Any) -> tuple[int, int]:
    """The kind and the multiprocessors of a `CUdevResource`."""
    return struct.unpack_from("<i", data.raw)[0], struct.unpack_from("<I", data.raw, 96)[0]


def green(t: Calls) -> None:
    """Resources, their parts, green contexts."""
    t.begin()
    whole, parts, rest, count = (
        ct.create_string_buffer(144),
        ct.create_string_buffer(144 * 16),
        ct.create_string_buffer(144),
        ct.c_uint(),
    )
    for kind in (0, 1, 2, 99):
        t("cuDeviceGetDevResource", 0, whole, kind)
        t("cuCtxGetDevResource", t.context, whole, kind)
    t("cuDeviceGetDevResource", 5, whole, 1)
    t("cuDeviceGetDevResource", 0, None, 1)
    t("cuDeviceGetDevResource", 0, whole, 1, gives=lambda: _resource(whole)[0])
    all_ = _resource(whole)[1]
    for wanted in (0, 1, 2, 8, 9):
        for groups in (0, 1, 2):
            count.value = groups
            t(
                "cuDevSmResourceSplitByCount",
                parts,
                ct.byref(count),
                whole,
                rest,
                0,
                wanted,
                gives=(lambda: count.value, lambda: _resource(parts)[1]),
                about=f"{groups} groups of at least {wanted}",
            )
    count.value = 1
    t("cuDevSmResourceSplitByCount", parts, ct.byref(count), whole, rest, 0, N(all_ + 8), about="more than there are")
    count.value = 1
    t("cuDevSmResourceSplitByCount", parts, ct.byref(count), whole, rest, 7, 8)
    t("cuDevSmResourceSplitByCount", parts, None, whole, rest, 0, 8)
    count.value = 1
    t("cuDevSmResourceSplitByCount", parts, ct.byref(count), None, rest, 0, 8)
    t(
        "cuDevSmResourceSplitByCount",
        parts,
        ct.byref(count),
        ct.create_string_buffer(144),
        rest,
        0,
        8,
        about="no resource",
    )
    count.value = 1
    t("cuDevSmResourceSplitByCount", parts, ct.byref(count), whole, rest, 0, 8)
    desc, context, plain, current = P(), P(), P(), P()
    t("cuDevResourceGenerateDesc", ct.byref(desc), parts, 0)
    t("cuDevResourceGenerateDesc", ct.byref(desc), None, 1)
    t("cuDevResourceGenerateDesc", None, parts, 1)
    t("cuDevResourceGenerateDesc", ct.byref(desc), parts, 1)
    for flags in (0, 2, 3, 1):
        t("cuGreenCtxCreate", ct.byref(context), desc, 0, flags)
    t("cuGreenCtxCreate", ct.byref(context), desc, 5, 1)
    t("cuGreenCtxCreate", ct.byref(context), None, 0, 1)
    t("cuGreenCtxCreate", None, desc, 0, 1)
    t("cuCtxFromGreenCtx", ct.byref(plain), context, gives=lambda: plain.value != t.context.value)
    t("cuCtxFromGreenCtx", None, context)
    t("cuCtxFromGreenCtx", ct.byref(plain), None)
    told = ct.create_string_buffer(144)
    t("cuGreenCtxGetDevResource", context, told, 1, gives=lambda: _resource(told)[0])
    t("cuCtxGetDevResource", plain, told, 1, gives=lambda: _resource(told)[0])
    t("cuGreenCtxGetDevResource", context, told, 0)
    t("cuGreenCtxGetDevResource", None, told, 1)
    t("cuGreenCtxGetId", context, ct.byref(N()))
    stream, owner, event = P(), P(), t.event()
    for flags, priority in ((0, 0), (1, 0), (1, -3), (2, 0)):
        t("cuGreenCtxStreamCreate", ct.byref(stream), context, flags, priority)
    t("cuGreenCtxStreamCreate", ct.byref(stream), None, 1, 0)
    t("cuGreenCtxStreamCreate", None, context, 1, 0)
    t("cuGreenCtxStreamCreate", ct.byref(stream), context, 1, 0)
    t("cuStreamGetGreenCtx", stream, ct.byref(owner), gives=lambda: owner.value == context.value)
    t("cuStreamGetCtx", stream, ct.byref(owner), gives=lambda: owner.value == plain.value)
    green_owner = P()
    t(
        "cuStreamGetCtx_v2",
        stream,
        ct.byref(owner),
        ct.byref(green_owner),
        gives=(lambda: owner.value is None, lambda: green_owner.value == context.value),
    )
    t("cuStreamGetDevResource", stream, told, 1, gives=lambda: _resource(told)[0])
    kernel, a = t.function(b"fill"), t.memory(64)
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, t.pointers(N(a), ct.c_uint32(4)), None)
    t("cuStreamSynchronize", stream)
    t.told("words", t.words(a, 4))
    t("cuGreenCtxRecordEvent", context, event)
    t("cuGreenCtxWaitEvent", context, event)
    t("cuGreenCtxRecordEvent", None, event)
    t("cuGreenCtxRecordEvent", context, None)
    t("cuCtxSetCurrent", plain)
    t("cuCtxGetCurrent", ct.byref(current), gives=lambda: current.value == plain.value)
    t("cuMemAlloc_v2", ct.byref(N()), 64)
    t("cuCtxDestroy_v2", plain, about="of a green one")
    t("cuCtxSetCurrent", t.context)
    t("cuStreamDestroy_v2", stream)
    t("cuGreenCtxDestroy", None)
    t("cuGreenCtxDestroy", context)


def batches(t: Calls) -> None:
    """Copies and prefetches in batches."""
    t.begin()
    a, b, stream, failed = t.memory(4096), t.memory(4096), t.stream(), N()
    own, unified = ct.create_string_buffer(4096), N()
    t.do("cuMemAllocManaged", ct.byref(unified), 1 << 16, 1)
    attributes = "<iiiiiI"

    def batch(
        about: str,
        to: list[int],
        source: list[int],
        sizes: list[int],
        of: list[tuple[int, ...]],
        first: list[int],
        where: Any = stream,
        count: int | None = None,
    ) -> None:
        failed.value = 77
        number = len(to) if count is None else count
        packed = b"".join(struct.pack(attributes, *one) for one in of)
        kept = ct.create_string_buffer(packed, max(len(packed), 1))
        indices = (ct.c_size_t * max(len(first), 1))(*first)
        arrays = [(ct.c_uint64 * max(len(one), 1))(*one) for one in (to, source, sizes)]
        if t.has("cuMemcpyBatchAsync_v2"):
            t("cuMemcpyBatchAsync_v2", *arrays, number, kept, indices, len(of), where, about=about)
        else:
            t("cuMemcpyBatchAsync_v2", about=about)

    plain = (1, 0, 0, 0, 0, 0)
    t("cuMemsetD32_v2", at(a), 5, 16)
    batch("two", [b, b + 64], [a, a], [16, 16], [plain], [0])
    batch("host to device", [b], [ct.addressof(own)], [16], [plain], [0])
    batch("none", [], [], [], [plain], [0])
    batch("no attributes", [b], [a], [16], [], [])
    batch("first not 0", [b, b + 64], [a, a], [16, 16], [plain], [1])
    batch("two attributes", [b, b + 64], [a, a], [16, 16], [plain, (3, 0, 0, 0, 0, 0)], [0, 1])
    batch("not in order", [b, b + 64], [a, a], [16, 16], [plain, plain], [0, 0])
    batch("more attributes than copies", [b], [a], [16], [plain, plain], [0, 1])
    batch("order 0", [b], [a], [16], [(0, 0, 0, 0, 0, 0)], [0])
    batch("order 9", [b], [a], [16], [(9, 0, 0, 0, 0, 0)], [0])
    batch("flags", [b], [a], [16], [(1, 0, 0, 0, 0, 8)], [0])
    batch("no bytes", [b], [a], [0], [plain], [0])
    batch("beyond", [b], [a], [5000], [plain], [0])
    batch("nowhere", [0], [a], [16], [plain], [0])
    batch("the default stream", [b], [a], [16], [plain], [0], None)
    batch("the thread's stream", [b], [a], [16], [plain], [0], 2)
    t("cuStreamSynchronize", stream)
    t.told("words", t.words(b, 2), t.words(b + 64, 2))

    def solid(about: str, operations: list[bytes], where: Any = stream, flags: int = 0) -> None:
        packed = b"".join(operations)
        t(
            "cuMemcpy3DBatchAsync_v2",
            len(operations),
            ct.create_string_buffer(packed, max(len(packed), 1)),
            flags,
            where,
            about=about,
        )

    def operand(address: int, row: int = 0, height: int = 0, kind: int = 1, where: tuple[int, int] = (1, 0)) -> bytes:
        return struct.pack("<i4xQQQii", kind, address, row, height, *where)

    def operation(to: bytes, source: bytes, extent: tuple[int, int, int], order: int = 1, flags: int = 0) -> bytes:
        return source + to + struct.pack("<QQQiI", *extent, order, flags)

    solid("rows", [operation(operand(b, 64, 4), operand(a, 32, 4), (32, 4, 1))])
    solid("none", [])
    solid("kind 0", [operation(operand(b, kind=0), operand(a), (16, 1, 1))])
    solid("order 0", [operation(operand(b), operand(a), (16, 1, 1), 0)])
    solid("nothing", [operation(operand(b), operand(a), (0, 1, 1))])
    solid("a pitch too small", [operation(operand(b, 8, 4), operand(a, 32, 4), (32, 4, 1))])
    solid("beyond", [operation(operand(b), operand(a), (5000, 1, 1))])
    solid("nowhere", [operation(operand(0), operand(a), (16, 1, 1))])
    solid("flags", [operation(operand(b), operand(a), (16, 1, 1))], flags=1)
    solid("the default stream", [operation(operand(b), operand(a), (16, 1, 1))], None)
    t("cuStreamSynchronize", stream)
    t.told("words", t.words(b, 4))
    places, sizes, indices = (
        (ct.c_uint64 * 2)(unified.value, unified.value + 4096),
        (ct.c_size_t * 2)(4096, 4096),
        (ct.c_size_t * 2)(0, 1),
    )
    where = (Location * 2)(Location(1, 0), Location(1, 0))
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 1, 0, stream)
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 2, 0, stream)
    t("cuMemPrefetchBatchAsync", places, sizes, 0, where, indices, 1, 0, stream)
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 1, 1, stream)
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 0, 0, stream)
    t("cuMemPrefetchBatchAsync", None, sizes, 2, where, indices, 1, 0, stream)
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 1, 0, None)
    places[1] = a
    t("cuMemPrefetchBatchAsync", places, sizes, 2, where, indices, 1, 0, stream, about="memory of the device")
    places[1] = unified.value + 4096
    t("cuMemDiscardBatchAsync", places, sizes, 2, 0, stream)
    t("cuMemDiscardBatchAsync", places, sizes, 0, 0, stream)
    t("cuMemDiscardAndPrefetchBatchAsync", places, sizes, 2, where, indices, 1, 0, stream)
    t("cuStreamSynchronize", stream)


def logs(t: Calls) -> None:
    """What the driver writes down of errors."""
    t.begin()
    current, size, text = ct.c_uint(), N(100), ct.create_string_buffer(1000)
    t("cuLogsCurrent", ct.byref(current), 0)
    t("cuLogsCurrent", None, 0)
    t("cuLogsCurrent", ct.byref(current), 1)
    t("cuLogsDumpToMemory", None, text, ct.byref(size), 0)
    size.value = 0
    t("cuLogsDumpToMemory", None, text, ct.byref(size), 0)
    t("cuLogsDumpToMemory", None, text, None, 0)
    size.value = 1000
    t("cuLogsDumpToMemory", None, None, ct.byref(size), 0)
    t("cuLogsDumpToMemory", None, text, ct.byref(size), 1)
    t("cuLogsDumpToFile", None, b"/nowhere/at/all", 0)
    t("cuLogsDumpToFile", None, None, 0)


def capture_info(t: Calls) -> None:
    """Recorded streams whose order is changed by hand, and recording into a graph that is there."""
    t.begin()
    stream, graph, node, other, status, count, found = t.stream(), t.graph(), P(), P(), I(), N(), P()
    kernel = t.function(b"empty")
    t.do("cuGraphAddEmptyNode", ct.byref(node), graph, None, 0)
    t("cuStreamBeginCaptureToGraph", stream, None, None, None, 0, 0)
    t("cuStreamBeginCaptureToGraph", stream, graph, None, None, 1, 0)
    t("cuStreamBeginCaptureToGraph", stream, graph, (P * 1)(5), None, 1, 7)
    t("cuStreamBeginCaptureToGraph", stream, graph, (P * 1)(node.value), None, 1, 0)
    last = P()
    t(
        "cuStreamGetCaptureInfo_v3",
        stream,
        ct.byref(status),
        None,
        ct.byref(found),
        ct.byref(last),
        None,
        ct.byref(count),
        gives=(status, count, lambda: found.value == graph.value),
    )
    t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    t("cuGraphAddEmptyNode", ct.byref(other), graph, None, 0, about="while it is recorded into")
    t("cuStreamUpdateCaptureDependencies_v2", stream, (P * 1)(other.value), None, 1, 0)
    t(
        "cuStreamGetCaptureInfo_v3",
        stream,
        ct.byref(status),
        None,
        None,
        ct.byref(last),
        None,
        ct.byref(count),
        gives=count,
    )
    t("cuStreamUpdateCaptureDependencies_v2", stream, (P * 1)(other.value), None, 1, 1)
    t(
        "cuStreamGetCaptureInfo_v3",
        stream,
        ct.byref(status),
        None,
        None,
        ct.byref(last),
        None,
        ct.byref(count),
        gives=count,
    )
    t("cuStreamUpdateCaptureDependencies_v2", stream, None, None, 1, 1)
    t("cuStreamUpdateCaptureDependencies_v2", stream, (P * 1)(other.value), None, 1, 2)
    t("cuStreamUpdateCaptureDependencies_v2", stream, None, None, 0, 1)
    t("cuGraphInstantiateWithFlags", ct.byref(P()), graph, 0, about="while it is recorded into")
    t("cuStreamEndCapture", stream, ct.byref(found), gives=lambda: found.value == graph.value)
    t("cuGraphGetNodes", graph, None, ct.byref(count), gives=count)


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one for one in (virtual, two_places, unmapped_kernel, files, green, batches, logs, capture_info)
}
