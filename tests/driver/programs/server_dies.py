"""The server is gone between two calls: each further one answers that the device is unavailable."""

import sys

import driver_calls as cuda

cuda.begin()
kernel = cuda.function(cuda.module())
array = cuda.allocate(8)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(2):
    try:
        cuda.launch(kernel, array, 2)
    except cuda.CudaError as error:
        print(*error.args)
