"""Scenarios: graphs, their nodes, graphs made ready, conditional nodes, user objects."""

from __future__ import annotations

import ctypes as ct
import struct
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import I, N, P, at
from recorded.driver.memory_scenarios import bytes_of
from recorded.driver.stream_scenarios import HOST_FUNCTION, nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

FILL: Final = "<QQIIQQ"
_COPY: Final = "<QQQQI4xQQQQQQQQQQI4xQQQQQQQQQ"


def kernel_node(
    function: P, parameters: Any = None, grid: int = 1, block: int = 1, shared: int = 0, extra: Any = None
) -> Any:
    """`CUDA_KERNEL_NODE_PARAMS_v2`."""
    where = ct.addressof(parameters) if parameters is not None else 0
    more = ct.addressof(extra) if extra is not None else 0
    return bytes_of("<Q7I4xQQQQ", function.value or 0, grid, 1, 1, block, 1, 1, shared, where, more, 0, 0)


def copy_node(to: int, source: int, size: int, kinds: tuple[int, int] = (2, 2)) -> Any:
    """`CUDA_MEMCPY3D` of bytes in a row; kinds are the target's and the source's."""
    ends = {1: (0, 1), 2: (1, 0)}

    def side(kind: int, address: int) -> tuple[int, ...]:
        return (0, 0, 0, 0, kind, address * ends[kind][1], address * ends[kind][0], 0, 0, size, 1)

    return bytes_of(_COPY, *side(kinds[1], source), *side(kinds[0], to), size, 1, 1)


class Graph:
    """A graph of one node of each kind, in a row."""

    def __init__(self, t: Calls) -> None:
        self.graph, self.module = t.graph(), t.module()
        self.kernel, self.fill_kernel = t.function(b"empty", self.module), t.function(b"fill", self.module)
        self.a, self.b = t.memory(4096), t.memory(4096)
        self.event, self.child = t.event(), t.graph()
        self.nodes: dict[str, P] = {}
        host = bytes_of("<QQ", ct.cast(nothing, P).value or 0, 0)
        for name, call, more in (
            ("empty", "cuGraphAddEmptyNode", ()),
            ("kernel", "cuGraphAddKernelNode_v2", (kernel_node(self.kernel),)),
            ("copy", "cuGraphAddMemcpyNode", (copy_node(self.b, self.a, 64), t.context)),
            ("fill", "cuGraphAddMemsetNode", (bytes_of(FILL, self.a, 0, 7, 4, 16, 1), t.context)),
            ("host", "cuGraphAddHostNode", (host,)),
            ("record", "cuGraphAddEventRecordNode", (self.event,)),
            ("wait", "cuGraphAddEventWaitNode", (self.event,)),
            ("child", "cuGraphAddChildGraphNode", (self.child,)),
        ):
            made, last = P(), list(self.nodes.values())[-1:]
            t.do(call, ct.byref(made), self.graph, (P * 1)(*[one.value for one in last]), len(last), *more)
            self.nodes[name] = made


