"""A kernel that writes behind its array, and one that writes where an array was."""

import driver_calls as cuda

cuda.begin()
kernel = cuda.function(cuda.module())
array = cuda.allocate(40)
cuda.launch(kernel, array, 11)
try:
    cuda.call("cuCtxSynchronize")
except cuda.CudaError as error:
    print(*error.args)
try:
    cuda.read(array, 10)
except cuda.CudaError as error:
    print(*error.args)
