"""Scenarios: graphs that allocate and free, by hand and recorded; nodes of values; attributes of kernels' nodes."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import I, N, P, at
from recorded.driver.graph_scenarios import FILL, copy_node, kernel_node
from recorded.driver.memory_scenarios import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

_ALLOCATION: Final = "<IIiiQQH54xQQQQ"
_OPERATION: Final = "<i4xQQI4xQ8x"
_BATCH: Final = "<QI4xQI4x"
MIB: Final = 1 << 20
AUTO_FREE: Final = 1
VALUE_BYTES: Final = 64


class Allocation:
    """`CUDA_MEM_ALLOC_NODE_PARAMS`, which a driver writes an address into."""

    def __init__(
        self, size: int, kind: int = 1, handles: int = 0, where: tuple[int, int] = (1, 0), **more: Any
    ) -> None:
        access = more.get("access", ())
        self.access = ct.create_string_buffer(
            b"".join(struct.pack("<iii", *one) for one in access), 12 * len(access) or 1
        )
        described = ct.addressof(self.access) if access else 0
        count = more.get("count", len(access))
        values = (kind, handles, *where, 0, more.get("most", 0), more.get("usage", 0), described, count, size, 0)
        self.room = ct.create_string_buffer(struct.pack(_ALLOCATION, *values), 120)

    @property
    def address(self) -> int:
        """What was given."""
        return struct.unpack(_ALLOCATION, self.room.raw)[-1]

    def told(self) -> list[int]:
        """All but addresses."""
        *values, access, count, size, _ = struct.unpack(_ALLOCATION, self.room.raw)
        return [*values, int(access != 0), count, size]


def _add(t: Calls, graph: P, name: str, *more: Any, after: P | None = None, about: str = "") -> P:
    node = P()
    before = (P * 1)(after.value) if after is not None else None
    t(f"cuGraphAdd{name}", ct.byref(node), graph, before, int(after is not None), *more, about=about)
    return node


def _fill(t: Calls, address: int, value: int, count: int = 16) -> tuple[Any, P]:
    return bytes_of(FILL, address, 0, value, 4, count, 1), t.context


def _used(t: Calls, about: str) -> None:
    value = N()
    for attribute in range(4):
        t("cuDeviceGetGraphMemAttribute", 0, attribute, ct.byref(value), gives=value, about=about)


def _made(t: Calls, graph: P, flags: int = 0, about: str = "") -> P:
    made = P()
    t("cuGraphInstantiateWithFlags", ct.byref(made), graph, flags, about=about)
    return made


def allocating(t: Calls) -> None:
    """What nodes that allocate and free tell of themselves, and what they may be asked for."""
    t.begin()
    graph, one = t.graph(), Allocation(1000)
    node = _add(t, graph, "MemAllocNode", one.room)
    told = Allocation(0)
    t("cuGraphMemAllocNodeGetParams", node, told.room, gives=(told.told, lambda: told.address == one.address))
    t("cuGraphMemAllocNodeGetParams", node, None)
    t("cuGraphMemAllocNodeGetParams", None, told.room)
    kind, freed = I(), N()
    t("cuGraphNodeGetType", node, ct.byref(kind), gives=kind)
    free = _add(t, graph, "MemFreeNode", at(one.address), after=node)
    t("cuGraphMemFreeNodeGetParams", free, ct.byref(freed), gives=lambda: freed.value == one.address)
    t("cuGraphMemFreeNodeGetParams", free, None)
    t("cuGraphMemFreeNodeGetParams", node, ct.byref(freed))
    t("cuGraphMemAllocNodeGetParams", free, told.room)
    t("cuGraphNodeGetType", free, ct.byref(kind), gives=kind)
    for about, wanted in {
        "for this device": Allocation(64, access=((1, 0, 3),)),
        "to be read": Allocation(64, access=((1, 0, 1),)),
        "for nobody": Allocation(64, access=((1, 0, 0),)),
        "for another device": Allocation(64, access=((1, 5, 3),)),
        "for the host": Allocation(64, access=((2, 0, 3),)),
        "for one who is not told": Allocation(64, count=1),
        "to a file": Allocation(64, handles=1),
        "of limited size": Allocation(64, most=MIB),
        "with a usage": Allocation(64, usage=1),
        "on the host": Allocation(64, where=(2, 0)),
        "on a node of the host": Allocation(64, where=(3, 0)),
        "nowhere": Allocation(64, where=(0, 0)),
        "managed": Allocation(64, kind=2),
        "of kind 9": Allocation(64, kind=9),
    }.items():
        other = t.graph()
        made = P()
        if t("cuGraphAddMemAllocNode", ct.byref(made), other, None, 0, wanted.room, about=about) == 0:
            t("cuGraphMemAllocNodeGetParams", made, told.room, gives=told.told, about=about)
    t("cuGraphAddMemAllocNode", None, graph, None, 0, Allocation(64).room)
    t("cuGraphAddMemAllocNode", ct.byref(node), graph, None, 0, None)
    t("cuGraphAddMemAllocNode", ct.byref(node), None, None, 0, Allocation(64).room)
    t("cuGraphAddMemAllocNode", ct.byref(node), graph, None, 1, Allocation(64).room)
    t("cuGraphAddMemFreeNode", None, graph, None, 0, at(one.address))
    t("cuGraphAddMemFreeNode", ct.byref(node), None, None, 0, at(one.address))
    t("cuGraphAddMemFreeNode", ct.byref(node), graph, None, 0, at(t.memory(64)), about="no graph's")
    middle = Allocation(4096)
    _add(t, graph, "MemAllocNode", middle.room)
    t("cuGraphAddMemFreeNode", ct.byref(node), graph, None, 0, at(middle.address + 256), about="its middle")
    for name in ("cuGraphNodeSetEnabled", "cuGraphNodeGetEnabled"):
        t(name, _made(t, graph), free, ct.byref(I()))


def allocated(t: Calls) -> None:
    """When memory of a graph is there, whose it is, and what it holds."""
    t.begin()
    graph, one, b = t.graph(), Allocation(4096), t.memory(4096)
    node = _add(t, graph, "MemAllocNode", one.room)
    last = _add(t, graph, "MemsetNode", *_fill(t, one.address, 7), after=node)
    kernel = t.function(b"fill")
    words = t.pointers(N(one.address + 64), ct.c_uint32(4))
    last = _add(t, graph, "KernelNode_v2", kernel_node(kernel, words, block=32), after=last)
    _add(t, graph, "MemcpyNode", copy_node(b, one.address, 96), t.context, after=last)

    def asked(about: str) -> None:
        start, size, data = N(), N(), ct.create_string_buffer(16)
        t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(size), at(one.address + 8), gives=size, about=about)
        for attribute, width in {2: 4, 8: 1, 9: 4, 10: 1, 12: 8, 13: 1, 14: 8, 16: 4}.items():

            def number(width: int = width) -> int:
                return int.from_bytes(data.raw[:width], "little")

            t("cuPointerGetAttribute", data, attribute, at(one.address), gives=number, about=about)
        t("cuPointerGetAttribute", data, 17, at(one.address), gives=lambda: data.raw[:8] != bytes(8), about=about)
        t("cuMemsetD8_v2", at(one.address), 1, 16, about=about)
        t("cuMemsetD8_v2", at(one.address), 1, 4097, about=about)

    asked("before it is made ready")
    _used(t, "before it is made ready")
    made = _made(t, graph)
    asked("before its launch")
    _used(t, "before its launch")
    t("cuGraphUpload", made, None)
    _used(t, "uploaded")
    t("cuGraphLaunch", made, None)
    t("cuCtxSynchronize")
    t.told("words", t.words(b, 1), t.words(b + 64, 5))
    asked("after its launch")
    _used(t, "after its launch")
    t("cuIpcGetMemHandle", ct.create_string_buffer(64), at(one.address))
    t("cuMemFree_v2", at(one.address + 8), about="its middle")
    t("cuMemFreeAsync", at(one.address), None)
    t("cuCtxSynchronize")
    asked("freed")
    _used(t, "freed")
    t("cuMemFree_v2", at(one.address), about="twice")
    t("cuGraphLaunch", made, None, about="again")
    t("cuGraphExecDestroy", made, about="while its memory is in use")
    asked("whose graph is gone")
    _used(t, "whose graph is gone")
    again = _made(t, graph, about="while its memory is in use")
    t("cuGraphLaunch", again, None, about="while its memory is in use")
    t("cuMemFree_v2", at(one.address), about="of a graph that is gone")
    t("cuGraphLaunch", again, None, about="freed")
    t("cuMemFree_v2", at(one.address))
    t("cuGraphDestroy", graph)
    t("cuGraphLaunch", again, None, about="whose graph is gone")
    t("cuMemsetD8_v2", at(one.address), 1, 16, about="whose graph is gone")
    t("cuMemFree_v2", at(one.address), about="whose graph is gone")
    t("cuGraphExecDestroy", again)
    _used(t, "at the end")
    t("cuDeviceGraphMemTrim", 0)
    _used(t, "trimmed")


def automatically(t: Calls) -> None:
    """Graphs whose memory is freed when they are launched again."""
    t.begin()
    graph, one, flags = t.graph(), Allocation(4096), N()
    node = _add(t, graph, "MemAllocNode", one.room)
    _add(t, graph, "MemsetNode", *_fill(t, one.address, 9), after=node)
    made = _made(t, graph, AUTO_FREE)
    t("cuGraphExecGetFlags", made, ct.byref(flags), gives=flags)
    for about in ("first", "second", "third"):
        t("cuGraphLaunch", made, None, about=about)
        t("cuCtxSynchronize")
        t.told(f"words, {about}", t.words(one.address, 2))
    t("cuMemFree_v2", at(one.address))
    t("cuMemFree_v2", at(one.address), about="twice")
    t("cuGraphLaunch", made, None, about="freed by hand")
    t("cuGraphExecDestroy", made, about="while its memory is in use")
    t("cuMemsetD8_v2", at(one.address), 1, 16, about="whose graph is gone")
    t("cuMemFree_v2", at(one.address), about="whose graph is gone")
    _used(t, "at the end")


def apart(t: Calls) -> None:
    """Memory that one graph allocates and another one frees."""
    t.begin()
    first, second, third, one = t.graph(), t.graph(), t.graph(), Allocation(4096)
    _add(t, first, "MemAllocNode", one.room)
    _add(t, second, "MemFreeNode", at(one.address), about="in another graph")
    _add(t, third, "MemFreeNode", at(one.address), about="in a third graph")
    _add(t, first, "MemFreeNode", at(one.address), about="in its own graph, too")
    making, freeing, also = _made(t, first), _made(t, second), _made(t, third)
    t("cuGraphLaunch", freeing, None, about="before it is allocated")
    for about in ("once", "twice"):
        t("cuGraphLaunch", making, None, about=about)
        t("cuGraphLaunch", freeing, None, about=about)
    t("cuGraphLaunch", also, None, about="freed")
    t("cuGraphLaunch", making, None, about="again")
    t("cuGraphLaunch", also, None, about="again")
    t("cuCtxSynchronize")
    t("cuGraphLaunch", making, None, about="and the graph that frees is recorded")
    stream, found = t.stream(), P()
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuMemFreeAsync", at(one.address), stream, about="recorded")
    t("cuStreamEndCapture", stream, ct.byref(found))
    fourth = _made(t, found)
    t("cuGraphLaunch", fourth, None)
    t("cuCtxSynchronize")
    t("cuMemsetD8_v2", at(one.address), 1, 16, about="freed")
    t("cuGraphDestroyNode", _add(t, t.graph(), "MemFreeNode", at(one.address)), about="that frees")


def within(t: Calls) -> None:
    """Graphs that allocate, as children, as bodies of conditions, as what another one becomes."""
    t.begin()
    one, parent, node = Allocation(4096), t.graph(), P()
    child = t.graph()
    allocation = _add(t, child, "MemAllocNode", one.room)
    _add(t, child, "MemFreeNode", at(one.address), after=allocation)
    t("cuGraphAddChildGraphNode", ct.byref(node), parent, None, 0, child, about="that allocates")
    params = ct.create_string_buffer(struct.pack("<i12xQi", 4, child.value or 0, 1), 256)
    t("cuGraphAddNode_v2", ct.byref(node), parent, None, None, 0, params, about="a child that allocates, given away")
    made = _made(t, parent, about="with a child that allocates")
    t("cuGraphLaunch", made, None)
    t("cuGraphLaunch", made, None)
    t("cuGraphDestroy", child, about="given away")
    handle, condition = N(), t.graph()
    t("cuGraphConditionalHandleCreate", ct.byref(handle), condition, t.context, 1, 1)
    told = ct.create_string_buffer(struct.pack("<i12xQiIQQ", 13, handle.value, 0, 1, 0, t.context.value or 0), 256)
    if t("cuGraphAddNode_v2", ct.byref(node), condition, None, None, 0, told, about="a condition") == 0:
        where = struct.unpack_from("<i12xQiIQQ", told.raw)[4]
        body = P((ct.c_uint64 * 1).from_address(where)[0] if where else 0)
        inner = Allocation(4096)
        if t("cuGraphAddMemAllocNode", ct.byref(node), body, None, 0, inner.room, about="in a body") == 0:
            _add(t, body, "MemFreeNode", at(inner.address), after=node, about="in a body")
        t("cuGraphLaunch", _made(t, condition, about="with a body that allocates"), None)
    result = ct.create_string_buffer(24)
    for about, sizes in (("the same", (4096, 4096)), ("larger", (4096, 8192))):
        graphs: list[P] = []
        for size in sizes:
            wanted, graph = Allocation(size), t.graph()
            allocation = _add(t, graph, "MemAllocNode", wanted.room)
            _add(t, graph, "MemFreeNode", at(wanted.address), after=allocation)
            graphs.append(graph)
        ready = _made(t, graphs[0])
        t("cuGraphExecUpdate_v2", ready, graphs[1], result, about=about)
        t.told(f"result of that update, {about}", struct.unpack_from("<i", result.raw)[0])
        t("cuGraphExecUpdate_v2", ready, graphs[0], result, about=f"{about}, to what it was made of")
        t.told(f"result of that update, {about}, to what it was made of", struct.unpack_from("<i", result.raw)[0])
    t("cuGraphAddDependencies_v2", graphs[0], (P * 1)(allocation.value), (P * 1)(allocation.value), None, 1)


def sizes(t: Calls) -> None:
    """How much memory of graphs there is said to be."""
    t.begin()
    for size in (1, MIB, 32 * MIB, 33 * MIB, 100 * MIB):
        graph, one = t.graph(), Allocation(size)
        node = _add(t, graph, "MemAllocNode", one.room)
        _add(t, graph, "MemFreeNode", at(one.address), after=node)
        made = _made(t, graph)
        t("cuGraphLaunch", made, None)
        _used(t, f"{size} bytes")
        t("cuGraphExecDestroy", made)
        t("cuGraphDestroy", graph)
        _used(t, f"{size} bytes, destroyed")
    t("cuDeviceGraphMemTrim", 0)
    _used(t, "trimmed")
    value = N(5)
    for attribute in (1, 3):
        t("cuDeviceSetGraphMemAttribute", 0, attribute, ct.byref(value), about="not 0")
        t("cuDeviceSetGraphMemAttribute", 0, attribute, None)
        t("cuDeviceGetGraphMemAttribute", 0, attribute, None)
        t("cuDeviceGetGraphMemAttribute", 5, attribute, ct.byref(value))
        t("cuDeviceSetGraphMemAttribute", 5, attribute, ct.byref(value))


def recorded(t: Calls) -> None:
    """Allocating and freeing in streams that are recorded."""
    t.begin()
    stream, graph, one, two, kind = t.stream(), P(), N(), N(), I()
    outside = N()
    t.do("cuMemAllocAsync", ct.byref(outside), 4096, stream)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuMemAllocAsync", ct.byref(one), 4096, stream)
    t("cuMemsetD32Async", one, 3, 16, stream)
    t("cuMemAllocAsync", ct.byref(two), 1 << 20, stream)
    t("cuMemcpyDtoDAsync_v2", two, one, 64, stream)
    t("cuMemFreeAsync", at(one.value + 256), stream, about="its middle")
    t("cuMemFreeAsync", one, stream)
    t("cuMemAllocAsync", ct.byref(N()), 0, stream)
    t("cuStreamEndCapture", stream, ct.byref(graph))
    nodes, count = (P * 16)(), N(16)
    t("cuGraphGetNodes", graph, nodes, ct.byref(count), gives=count)
    for number in range(6):
        node = P(nodes[number])
        t("cuGraphNodeGetType", node, ct.byref(kind), gives=kind)
        told = Allocation(0)
        t("cuGraphMemAllocNodeGetParams", node, told.room, gives=told.told)
    made = _made(t, graph)
    t("cuGraphLaunch", made, stream)
    t.told("words", t.words(two.value, 2))
    t("cuGraphLaunch", made, stream, about="with memory in use")
    t("cuMemFreeAsync", two, stream)
    t("cuGraphLaunch", made, stream, about="freed")
    t("cuStreamSynchronize", stream)
    t("cuMemsetD8_v2", one, 1, 16, about="freed in the graph")
    t("cuGraphExecDestroy", made)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuMemFreeAsync", outside, stream, about="of no graph")
    t("cuStreamEndCapture", stream, ct.byref(graph))
    pool, props = P(), bytes_of("<IIiiQQH54x", 1, 0, 1, 0, 0, 0, 0)
    t.do("cuMemPoolCreate", ct.byref(pool), props)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuMemAllocFromPoolAsync", ct.byref(one), 4096, pool, stream)
    t("cuMemFreeAsync", one, stream)
    t("cuMemFreeAsync", one, stream, about="twice")
    t("cuStreamEndCapture", stream, ct.byref(graph))
    made = _made(t, graph)
    t("cuGraphLaunch", made, stream)
    t("cuGraphLaunch", made, stream)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuGraphLaunch", made, stream, about="while it is recorded")
    t("cuStreamEndCapture", stream, ct.byref(graph))


def operation(kind: int, address: int, value: int = 0, flags: int = 0) -> bytes:
    """`CUstreamBatchMemOpParams`."""
    return struct.pack(_OPERATION, kind, address, value, flags, 0)


class Batch:
    """`CUDA_BATCH_MEM_OP_NODE_PARAMS`."""

    def __init__(self, context: P | None, *operations: bytes, count: int | None = None, flags: int = 0) -> None:
        self.operations = ct.create_string_buffer(b"".join(operations), max(48 * len(operations), 1))
        number = len(operations) if count is None else count
        where = ct.addressof(self.operations) if operations else 0
        self.room = bytes_of(_BATCH, context.value or 0 if context else 0, number, where, flags)

    def told(self, context: P) -> list[Any]:
        """What it holds."""
        owner, count, where, flags = struct.unpack(_BATCH, self.room.raw)
        found = [struct.unpack(_OPERATION, ct.string_at(where + 48 * one, 48)) for one in range(count if where else 0)]
        return [owner == context.value, count, flags, [[kind, value, how] for kind, _, value, how, _ in found]]


def value_nodes(t: Calls) -> None:
    """Nodes that write values and wait for them."""
    t.begin()
    graph, a = t.graph(), t.memory(4096)
    for about, batch in {
        "writes": Batch(t.context, operation(2, a, 5), operation(5, a + 8, 6)),
        "a write and a wait": Batch(t.context, operation(2, a + 16, 7), operation(1, a + 16, 7, 1)),
        "nothing": Batch(t.context),
        "a kind of 9": Batch(t.context, operation(9, a)),
        "a kind of 0": Batch(t.context, operation(0, a)),
        "misaligned": Batch(t.context, operation(2, a + 1)),
        "nowhere": Batch(t.context, operation(2, 0x1234560)),
        "flags": Batch(t.context, operation(2, a), flags=1),
        "a flush": Batch(t.context, operation(3, a)),
        "a barrier": Batch(t.context, operation(6, 0)),
        "no context": Batch(None, operation(2, a + 24, 1)),
        "another context": Batch(P(0x1234), operation(2, a)),
        "256": Batch(t.context, *[operation(2, a + 1024 + 4 * one, one) for one in range(256)]),
        "257": Batch(t.context, *[operation(2, a + 1024 + 4 * one, one) for one in range(257)]),
        "operations that are not there": Batch(t.context, count=1),
    }.items():
        node = P()
        if t("cuGraphAddBatchMemOpNode", ct.byref(node), graph, None, 0, batch.room, about=about) == 0:
            told = Batch(None)
            t(
                "cuGraphBatchMemOpNodeGetParams",
                node,
                told.room,
                gives=lambda told=told: told.told(t.context)[:3],
                about=about,
            )
    graph = t.graph()
    written, again = Batch(t.context, operation(2, a, 5)), Batch(t.context, operation(2, a, 8), operation(2, a + 4, 9))
    node = _add(t, graph, "BatchMemOpNode", written.room)
    kind, told = I(), Batch(None)
    t("cuGraphNodeGetType", node, ct.byref(kind), gives=kind)
    t("cuGraphBatchMemOpNodeGetParams", node, told.room, gives=lambda: told.told(t.context))
    made = _made(t, graph)
    t("cuGraphLaunch", made, None)
    t.told("words", t.words(a, 2))
    t("cuGraphBatchMemOpNodeSetParams", node, again.room)
    t("cuGraphBatchMemOpNodeGetParams", node, told.room, gives=lambda: told.told(t.context))
    t("cuGraphLaunch", made, None)
    t.told("words, not changed", t.words(a, 2))
    t("cuGraphExecBatchMemOpNodeSetParams", made, node, again.room, about="more operations")
    one = Batch(t.context, operation(2, a, 3))
    t("cuGraphExecBatchMemOpNodeSetParams", made, node, one.room)
    t("cuGraphLaunch", made, None)
    t.told("words, changed", t.words(a, 2))
    empty, wrong = P(), Batch(t.context, operation(9, a))
    t.do("cuGraphAddEmptyNode", ct.byref(empty), graph, None, 0)
    for name, first in (("cuGraphBatchMemOpNodeSetParams", ()), ("cuGraphExecBatchMemOpNodeSetParams", (made,))):
        t(name, *first, node, None)
        t(name, *first, None, one.room)
        t(name, *first, empty, one.room)
        t(name, *first, node, wrong.room, about="a kind of 9")
        t(name, *first, node, Batch(t.context).room, about="nothing")
    t("cuGraphExecBatchMemOpNodeSetParams", None, node, one.room)
    result = ct.create_string_buffer(24)
    t("cuGraphExecUpdate_v2", made, graph, result, about="with an empty node more")
    for name in ("cuGraphNodeSetEnabled", "cuGraphNodeGetEnabled"):
        t(name, made, node, ct.byref(I()))
    t("cuGraphClone", ct.byref(P()), graph)
    stream, found, count = t.stream(), P(), N(8)
    t("cuStreamBeginCapture_v2", stream, 0)
    batch = ct.create_string_buffer(operation(2, a, 21) + operation(2, a + 4, 22), 96)
    t("cuStreamBatchMemOp_v2", stream, 2, batch, 0, about="recorded")
    t("cuStreamWriteValue32_v2", stream, at(a + 8), 4, 0, about="recorded")
    t("cuStreamEndCapture", stream, ct.byref(found))
    nodes = (P * 8)()
    t("cuGraphGetNodes", found, nodes, ct.byref(count), gives=count)
    for number in range(3):
        t("cuGraphNodeGetType", P(nodes[number]), ct.byref(kind), gives=kind)
        t("cuGraphBatchMemOpNodeGetParams", P(nodes[number]), told.room, gives=lambda: told.told(t.context))


def kernel_attributes(t: Calls) -> None:
    """What nodes of kernels keep beside their parameters."""
    t.begin()
    graph = t.graph()
    kernel = t.function(b"empty")
    first, second = (_add(t, graph, "KernelNode_v2", kernel_node(kernel, grid=4)) for _ in range(2))
    value = ct.create_string_buffer(VALUE_BYTES)

    def ask(node: P, attribute: int, about: str = "") -> None:
        ct.memset(value, 0x55, VALUE_BYTES)
        told = t("cuGraphKernelNodeGetAttribute", node, attribute, value, about=about)
        if not told:
            t.told(f"attribute {attribute} {about}", list(struct.unpack_from("<8I", value.raw)))

    for attribute in range(19):
        ask(first, attribute)
    wanted = {
        1: (
            struct.pack("<QQfII", 0, 4096, 0.5, 2, 1),
            struct.pack("<QQfII", 0, 4096, 2.0, 2, 1),
            struct.pack("<QQfII", 0, 4096, 0.5, 1, 2),
            struct.pack("<QQfII", 0, 4096, 0.5, 3, 0),
            struct.pack("<QQfII", 0, 0, 0.0, 0, 0),
        ),
        2: (struct.pack("<i", 1), struct.pack("<i", 2)),
        3: (struct.pack("<i", 1),),
        4: (struct.pack("<III", 2, 1, 1), struct.pack("<III", 3, 1, 1), struct.pack("<III", 64, 1, 1)),
        5: (struct.pack("<i", 1), struct.pack("<i", 7)),
        6: (struct.pack("<i", 1),),
        8: (struct.pack("<i", -3), struct.pack("<i", 50)),
        9: (bytes((0, 1)), bytes((9, 9))),
        10: (struct.pack("<i", 1), struct.pack("<i", 5)),
        11: (struct.pack("<III", 2, 1, 1),),
        14: (struct.pack("<I", 50), struct.pack("<I", 101), struct.pack("<i", -1)),
        16: (struct.pack("<I", 1),),
    }
    for attribute, values in wanted.items():
        for number, data in enumerate(values):
            given = ct.create_string_buffer(data, VALUE_BYTES)
            t("cuGraphKernelNodeSetAttribute", first, attribute, given, about=f"value {number}")
            ask(first, attribute, f"set to value {number}")
    t("cuGraphKernelNodeCopyAttributes", second, first)
    for attribute in (2, 4, 5, 8, 14):
        ask(second, attribute, "copied")
    t("cuGraphKernelNodeSetAttribute", first, 8, None)
    t("cuGraphKernelNodeGetAttribute", first, 8, None)
    t("cuGraphKernelNodeGetAttribute", None, 8, value)
    t("cuGraphKernelNodeCopyAttributes", None, first)
    t("cuGraphKernelNodeCopyAttributes", first, None)
    t("cuGraphKernelNodeCopyAttributes", first, first)
    stream, found, nodes, count = t.stream(), P(), (P * 4)(), N(4)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuLaunchCooperativeKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None)
    t("cuStreamEndCapture", stream, ct.byref(found))
    t("cuGraphGetNodes", found, nodes, ct.byref(count), gives=count)
    ask(P(nodes[0]), 2, "recorded")
    copy = P()
    t("cuGraphClone", ct.byref(copy), graph)
    count.value = 4
    t("cuGraphGetNodes", copy, nodes, ct.byref(count), gives=count)
    for attribute in (2, 8):
        ask(P(nodes[0]), attribute, "cloned")


def attributes_kept(t: Calls) -> None:
    """Attributes of a kernel's node when its parameters are changed, and of launches that are recorded."""
    t.begin()
    graph, kernel, stream = t.graph(), t.function(b"empty"), P()
    node = _add(t, graph, "KernelNode_v2", kernel_node(kernel, grid=4))
    value = ct.create_string_buffer(VALUE_BYTES)

    def ask(node: P, about: str) -> None:
        for attribute in (2, 4, 5, 8, 10, 14):
            if not t("cuGraphKernelNodeGetAttribute", node, attribute, value, about=about):
                t.told(
                    f"attribute {attribute}, {about}",
                    list(struct.unpack_from("<3I", value.raw))[: 3 if attribute == 4 else 1],
                )

    for attribute, data in ((2, (1,)), (4, (2, 1, 1)), (5, (2,)), (8, (-2,)), (10, (1,)), (14, (25,))):
        given = ct.create_string_buffer(struct.pack(f"<{len(data)}i", *data), VALUE_BYTES)
        t("cuGraphKernelNodeSetAttribute", node, attribute, given)
    t("cuGraphKernelNodeSetParams_v2", node, kernel_node(kernel, grid=8))
    ask(node, "with other parameters")
    t("cuGraphKernelNodeSetParams_v2", node, kernel_node(kernel, grid=3), about="of which no cluster is made")
    ask(node, "with a grid of 3")
    t("cuStreamCreateWithPriority", ct.byref(stream), 1, -3)
    found, nodes, count = P(), (P * 4)(), N(4)
    attributes = b"".join(
        struct.pack("<i4x", number) + data.ljust(VALUE_BYTES, b"\0")
        for number, data in (
            (4, struct.pack("<III", 2, 1, 1)),
            (5, struct.pack("<i", 1)),
            (8, struct.pack("<i", -4)),
            (14, struct.pack("<i", 30)),
        )
    )
    listed = ct.create_string_buffer(attributes, len(attributes))
    config = bytes_of("<7I4xQQI4x", 4, 1, 1, 32, 1, 1, 0, stream.value or 0, ct.addressof(listed), 4)
    t("cuStreamBeginCapture_v2", stream, 0)
    t("cuLaunchKernelEx", config, kernel, None, None)
    t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    t("cuStreamEndCapture", stream, ct.byref(found))
    t("cuGraphGetNodes", found, nodes, ct.byref(count), gives=count)
    ask(P(nodes[0]), "recorded with attributes")
    ask(P(nodes[1]), "recorded")


