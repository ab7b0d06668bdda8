"""A graph that allocates: what it computes twice, and a kernel behind it that reads what the graph has freed."""

from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

cuda.begin()
kernel, stream, result = cuda.function(cuda.module()), c_void_p(), cuda.allocate(64)
cuda.call("cuStreamCreate", byref(stream), 1)
cuda.call("cuStreamBeginCapture_v2", stream, 0)
own = c_uint64()
cuda.call("cuMemAllocAsync", byref(own), c_size_t(64), stream)
cuda.launch(kernel, own, 4, stream)
cuda.call("cuMemcpyDtoDAsync_v2", result, own, c_size_t(16), stream)
cuda.call("cuMemFreeAsync", own, stream)
graph, made = c_void_p(), c_void_p()
cuda.call("cuStreamEndCapture", stream, byref(graph))
cuda.call("cuGraphInstantiateWithFlags", byref(made), graph, c_uint64(0))
for _ in range(2):
    cuda.write(result, 0, 0, 0, 0)
    cuda.call("cuGraphLaunch", made, stream)
    print(cuda.read(result, 4), cuda.answer("cuMemsetD8_v2", own, c_int(0), c_size_t(1)))
cuda.launch(kernel, own, 4, stream)
print("the next call", cuda.answer("cuCtxSynchronize"))
