"""Graphs that decide: a kernel sets what a loop and a choice go by; copies in batches; graphs that a stream adds to."""

import ctypes
import struct
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

COUNT_DOWN = b"""
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 at, .param .u64 loop, .param .u64 choice)
{
    .reg .b64 %at, %loop, %choice; .reg .b32 %left, %two;
    ld.param.u64 %at, [at]; ld.param.u64 %loop, [loop]; ld.param.u64 %choice, [choice];
    cvta.to.global.u64 %at, %at;
    ld.global.u32 %left, [%at];
    sub.u32 %left, %left, 1;
    st.global.u32 [%at], %left;
    mov.u32 %two, 2;
    { .param .b64 h; .param .b32 v; st.param.b64 [h], %loop; st.param.b32 [v], %left;
      call.uni cudaGraphSetConditional, (h, v); }
    { .param .b64 h; .param .b32 v; st.param.b64 [h], %choice; st.param.b32 [v], %two;
      call.uni cudaGraphSetConditional, (h, v); }
    ret;
}
"""
CONDITION = 13
context = c_void_p()
cuda.begin()
cuda.call("cuCtxGetCurrent", byref(context))


def value(graph: c_void_p, first: int) -> c_uint64:
    """What a condition goes by, as it is when the graph is launched."""
    made = c_uint64()
    cuda.call("cuGraphConditionalHandleCreate", byref(made), graph, context, first, 1)
    return made


def condition(graph: c_void_p, by: c_uint64, kind: int, count: int, after: c_void_p | None = None) -> list[c_void_p]:
    """The graphs among which a node decides."""
    node, last = c_void_p(), (c_void_p * 1)(after.value if after else None)
    told = struct.pack("<i12xQiIQQ", CONDITION, by.value, kind, count, 0, context.value or 0)
    params = ctypes.create_string_buffer(told, 256)
    cuda.call(
        "cuGraphAddNode_v2", byref(node), graph, last if after else None, None, c_size_t(int(bool(after))), params
    )
    made.append(node)
    where = struct.unpack_from("<i12xQiIQQ", params.raw)[4]
    return [c_void_p(one) for one in (ctypes.c_uint64 * count).from_address(where)]


def fill(graph: c_void_p, at: int, number: int) -> None:
    """A node that writes a number."""
    params = struct.pack("<QQIIQQ", at, 0, number, 4, 1, 1)
    cuda.call("cuGraphAddMemsetNode", byref(c_void_p()), graph, None, c_size_t(0), params, context)


made: list[c_void_p] = []
array = cuda.allocate(64)
kernel = cuda.function(cuda.module(COUNT_DOWN), b"count_down")
graph, ready = c_void_p(), c_void_p()
cuda.call("cuGraphCreate", byref(graph), 0)
loop, choice = value(graph, 1), value(graph, 0)
(body,) = condition(graph, loop, 1, 1)
pointers = (c_void_p * 3)(ctypes.addressof(array), ctypes.addressof(loop), ctypes.addressof(choice))
kernel_node = struct.pack("<Q7I4xQQQQ", kernel.value or 0, *[1] * 6, 0, ctypes.addressof(pointers), 0, 0, 0)
cuda.call("cuGraphAddKernelNode_v2", byref(c_void_p()), body, None, c_size_t(0), kernel_node)
for number, branch in enumerate(condition(graph, choice, 2, 3, made[0])):
    fill(branch, array.value + 4 + 4 * number, 10 + number)
cuda.call("cuGraphInstantiateWithFlags", byref(ready), graph, c_uint64(0))
cuda.call("cuGraphDestroy", graph)
for turns in (5, 1):
    cuda.write(array, turns, 0, 0, 0)
    cuda.call("cuGraphLaunch", ready, None)
    print(cuda.read(array, 4))

stream, numbers = c_void_p(), (ctypes.c_uint32 * 4)(7, 8, 9, 10)
cuda.call("cuStreamCreate", byref(stream), 1)
to = (c_uint64 * 2)(array.value, array.value + 8)
source = (c_uint64 * 2)(ctypes.addressof(numbers) + 8, ctypes.addressof(numbers))
sizes, first = (c_size_t * 2)(8, 8), (c_size_t * 1)(0)
attributes = struct.pack("<iiiiiI", 1, 0, 0, 0, 0, 0)
cuda.call("cuMemcpyBatchAsync_v2", to, source, sizes, c_size_t(2), c_char_p(attributes), first, c_size_t(1), stream)
print(cuda.read(array, 4))
write, wait = (struct.pack("<I4xQQI4xQ8x", kind, array.value, 5, 0, 0) for kind in (2, 1))
cuda.call("cuStreamBatchMemOp_v2", stream, 2, c_char_p(write + wait), 0)
print(cuda.read(array, 2))

own, count = c_void_p(), c_size_t()
cuda.call("cuGraphCreate", byref(own), 0)
for question in (
    None,
    "cuStreamSynchronize",
):  # which cannot be asked meanwhile: what was recorded is lost, and the graph
    cuda.call("cuStreamBeginCaptureToGraph", stream, own, None, None, c_size_t(0), 0)
    cuda.call("cuMemsetD32Async", array, 6, c_size_t(1), stream)
    print(cuda.answer(question, stream) if question else 0, cuda.answer("cuStreamEndCapture", stream, None), end=" ")
    if not question:
        cuda.call("cuGraphInstantiateWithFlags", byref(ready), own, c_uint64(0))
        cuda.call("cuGraphLaunch", ready, None)
print(cuda.answer("cuGraphGetNodes", own, None, byref(count)), cuda.read(array, 1))
