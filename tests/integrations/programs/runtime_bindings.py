"""cuda.bindings.runtime, as its users write it: what the device is, memory, a stream, errors."""

import numpy as np
from cuda.bindings import runtime

error, count = runtime.cudaGetDeviceCount()
error, facts = runtime.cudaGetDeviceProperties(0)
print(error.name, count, facts.major * 10 + facts.minor, facts.name.decode().rstrip("\0"))
error, stream = runtime.cudaStreamCreate()
before = np.arange(1000, dtype=np.int32)
after = np.zeros_like(before)
error, memory = runtime.cudaMalloc(before.nbytes)
kinds = runtime.cudaMemcpyKind
runtime.cudaMemcpyAsync(memory, before.ctypes.data, before.nbytes, kinds.cudaMemcpyHostToDevice, stream)
runtime.cudaMemcpyAsync(after.ctypes.data, memory, before.nbytes, kinds.cudaMemcpyDeviceToHost, stream)
print(runtime.cudaStreamSynchronize(stream)[0].name, bool((before == after).all()))
print(runtime.cudaSetDevice(7)[0].name, runtime.cudaFree(memory)[0].name)