def building(t: Calls) -> None:
    """Graphs and edges, right and wrong."""
    t.begin()
    graph, other, a, b, c, alien, count, kind = P(), P(), P(), P(), P(), P(), N(), I()
    t("cuGraphCreate", None, 0)
    t("cuGraphCreate", ct.byref(graph), 1)
    t("cuGraphCreate", ct.byref(graph), 0)
    t("cuGraphCreate", ct.byref(other), 0)
    for made, owner in ((a, graph), (b, graph), (c, graph), (alien, other)):
        t("cuGraphAddEmptyNode", ct.byref(made), owner, None, 0)
    t("cuGraphAddEmptyNode", None, graph, None, 0)
    t("cuGraphAddEmptyNode", ct.byref(P()), None, None, 0)
    t("cuGraphAddEmptyNode", ct.byref(P()), graph, None, 1)
    t("cuGraphAddEmptyNode", ct.byref(P()), graph, (P * 1)(alien.value), 1, about="after a node of another graph")
    t("cuGraphAddEmptyNode", ct.byref(P()), graph, (P * 2)(a.value, a.value), 2, about="twice after the same")

    def edge(about: str, first: P, second: P, name: str = "Add") -> None:
        t(f"cuGraph{name}Dependencies_v2", graph, (P * 1)(first.value), (P * 1)(second.value), None, 1, about=about)

    edge("a to b", a, b)
    edge("a to b again", a, b)
    edge("b to c", b, c)
    edge("c to a, a circle", c, a)
    edge("a to a", a, a)
    edge("to another graph", a, alien)
    edge("what is not there", a, c, "Remove")
    made = P()
    t("cuGraphInstantiateWithFlags", ct.byref(made), graph, 0, about="with a circle, if it was taken")
    edge("c to a", c, a, "Remove")
    t("cuGraphAddDependencies_v2", graph, None, None, None, 0)
    t("cuGraphAddDependencies_v2", graph, None, None, None, 1)
    t("cuGraphAddDependencies_v2", None, (P * 1)(a.value), (P * 1)(b.value), None, 1)
    nodes, froms, tos = (P * 8)(), (P * 8)(), (P * 8)()

    def filled(array: Any) -> int:
        return sum(bool(one) for one in array)

    for room in (0, 1, 8):
        count.value = room
        t(
            "cuGraphGetNodes",
            graph,
            nodes,
            ct.byref(count),
            gives=(count, lambda: filled(nodes)),
            about=f"room for {room}",
        )
        count.value = room
        t(
            "cuGraphGetRootNodes",
            graph,
            nodes,
            ct.byref(count),
            gives=(count, lambda: filled(nodes)),
            about=f"room for {room}",
        )
        count.value = room
        t(
            "cuGraphGetEdges_v2",
            graph,
            froms,
            tos,
            None,
            ct.byref(count),
            gives=(count, lambda: filled(froms)),
            about=f"room for {room}",
        )
        count.value = room
        t(
            "cuGraphNodeGetDependencies_v2",
            b,
            nodes,
            None,
            ct.byref(count),
            gives=(count, lambda: filled(nodes)),
            about=f"room for {room}",
        )
        count.value = room
        t(
            "cuGraphNodeGetDependentNodes_v2",
            a,
            nodes,
            None,
            ct.byref(count),
            gives=(count, lambda: filled(nodes)),
            about=f"room for {room}",
        )
    for name, more in (("cuGraphGetNodes", ()), ("cuGraphGetRootNodes", ())):
        count.value = 0
        t(name, graph, None, ct.byref(count), gives=count)
        t(name, graph, nodes, None)
        t(name, None, nodes, ct.byref(count), *more)
    count.value = 8
    t("cuGraphGetEdges_v2", graph, None, None, None, ct.byref(count), gives=count)
    t("cuGraphGetEdges_v2", graph, froms, None, None, ct.byref(count))
    t("cuGraphNodeGetDependencies_v2", None, nodes, None, ct.byref(count))
    t("cuGraphNodeGetType", a, ct.byref(kind), gives=kind)
    t("cuGraphNodeGetType", a, None)
    t("cuGraphNodeGetType", None, ct.byref(kind))
    t("cuGraphDestroyNode", b)
    count.value = 8
    t("cuGraphGetEdges_v2", graph, froms, tos, None, ct.byref(count), gives=count, about="a node less")
    t("cuGraphDestroyNode", None)
    t("cuGraphDestroy", None)
    t("cuGraphDestroy", other)
    t("cuGraphClone", ct.byref(made), graph)
    count.value = 8
    t("cuGraphGetNodes", made, nodes, ct.byref(count), gives=count, about="of the clone")
    found = P()
    t("cuGraphNodeFindInClone", ct.byref(found), a, made, gives=lambda: found.value != a.value)
    t("cuGraphNodeFindInClone", ct.byref(found), a, graph)
    t("cuGraphNodeFindInClone", None, a, made)
    t("cuGraphClone", None, graph)
    t("cuGraphClone", ct.byref(made), None)
    number = ct.c_uint()
    t("cuGraphGetId", graph, ct.byref(number))
    t("cuGraphNodeGetToolsId", a, ct.byref(N()))
    t("cuGraphNodeGetLocalId", a, ct.byref(number))
    t("cuGraphDebugDotPrint", graph, t.file("graph.dot"), 0)
    t("cuGraphDebugDotPrint", graph, b"/nowhere/at/all.dot", 0)


def destroyed_graph(t: Calls) -> None:
    """A graph that is gone."""
    t.begin()
    graph, node = t.graph(), P()
    t("cuGraphAddEmptyNode", ct.byref(node), graph, None, 0)
    t("cuGraphDestroy", graph)
    t("cuGraphAddEmptyNode", ct.byref(node), graph, None, 0)
    t("cuGraphInstantiateWithFlags", ct.byref(node), graph, 0)
    t("cuGraphDestroy", graph)


