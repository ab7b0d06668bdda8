"""What a program may do to graphs at odd moments, and what odd graphs there may be.

odd_graphs.py WHAT
"""

import ctypes
import struct
import sys
import threading
from collections.abc import Callable
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

HOST = ctypes.CFUNCTYPE(None, c_void_p)
HEARER = ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int, c_void_p, c_size_t)
MANY = 20_000
DEEP = 2_000

cuda.begin()
context = c_void_p()
cuda.call("cuCtxGetCurrent", byref(context))


def graph() -> c_void_p:
    made = c_void_p()
    cuda.call("cuGraphCreate", byref(made), 0)
    return made


def ready(of: c_void_p) -> c_void_p:
    made = c_void_p()
    cuda.call("cuGraphInstantiateWithFlags", byref(made), of, c_uint64(0))
    return made


def fill(into: c_void_p, to: c_uint64, after: c_void_p) -> None:
    told = struct.pack("<QQIIQQ", to.value, 0, 7, 1, 4, 1)  # 4 bytes of 7
    node = ctypes.create_string_buffer(told)
    cuda.call("cuGraphAddMemsetNode", byref(c_void_p()), into, byref(after), c_size_t(1), node, context)


def waits_and_fills(function: object, to: c_uint64) -> c_void_p:
    """A graph that calls a function, then fills memory."""
    made, node = graph(), c_void_p()
    params = (c_void_p * 2)(ctypes.cast(function, c_void_p).value, None)  # type: ignore[arg-type]
    cuda.call("cuGraphAddHostNode", byref(node), made, None, c_size_t(0), params)
    fill(made, to, node)
    return made


def meanwhile(do: Callable[[c_void_p, c_void_p, c_void_p], None], *, is_inner: bool = False) -> None:
    """Launch a graph, and do something to it from another thread while its function is called."""
    inside, done, memory = threading.Event(), threading.Event(), cuda.allocate(4)

    @HOST
    def function(_data: int | None) -> None:
        inside.set()
        done.wait()

    def other() -> None:
        inside.wait()
        cuda.call("cuCtxSetCurrent", context)
        do(made, node, spare)
        for _ in range(100):  # what takes the place of what is gone
            graph()
        done.set()

    inner, node, spare = waits_and_fills(function, memory), c_void_p(), c_void_p()
    cuda.call("cuGraphClone", byref(spare), inner)
    outer = graph() if is_inner else inner
    if is_inner:
        cuda.call("cuGraphAddChildGraphNode", byref(node), outer, None, c_size_t(0), inner)
    made = ready(outer)
    thread = threading.Thread(target=other)
    thread.start()
    cuda.write(memory, 0)
    print(cuda.answer("cuGraphLaunch", made, None), [hex(one) for one in cuda.read(memory, 1)])
    thread.join()


def give(parent: c_void_p, child: c_void_p) -> int:
    """Put a graph itself, not a copy, into a node."""
    params = bytearray(256)
    struct.pack_into("<i", params, 0, 4)
    struct.pack_into("<Qi", params, 16, child.value, 1)
    room = (ctypes.c_char * 256).from_buffer(params)
    return cuda.answer("cuGraphAddNode", byref(c_void_p()), parent, None, c_size_t(0), room)


def circles() -> None:
    first, second = graph(), graph()
    print(give(first, first), give(first, second), give(second, first), cuda.answer("cuGraphDestroy", first))
    one = graph()
    for depth in range(DEEP):
        outer = graph()
        if answer := give(outer, one):
            print("at", depth, answer)
            break
        one = outer
    print(cuda.answer("cuGraphDestroy", one))


def backwards() -> None:
    one, nodes = graph(), [c_void_p() for _ in range(MANY)]
    for node in nodes:
        cuda.call("cuGraphAddEmptyNode", byref(node), one, None, c_size_t(0))
    pointers = [node.value for node in nodes]
    sources, targets = (c_void_p * (MANY - 1))(*pointers[1:]), (c_void_p * (MANY - 1))(*pointers[:-1])
    cuda.call("cuGraphAddDependencies", one, sources, targets, c_size_t(MANY - 1))
    print(cuda.answer("cuGraphLaunch", ready(one), None))
    cuda.call("cuGraphAddDependencies", one, byref(nodes[0]), byref(nodes[-1]), c_size_t(1))
    print(cuda.answer("cuGraphInstantiateWithFlags", byref(c_void_p()), one, c_uint64(0)))