def value_counts(t: Calls) -> None:
    """How many operations a node of values may hold."""
    t.begin()
    graph, a = t.graph(), t.memory(4096)
    for count in (1, 2, 16, 63, 64, 65, 127, 128, 129, 254, 255):
        batch = Batch(t.context, *[operation(2, a + 4 * one, one) for one in range(count)])
        _add(t, graph, "BatchMemOpNode", batch.room, about=f"{count} operations")


def restricted(t: Calls) -> None:
    """What may not be done to a graph that allocates."""
    t.begin()
    graph, one, two = t.graph(), Allocation(4096), Allocation(64)
    first = _add(t, graph, "MemAllocNode", one.room)
    fill = _add(t, graph, "MemsetNode", *_fill(t, one.address, 7), after=first)
    last = _add(t, graph, "MemFreeNode", at(one.address), after=fill)
    t("cuGraphRemoveDependencies_v2", graph, (P * 1)(first.value), (P * 1)(fill.value), None, 1)
    t("cuGraphAddDependencies_v2", graph, (P * 1)(first.value), (P * 1)(last.value), None, 1)
    t("cuGraphDestroyNode", fill, about="in a graph that allocates")
    parent, other, node = t.graph(), t.graph(), P()
    params = ct.create_string_buffer(struct.pack("<i12xQi", 4, graph.value or 0, 2), 256)
    t("cuGraphAddNode_v2", ct.byref(node), parent, None, None, 0, params, about="owned by nobody")
    params = ct.create_string_buffer(struct.pack("<i12xQi", 4, graph.value or 0, 1), 256)
    t("cuGraphAddNode_v2", ct.byref(node), parent, None, None, 0, params, about="given away")
    t("cuGraphAddNode_v2", ct.byref(P()), other, None, None, 0, params, about="given away twice")
    t("cuGraphInstantiateWithFlags", ct.byref(P()), graph, 0, about="given away")
    t("cuGraphAddMemAllocNode", ct.byref(P()), graph, None, 0, two.room, about="given away")
    t("cuGraphAddEmptyNode", ct.byref(P()), graph, None, 0, about="given away")
    t("cuGraphClone", ct.byref(P()), parent)
    t("cuGraphDestroyNode", node, about="a child that allocates")
    held = P()
    t("cuGraphChildGraphNodeGetGraph", node, ct.byref(held), gives=lambda: held.value == graph.value)
    t("cuGraphDestroy", parent)
    t("cuGraphDestroy", graph, about="with its parent")
    plain, child = t.graph(), t.graph()
    params = ct.create_string_buffer(struct.pack("<i12xQi", 4, child.value or 0, 1), 256)
    t("cuGraphAddNode_v2", ct.byref(node), plain, None, None, 0, params, about="empty, given away")
    t("cuGraphClone", ct.byref(P()), plain)
    t("cuGraphDestroyNode", node)
    t("cuGraphDestroy", child, about="with its node")