def nodes(t: Calls) -> None:
    """Nodes of every kind with wrong parameters; what they tell."""
    t.begin()
    g = Graph(t)
    made, kind = P(), I()
    for name, node in g.nodes.items():
        t("cuGraphNodeGetType", node, ct.byref(kind), gives=kind, about=name)
    add = "cuGraphAddKernelNode_v2"
    words = t.pointers(N(g.a), ct.c_uint32(4))
    for about, params in {
        "right": kernel_node(g.fill_kernel, words),
        "no function": kernel_node(P(0)),
        "no grid": kernel_node(g.kernel, grid=0),
        "no threads": kernel_node(g.kernel, block=0),
        "too many threads": kernel_node(g.kernel, block=1025),
        "too much shared memory": kernel_node(g.kernel, shared=49153),
        "no parameters": kernel_node(g.fill_kernel),
        "nothing": None,
    }.items():
        t(add, ct.byref(made), g.graph, None, 0, params, about=about)
        t("cuGraphKernelNodeSetParams_v2", g.nodes["kernel"], params, about=about)
    for about, params in {
        "right": copy_node(g.b, g.a, 64),
        "beyond": copy_node(g.b, g.a, 4097),
        "no bytes": copy_node(g.b, g.a, 0),
        "nowhere": copy_node(0, g.a, 64),
        "nothing": None,
    }.items():
        t("cuGraphAddMemcpyNode", ct.byref(made), g.graph, None, 0, params, t.context, about=about)
        t("cuGraphMemcpyNodeSetParams", g.nodes["copy"], params, about=about)
    t("cuGraphAddMemcpyNode", ct.byref(made), g.graph, None, 0, copy_node(g.b, g.a, 64), None, about="no context")
    for about, params in {
        "right": (g.a, 0, 7, 4, 16, 1),
        "an element of 3": (g.a, 0, 7, 3, 16, 1),
        "of 8": (g.a, 0, 7, 8, 4, 1),
        "of 0": (g.a, 0, 7, 0, 16, 1),
        "beyond": (g.a, 0, 7, 4, 1025, 1),
        "no width": (g.a, 0, 7, 4, 0, 1),
        "no height": (g.a, 0, 7, 4, 16, 0),
        "misaligned": (g.a + 2, 0, 7, 4, 16, 1),
        "rows": (g.a, 64, 7, 1, 64, 64),
        "rows beyond": (g.a, 64, 7, 1, 64, 65),
        "a pitch too small": (g.a, 16, 7, 4, 16, 2),
        "nowhere": (0, 0, 7, 4, 16, 1),
        "a value too wide": (g.a, 0, 0x1FF, 1, 16, 1),
    }.items():
        t("cuGraphAddMemsetNode", ct.byref(made), g.graph, None, 0, bytes_of(FILL, *params), t.context, about=about)
        t("cuGraphMemsetNodeSetParams", g.nodes["fill"], bytes_of(FILL, *params), about=about)
    t("cuGraphAddMemsetNode", ct.byref(made), g.graph, None, 0, None, t.context)
    t("cuGraphAddHostNode", ct.byref(made), g.graph, None, 0, bytes_of("<QQ", 0, 0), about="no function")
    t("cuGraphAddHostNode", ct.byref(made), g.graph, None, 0, None)
    t("cuGraphAddEventRecordNode", ct.byref(made), g.graph, None, 0, None)
    t("cuGraphAddEventWaitNode", ct.byref(made), g.graph, None, 0, None)
    t("cuGraphAddEventRecordNode", ct.byref(made), g.graph, None, 0, t.event(2))
    t("cuGraphAddChildGraphNode", ct.byref(made), g.graph, None, 0, None)
    t("cuGraphAddChildGraphNode", ct.byref(made), g.graph, None, 0, g.graph, about="itself")
    told = ct.create_string_buffer(256)
    for call in (
        "cuGraphKernelNodeGetParams_v2",
        "cuGraphMemcpyNodeGetParams",
        "cuGraphMemsetNodeGetParams",
        "cuGraphHostNodeGetParams",
        "cuGraphEventRecordNodeGetEvent",
        "cuGraphEventWaitNodeGetEvent",
        "cuGraphChildGraphNodeGetGraph",
        "cuGraphMemAllocNodeGetParams",
        "cuGraphMemFreeNodeGetParams",
        "cuGraphBatchMemOpNodeGetParams",
    ):
        for name, node in g.nodes.items():
            t(call, node, told, about=name)
        t(call, g.nodes["kernel"], None)
    t("cuGraphMemsetNodeGetParams", g.nodes["fill"], told, gives=lambda: list(struct.unpack_from(FILL, told.raw))[1:])
    t(
        "cuGraphKernelNodeGetParams_v2",
        g.nodes["kernel"],
        told,
        gives=lambda: list(struct.unpack_from("<8x7I", told.raw)),
    )
    for name in ("kernel", "empty"):
        for attribute in (1, 2, 4, 8, 0, 14, 50):
            value = ct.create_string_buffer(64)
            t("cuGraphKernelNodeGetAttribute", g.nodes[name], attribute, value, about=name)
            t(
                "cuGraphKernelNodeSetAttribute",
                g.nodes[name],
                attribute,
                ct.create_string_buffer(struct.pack("<iii", 1, 1, 1), 64),
                about=name,
            )
    t("cuGraphKernelNodeCopyAttributes", g.nodes["kernel"], g.nodes["kernel"])
    t("cuGraphKernelNodeCopyAttributes", g.nodes["kernel"], g.nodes["empty"])
    graph = P()
    t("cuGraphChildGraphNodeGetGraph", g.nodes["child"], ct.byref(graph))
    t("cuGraphDestroy", graph, about="a child's")
    t("cuGraphEventRecordNodeSetEvent", g.nodes["record"], t.event())
    t("cuGraphEventRecordNodeSetEvent", g.nodes["wait"], t.event())
    t("cuGraphEventRecordNodeSetEvent", g.nodes["record"], None)
    t("cuGraphEventWaitNodeSetEvent", g.nodes["wait"], t.event())


