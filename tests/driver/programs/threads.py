"""Eight threads, each with its array, on one context."""

import threading
from ctypes import byref, c_void_p

import driver_calls as cuda

cuda.begin()
context = c_void_p()
cuda.call("cuCtxGetCurrent", byref(context))
kernel = cuda.function(cuda.module())
right: list[bool] = []


def work() -> None:
    cuda.call("cuCtxSetCurrent", context)
    for count in range(1, 20):
        array = cuda.allocate(80)
        cuda.launch(kernel, array, count)
        right.append(cuda.read(array, count) == list(range(5, 5 + count)))
        cuda.call("cuMemFree_v2", array)


threads = [threading.Thread(target=work) for _ in range(8)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(len(right), all(right))
