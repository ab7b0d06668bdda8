"""A child whose parent has a device has none; one that was forked before has its own."""

import os

import driver_calls as cuda


def child() -> None:
    try:
        cuda.begin()
        array = cuda.allocate(8)
        cuda.launch(cuda.function(cuda.module()), array, 2)
        print(cuda.read(array, 2), flush=True)
    except cuda.CudaError as error:
        print(*error.args, flush=True)
    os._exit(0)


for _ in range(2):
    if (number := os.fork()) == 0:
        child()
    os.waitpid(number, 0)
    cuda.begin()
array = cuda.allocate(8)
cuda.launch(cuda.function(cuda.module()), array, 2)
print(cuda.read(array, 2))