def conditions() -> None:
    free, whole, places = c_size_t(), c_size_t(), set[int]()
    cuda.call("cuMemGetInfo_v2", byref(free), byref(whole))
    before = free.value
    for _ in range(3):
        one, place = graph(), c_uint64()
        cuda.call("cuGraphConditionalHandleCreate", byref(place), one, context, 1, 1)
        places.add(place.value or 0)
        made = ready(one)
        print(cuda.answer("cuMemFree_v2", place), end=" ")
        cuda.call("cuGraphDestroy", one)
        print(cuda.answer("cuMemsetD8_v2", place, 0, c_size_t(4)), end=" ")
        cuda.call("cuGraphExecDestroy", made)
        print(cuda.answer("cuMemsetD8_v2", place, 0, c_size_t(4)), end=" ")
    cuda.call("cuMemGetInfo_v2", byref(free), byref(whole))
    print(before - free.value)


def listeners() -> None:
    heard: list[int] = []

    @HEARER
    def hear(*_told: object) -> None:
        heard.append(1)
        cuda.answer("cuGraphicsUnregisterResource", None)
        cuda.call("cuLogsRegisterCallback", hear, None, byref(c_void_p()))

    cuda.call("cuLogsRegisterCallback", hear, None, byref(c_void_p()))
    cuda.answer("cuGraphicsUnregisterResource", None)
    cuda.answer("cuGraphicsUnregisterResource", None)
    print(len(heard))


def recorded() -> None:
    stream, memory, copy = c_void_p(), cuda.allocate(4), c_void_p()
    cuda.call("cuStreamCreate", byref(stream), 1)

    @HOST
    def nothing(_data: int | None) -> None:
        pass

    outer, node, child = graph(), c_void_p(), c_void_p()
    cuda.call("cuGraphAddChildGraphNode", byref(node), outer, None, c_size_t(0), waits_and_fills(nothing, memory))
    made = ready(outer)
    cuda.call("cuStreamBeginCapture_v2", stream, 0)
    cuda.call("cuGraphLaunch", made, stream)
    cuda.call("cuStreamEndCapture", stream, byref(copy))
    cuda.call("cuGraphGetNodes", copy, byref(node), byref(c_size_t(1)))
    cuda.call("cuGraphChildGraphNodeGetGraph", node, byref(child))
    print(cuda.answer("cuGraphDestroy", child), cuda.answer("cuGraphDestroy", copy), end=" ")
    cuda.write(memory, 0)
    print(cuda.answer("cuGraphLaunch", made, stream), [hex(one) for one in cuda.read(memory, 1)], end=" ")
    cuda.call("cuStreamBeginCapture_v2", stream, 0)
    print(cuda.answer("cuStreamDestroy_v2", stream), cuda.answer("cuMemAlloc_v2", byref(memory), c_size_t(4)))


def changes() -> None:
    child = (c_uint64 * 32)(4)  # the kind of a node with a graph

    def set_child(made: c_void_p, node: c_void_p, spare: c_void_p) -> None:
        child[2] = spare.value or 0
        cuda.call("cuGraphExecNodeSetParams", made, node, child)

    meanwhile(lambda made, _node, _spare: cuda.call("cuGraphExecDestroy", made))
    meanwhile(lambda made, _node, spare: cuda.call("cuGraphExecUpdate_v2", made, spare, byref((c_uint64 * 4)())))
    meanwhile(set_child, is_inner=True)
    meanwhile(
        lambda made, node, spare: cuda.call("cuGraphExecChildGraphNodeSetParams", made, node, spare), is_inner=True
    )


{
    "changes": changes,
    "circles": circles,
    "backwards": backwards,
    "conditions": conditions,
    "listeners": listeners,
    "recorded": recorded,
}[sys.argv[1]]()