def drawn(t: Calls) -> None:
    """What graphs look like: that something is written."""
    t.begin()
    graph, a, file = t.graph(), t.memory(64), t.file("drawn.dot")
    one, last = Allocation(64), None
    for name, more in (
        ("EmptyNode", ()),
        ("MemAllocNode", (one.room,)),
        ("KernelNode_v2", (kernel_node(t.function(b"empty")),)),
        ("MemsetNode", _fill(t, a, 1, 4)),
        ("ChildGraphNode", (t.graph(),)),
        ("EventRecordNode", (t.event(),)),
    ):
        last = _add(t, graph, name, *more, after=last)
    for flags in (0, 1, 2, 3, 1 << 2, 1 << 10, 1 << 15, 1 << 16, 1 << 17, 1 << 31, (1 << 16) - 1):
        file.unlink(missing_ok=True)
        t("cuGraphDebugDotPrint", graph, file, flags)
        there = file.read_text() if file.exists() else ""
        t.told(f"written with flags {flags}", there.lstrip().startswith("digraph"), there.count("->"))
    t("cuGraphDebugDotPrint", graph, None, 0)
    t("cuGraphDebugDotPrint", None, file, 0)
    t("cuGraphDebugDotPrint", graph, b"", 0)
    t("cuGraphDebugDotPrint", graph, b"/tmp", 0, about="a folder")
    file.unlink(missing_ok=True)


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one
    for one in (
        allocating,
        allocated,
        automatically,
        apart,
        within,
        sizes,
        recorded,
        value_nodes,
        kernel_attributes,
        attributes_kept,
        value_counts,
        restricted,
        drawn,
    )
}