def generic(t: Calls) -> None:
    """`cuGraphAddNode_v2` and its like, for nodes of every kind."""
    t.begin()
    g = Graph(t)
    made = P()
    host = ct.cast(nothing, P).value or 0
    bodies: dict[str, tuple[int, bytes]] = {
        "kernel": (0, kernel_node(g.kernel).raw),
        "copy": (1, struct.pack("<iiQ", 0, 0, t.context.value or 0) + copy_node(g.b, g.a, 64).raw),
        "fill": (2, struct.pack(FILL, g.a, 0, 7, 4, 16, 1) + struct.pack("<Q", t.context.value or 0)),
        "host": (3, struct.pack("<QQ", host, 0)),
        "child": (4, struct.pack("<Q", g.child.value or 0)),
        "empty": (5, b""),
        "wait": (6, struct.pack("<Q", g.event.value or 0)),
        "record": (7, struct.pack("<Q", g.event.value or 0)),
        "a kind of 99": (99, b""),
        "kind -1": (-1, b""),
        "kernel without a function": (0, b"\0" * 72),
        "wait for nothing": (6, b""),
        "a batch": (12, struct.pack("<QI4xQI4x", t.context.value or 0, 0, 0, 0)),
        "allocation": (10, struct.pack("<IIiiQQH54xQQQQ", 1, 0, 1, 0, 0, 0, 0, 0, 0, 64, 0)),
        "allocation of nothing": (10, struct.pack("<IIiiQQH54xQQQQ", 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
        "free": (11, struct.pack("<Q", g.a)),
    }
    for about, (kind, body) in bodies.items():
        params = ct.create_string_buffer(struct.pack("<i12x", kind) + body, 256)
        t("cuGraphAddNode_v2", ct.byref(made), g.graph, None, None, 0, params, about=about)
        t("cuGraphNodeSetParams", made, ct.create_string_buffer(struct.pack("<i12x", kind) + body, 256), about=about)
    padded = ct.create_string_buffer(struct.pack("<i12x", 5) + b"\1" * 240, 256)
    t("cuGraphAddNode_v2", ct.byref(made), g.graph, None, None, 0, padded, about="padding that is not zero")
    t("cuGraphAddNode_v2", ct.byref(made), g.graph, None, None, 0, None)
    t("cuGraphAddNode_v2", None, g.graph, None, None, 0, ct.create_string_buffer(struct.pack("<i", 5), 256))


def memory_nodes(t: Calls) -> None:
    """Nodes that allocate and free."""
    t.begin()
    graph, node, other, executable = t.graph(), P(), P(), P()
    form = "<IIiiQQH54xQQQQ"
    told = ct.create_string_buffer(struct.pack(form, 1, 0, 1, 0, 0, 0, 0, 0, 0, 256, 0), 120)
    t("cuGraphAddMemAllocNode", ct.byref(node), graph, None, 0, told)
    address = struct.unpack(form, told.raw)[-1]
    t("cuGraphAddMemFreeNode", ct.byref(other), graph, None, 0, at(address), about="not behind its allocation")
    t("cuGraphAddMemFreeNode", ct.byref(other), graph, (P * 1)(node.value), 1, at(address))
    t("cuGraphAddMemFreeNode", ct.byref(other), graph, (P * 1)(node.value), 1, at(address), about="twice")
    t("cuGraphAddMemFreeNode", ct.byref(other), graph, (P * 1)(node.value), 1, 0)
    t("cuMemFree_v2", at(address), about="a graph's, not launched")
    t("cuGraphClone", ct.byref(P()), graph, about="that allocates")
    t("cuGraphDestroyNode", node, about="that allocates")
    t("cuGraphInstantiateWithFlags", ct.byref(executable), graph, 0)
    t("cuGraphInstantiateWithFlags", ct.byref(P()), graph, 0, about="twice")
    t("cuGraphLaunch", executable, None)
    t("cuGraphLaunch", executable, None)
    t("cuCtxSynchronize")
    for about, size, kind, where in (
        ("no bytes", 0, 1, (1, 0)),
        ("another device", 64, 1, (1, 5)),
        ("no kind", 64, 0, (1, 0)),
        ("too much", 1 << 50, 1, (1, 0)),
    ):
        t(
            "cuGraphAddMemAllocNode",
            ct.byref(node),
            t.graph(),
            None,
            0,
            ct.create_string_buffer(struct.pack(form, kind, 0, *where, 0, 0, 0, 0, 0, size, 0), 120),
            about=about,
        )
    value = N()
    for attribute in (0, 1, 2, 3, 4, 9):
        t("cuDeviceGetGraphMemAttribute", 0, attribute, ct.byref(value), gives=value)
        value.value = 0
        t("cuDeviceSetGraphMemAttribute", 0, attribute, ct.byref(value))
    t("cuDeviceGraphMemTrim", 0)
    t("cuDeviceGraphMemTrim", 5)
    second = t.graph()
    told = ct.create_string_buffer(struct.pack(form, 1, 0, 1, 0, 0, 0, 0, 0, 0, 256, 0), 120)
    t("cuGraphAddMemAllocNode", ct.byref(node), second, None, 0, told, about="never freed")
    address = struct.unpack(form, told.raw)[-1]
    t("cuGraphInstantiateWithFlags", ct.byref(executable), second, 0)
    t("cuGraphLaunch", executable, None)
    t("cuMemsetD8_v2", at(address), 1, 256, about="a graph's memory")
    t("cuGraphLaunch", executable, None, about="again, with its memory not freed")
    t("cuMemFree_v2", at(address))
    t("cuGraphLaunch", executable, None, about="again, freed")
    t("cuMemFreeAsync", at(address), None)
    t("cuGraphExecDestroy", executable)


def executables(t: Calls) -> None:
    """Graphs made ready: launched, changed."""
    t.begin()
    g = Graph(t)
    made, second, result, flags, stream = P(), P(), ct.create_string_buffer(24), N(), t.stream()
    t("cuGraphInstantiateWithFlags", None, g.graph, 0)
    t("cuGraphInstantiateWithFlags", ct.byref(made), None, 0)
    for wanted in (1, 2, 4, 8, 16, 3, 32, 0):
        if t("cuGraphInstantiateWithFlags", ct.byref(made), g.graph, wanted) == 0:
            t("cuGraphExecGetFlags", made, ct.byref(flags), gives=flags)
    t("cuGraphExecGetFlags", made, None)
    told = ct.create_string_buffer(32)
    t(
        "cuGraphInstantiateWithParams",
        ct.byref(second),
        g.graph,
        told,
        gives=lambda: struct.unpack_from("<24xi", told.raw)[0],
    )
    t("cuGraphInstantiateWithParams", ct.byref(second), g.graph, None)
    t("cuGraphUpload", made, stream)
    t("cuGraphUpload", None, stream)
    for where in (stream, None, 1, 2):
        t("cuGraphLaunch", made, where)
    t("cuGraphLaunch", None, stream)
    t("cuStreamSynchronize", stream)
    t.told("words", t.words(g.a, 2) + t.words(g.b, 2))
    words = t.pointers(N(g.a + 1024), ct.c_uint32(4))
    for about, node, params in (
        ("right", "kernel", kernel_node(g.kernel, block=2)),
        ("another function", "kernel", kernel_node(g.fill_kernel, words)),
        ("no threads", "kernel", kernel_node(g.kernel, block=0)),
        ("a fill's node", "fill", kernel_node(g.kernel)),
        ("nothing", "kernel", None),
    ):
        t("cuGraphExecKernelNodeSetParams_v2", made, g.nodes[node], params, about=about)
    for about, params in {
        "right": (g.a, 0, 9, 4, 16, 1),
        "longer": (g.a, 0, 9, 4, 32, 1),
        "rows": (g.a, 64, 9, 4, 4, 4),
        "another width": (g.a, 0, 9, 1, 16, 1),
        "another place": (g.b, 0, 9, 4, 16, 1),
        "beyond": (g.a, 0, 9, 4, 5000, 1),
    }.items():
        t("cuGraphExecMemsetNodeSetParams", made, g.nodes["fill"], bytes_of(FILL, *params), t.context, about=about)
    own, pinned = ct.create_string_buffer(4096), P()
    t.do("cuMemAllocHost_v2", ct.byref(pinned), 4096)
    for about, params in {
        "right": copy_node(g.b, g.a, 32),
        "longer": copy_node(g.b, g.a, 128),
        "beyond": copy_node(g.b, g.a, 5000),
        "from the host": copy_node(g.b, ct.addressof(own), 64, (2, 1)),
        "from pinned memory": copy_node(g.b, pinned.value or 0, 64, (2, 1)),
    }.items():
        t("cuGraphExecMemcpyNodeSetParams", made, g.nodes["copy"], params, t.context, about=about)
    t("cuGraphExecHostNodeSetParams", made, g.nodes["host"], bytes_of("<QQ", ct.cast(nothing, P).value or 0, 5))
    t("cuGraphExecHostNodeSetParams", made, g.nodes["host"], bytes_of("<QQ", 0, 5), about="no function")
    t("cuGraphExecEventRecordNodeSetEvent", made, g.nodes["record"], t.event())
    t("cuGraphExecEventWaitNodeSetEvent", made, g.nodes["wait"], t.event())
    t("cuGraphExecEventWaitNodeSetEvent", made, g.nodes["record"], t.event())
    t("cuGraphExecChildGraphNodeSetParams", made, g.nodes["child"], g.child)
    changed = t.graph()
    t.do("cuGraphAddEmptyNode", ct.byref(P()), changed, None, 0)
    t("cuGraphExecChildGraphNodeSetParams", made, g.nodes["child"], changed, about="of another shape")
    enabled = ct.c_uint()
    for name in ("kernel", "fill", "copy", "host", "empty", "child"):
        t("cuGraphNodeGetEnabled", made, g.nodes[name], ct.byref(enabled), gives=enabled, about=name)
        t("cuGraphNodeSetEnabled", made, g.nodes[name], 0, about=name)
        t("cuGraphNodeGetEnabled", made, g.nodes[name], ct.byref(enabled), gives=enabled, about=name)
    t("cuGraphNodeSetEnabled", made, g.nodes["kernel"], 2)
    t("cuMemsetD8_v2", at(g.a), 0, 64)
    t("cuGraphLaunch", made, stream)
    t("cuStreamSynchronize", stream)
    t.told("words with nodes disabled", t.words(g.a, 2))

    def updated() -> list[int]:
        return [struct.unpack_from("<i", result.raw)[0]]

    def update(about: str, graph: P) -> None:
        error = t("cuGraphExecUpdate_v2", second, graph, result, about=about)
        t.told(f"result of that update, {about}", updated() if error != 1 else [])

    update("the same", g.graph)
    copy = P()
    t.do("cuGraphClone", ct.byref(copy), g.graph)
    update("a clone", copy)
    t.do("cuGraphAddEmptyNode", ct.byref(P()), copy, None, 0)
    update("a node more", copy)
    update("another graph", changed)
    update("an empty graph", t.graph())
    t("cuGraphExecUpdate_v2", None, g.graph, result)
    t("cuGraphExecUpdate_v2", second, None, result)
    t("cuGraphExecUpdate_v2", second, g.graph, None)
    t("cuGraphDestroy", g.graph, about="under what was made of it")
    t("cuGraphLaunch", made, stream, about="whose graph is gone")
    t("cuStreamSynchronize", stream)
    t("cuGraphExecDestroy", made)
    t("cuGraphExecDestroy", None)
    empty = t.graph()
    t("cuGraphInstantiateWithFlags", ct.byref(made), empty, 0, about="empty")
    t("cuGraphLaunch", made, stream, about="empty")


def updates(t: Calls) -> None:
    """What may change in a graph that was made ready."""
    t.begin()
    module, a, b = t.module(), t.memory(4096), t.memory(4096)
    empty, fill = t.function(b"empty", module), t.function(b"fill", module)
    words, own, host = t.pointers(N(a), ct.c_uint32(4)), ct.create_string_buffer(64), ct.cast(nothing, P).value or 0

    def of(*kinds: str, row: bool = True) -> P:
        graph = t.graph()
        last: list[P] = []
        for kind in kinds:
            node, after = P(), (P * 1)(*[one.value for one in last[-1:]]) if row else (P * 1)()
            count = min(len(last), 1) if row else 0
            head = (ct.byref(node), graph, after, count)
            match kind:
                case "kernel":
                    t.do("cuGraphAddKernelNode_v2", *head, kernel_node(empty))
                case "larger":
                    t.do("cuGraphAddKernelNode_v2", *head, kernel_node(empty, block=64))
                case "other":
                    t.do("cuGraphAddKernelNode_v2", *head, kernel_node(fill, words))
                case "fill":
                    t.do("cuGraphAddMemsetNode", *head, bytes_of(FILL, a, 0, 7, 4, 16, 1), t.context)
                case "long fill":
                    t.do("cuGraphAddMemsetNode", *head, bytes_of(FILL, a, 0, 7, 4, 32, 1), t.context)
                case "flat fill":
                    t.do("cuGraphAddMemsetNode", *head, bytes_of(FILL, a, 64, 7, 4, 4, 4), t.context)
                case "copy":
                    t.do("cuGraphAddMemcpyNode", *head, copy_node(b, a, 64), t.context)
                case "copy up":
                    t.do("cuGraphAddMemcpyNode", *head, copy_node(b, ct.addressof(own), 64, (2, 1)), t.context)
                case "host":
                    t.do("cuGraphAddHostNode", *head, bytes_of("<QQ", host, 0))
                case _:
                    t.do("cuGraphAddEmptyNode", *head)
            last.append(node)
        return graph

    tries = {
        "kernel": ("larger", "other", "fill", "empty", "kernel kernel", ""),
        "fill": ("long fill", "flat fill", "kernel", "fill"),
        "copy": ("copy up", "copy", "fill"),
        "kernel fill": ("fill kernel", "kernel fill", "kernel kernel"),
        "host": ("host", "kernel"),
        "": ("", "kernel"),
        "flat fill": ("fill",),
        "copy up": ("copy",),
    }
    for first, others in tries.items():
        for second in others:
            made, result = P(), ct.create_string_buffer(24)
            t.do("cuGraphInstantiateWithFlags", ct.byref(made), of(*first.split()), 0)
            t(
                "cuGraphExecUpdate_v2",
                made,
                of(*second.split()),
                result,
                about=f"{first or 'nothing'} to {second or 'nothing'}",
            )
            t.told(
                f"{first or 'nothing'} to {second or 'nothing'}",
                struct.unpack_from("<i", result.raw)[0],
                [bool(one) for one in struct.unpack_from("<8xQQ", result.raw)],
            )
    made, result = P(), ct.create_string_buffer(24)
    t.do("cuGraphInstantiateWithFlags", ct.byref(made), of("kernel", "kernel"), 0)
    t("cuGraphExecUpdate_v2", made, of("kernel", "kernel", row=False), result, about="an edge less")
    t.told(
        "an edge less",
        struct.unpack_from("<i", result.raw)[0],
        [bool(one) for one in struct.unpack_from("<8xQQ", result.raw)],
    )


def objects(t: Calls) -> None:
    """User objects."""
    t.begin()
    gone: list[int] = []

    @HOST_FUNCTION
    def destroy(argument: int) -> None:
        gone.append(argument)

    thing, graph, made = P(), t.graph(), P()
    for count, flags in ((0, 1), (1, 0), (1, 2), (1, 3), (2**31, 1)):
        t("cuUserObjectCreate", ct.byref(thing), P(1), destroy, count, flags)
    t("cuUserObjectCreate", None, P(1), destroy, 1, 1)
    t("cuUserObjectCreate", ct.byref(thing), P(1), None, 1, 1)
    t("cuUserObjectCreate", ct.byref(thing), P(7), destroy, 3, 1)
    for count in (0, 1, 2**31):
        t("cuUserObjectRetain", thing, count)
    for count, flags in ((0, 0), (1, 0), (1, 1), (1, 2), (2**31, 0)):
        t("cuGraphRetainUserObject", graph, thing, count, flags)
    t("cuGraphRetainUserObject", None, thing, 1, 0)
    t("cuGraphRetainUserObject", graph, None, 1, 0)
    t("cuGraphReleaseUserObject", graph, thing, 0)
    t("cuGraphReleaseUserObject", graph, thing, 1)
    t("cuGraphReleaseUserObject", graph, thing, 5)
    t("cuUserObjectRelease", thing, 0)
    t("cuUserObjectRelease", thing, 1)
    t.told("destroyed", list(gone))
    t.do("cuGraphInstantiateWithFlags", ct.byref(made), graph, 0)
    t("cuUserObjectRelease", thing, 1)
    t("cuUserObjectRelease", thing, 1)
    t("cuGraphDestroy", graph)
    t.told("destroyed", list(gone))
    t("cuGraphExecDestroy", made)
    t.quietly("cuCtxSynchronize")
    t.told("destroyed", list(gone))
    t("cuUserObjectRetain", None, 1)
    t("cuUserObjectRelease", None, 1)


def conditionals(t: Calls) -> None:
    """Conditional nodes: handles, parameters, bodies, what they do with the value they begin with."""
    t.begin()
    graph, handle, node, a = t.graph(), N(), P(), t.memory(4096)
    t("cuGraphConditionalHandleCreate", ct.byref(handle), graph, t.context, 1, 1)
    for flags in (0, 1, 2, 3):
        t("cuGraphConditionalHandleCreate", ct.byref(handle), graph, t.context, 1, flags)
    t("cuGraphConditionalHandleCreate", ct.byref(handle), graph, None, 1, 1)
    t("cuGraphConditionalHandleCreate", ct.byref(handle), None, t.context, 1, 1)
    t("cuGraphConditionalHandleCreate", None, graph, t.context, 1, 1)

    def conditional(
        about: str, owner: P, kind: int, size: int, value: int | None = 1, *, of: P | None = None
    ) -> list[int]:
        made = N()
        if value is not None:
            t.quietly("cuGraphConditionalHandleCreate", ct.byref(made), of or owner, t.context, value, 1)
        params = ct.create_string_buffer(
            struct.pack("<i12xQiIQQ", 13, made.value, kind, size, 0, t.context.value or 0), 256
        )
        error = t("cuGraphAddNode_v2", ct.byref(node), owner, None, None, 0, params, about=about)
        where = struct.unpack_from("<i12xQiIQQ", params.raw)[4]
        if error:
            return []
        return list((ct.c_uint64 * size).from_address(where)) if where else [0] * size

    for kind, sizes in ((0, (0, 1, 2, 3)), (1, (0, 1, 2)), (2, (0, 1, 5)), (3, (1,))):
        for size in sizes:
            bodies = conditional(f"kind {kind}, {size} bodies", t.graph(), kind, size)
            t.told("bodies", len(bodies), all(bodies))
    conditional("a handle of no graph", graph, 0, 1, None)
    conditional("a handle of another graph", graph, 0, 1, of=t.graph())
    kind_told = I()
    t("cuGraphNodeGetType", node, ct.byref(kind_told))
    for about, kind, size, value in (
        ("if, true", 0, 1, 1),
        ("if, false", 0, 1, 0),
        ("if and else, true", 0, 2, 7),
        ("if and else, false", 0, 2, 0),
        ("switch 0", 2, 3, 0),
        ("switch 2", 2, 3, 2),
        ("switch 3 of 3", 2, 3, 3),
        ("while, false", 1, 1, 0),
    ):
        one, executable = t.graph(), P()
        bodies = conditional(about, one, kind, size, value)
        for number, body in enumerate(bodies):
            fill = bytes_of(FILL, a + 4 * number, 0, number + 1, 4, 1, 1)
            t("cuGraphAddMemsetNode", ct.byref(P()), P(body), None, 0, fill, t.context, about="in a body")
        t("cuMemsetD8_v2", at(a), 0, 64)
        t("cuGraphInstantiateWithFlags", ct.byref(executable), one, 0, about=about)
        t("cuGraphLaunch", executable, None, about=about)
        t.told(about, t.words(a, 4))
    one = t.graph()
    bodies = conditional("for wrong nodes", one, 0, 1)
    if bodies:
        body = P(bodies[0])
        t(
            "cuGraphAddHostNode",
            ct.byref(node),
            body,
            None,
            0,
            bytes_of("<QQ", ct.cast(nothing, P).value or 0, 0),
            about="in a body",
        )
        t("cuGraphAddEventRecordNode", ct.byref(node), body, None, 0, t.event(), about="in a body")
        t("cuGraphDestroy", body, about="a body")
        t("cuGraphClone", ct.byref(P()), one, about="with a condition")
    with_host = t.graph()
    bodies = conditional("with a function of the host", with_host, 0, 1)
    if bodies:
        t.quietly(
            "cuGraphAddHostNode",
            ct.byref(node),
            P(bodies[0]),
            None,
            0,
            bytes_of("<QQ", ct.cast(nothing, P).value or 0, 0),
        )
        t("cuGraphInstantiateWithFlags", ct.byref(P()), with_host, 0, about="with a function of the host in a body")


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    one.__name__: one
    for one in (building, destroyed_graph, nodes, generic, memory_nodes, executables, updates, objects, conditionals)
}
