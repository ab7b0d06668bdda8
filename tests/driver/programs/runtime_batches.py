"""Copies in batches, as the runtime's library has them."""

import ctypes
import struct
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p

runtime = ctypes.CDLL("libcudart.so")
array, stream, event, found = c_void_p(), c_void_p(), c_void_p(), c_void_p()
assert runtime.cudaMalloc(byref(array), c_size_t(16)) == 0
assert runtime.cudaStreamCreateWithFlags(byref(stream), 1) == 0
numbers = (ctypes.c_uint32 * 4)(7, 8, 9, 10)
to = (c_uint64 * 2)(array.value or 0, (array.value or 0) + 8)
source = (c_uint64 * 2)(ctypes.addressof(numbers) + 8, ctypes.addressof(numbers))
sizes, first = (c_size_t * 2)(8, 8), (c_size_t * 1)(0)
attributes = c_char_p(struct.pack("<iiiiiI", 1, 0, 0, 0, 0, 0))
print(runtime.cudaMemcpyBatchAsync(to, source, sizes, c_size_t(2), attributes, first, c_size_t(1), stream))
assert runtime.cudaMemcpy(numbers, array, c_size_t(16), 2) == 0
print(list(numbers))
print(runtime.cudaMemcpyBatchAsync(to, source, sizes, c_size_t(0), attributes, first, c_size_t(1), stream))

graph, node = c_void_p(), c_void_p()
assert runtime.cudaEventCreate(byref(event)) == 0
assert runtime.cudaGraphCreate(byref(graph), 0) == 0
assert runtime.cudaGraphAddEventRecordNode(byref(node), graph, None, c_size_t(0), event) == 0
assert runtime.cudaGraphEventRecordNodeGetEvent(node, byref(found)) == 0
print(found.value == event.value)
