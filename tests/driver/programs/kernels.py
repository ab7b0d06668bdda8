"""Two modules of one text: each has variables of its own; buffers, graphs and streams launch as pointers do."""

import ctypes
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

cuda.begin()
first, second = cuda.module(), cuda.module()
cuda.write(cuda.variable(first), 100)
data = cuda.allocate(40)
for one in (first, second):
    cuda.launch(cuda.function(one), data, 10)
    print(cuda.read(data, 10))

kernel = cuda.function(first)
buffer = data.value.to_bytes(8, "little") + (3).to_bytes(4, "little")
size = c_size_t(len(buffer))
extra = (c_void_p * 5)(1, ctypes.cast(ctypes.c_char_p(buffer), c_void_p), 2, ctypes.addressof(size), 0)
cuda.call("cuMemsetD32_v2", data, 7, c_size_t(10))
cuda.call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, None, extra)
print(cuda.read(data, 5))

stream, graph, ready = c_void_p(), c_void_p(), c_void_p()
cuda.call("cuStreamCreate", byref(stream), 1)
cuda.call("cuStreamBeginCapture_v2", stream, 0)
cuda.call("cuMemsetD32Async", data, 1, c_size_t(10), stream)
cuda.launch(kernel, data, 2, stream)
cuda.call("cuStreamEndCapture", stream, byref(graph))
print(cuda.read(data, 5))
cuda.call("cuGraphInstantiateWithFlags", byref(ready), graph, c_uint64(0))
cuda.call("cuGraphLaunch", ready, stream)
print(cuda.read(data, 5))

other = c_uint64()
cuda.call("cuMemAlloc_v2", byref(other), c_size_t(40))
cuda.call("cuMemcpyDtoD_v2", other, data, c_size_t(40))
cuda.call("cuModuleUnload", second)
cuda.call("cuMemFree_v2", data)
print(cuda.read(other, 3))
try:
    cuda.read(data, 3)
except cuda.CudaError as error:
    print(error.args)
