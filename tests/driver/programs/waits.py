"""Streams wait for values that another thread stores: whether each wait ends when its value is there."""

import threading
import time
from ctypes import byref, c_size_t, c_uint32, c_uint64

import driver_calls as cuda

ONES = 2**64 - 1
WAITS = {  # what stands there at first, what is waited for, what another thread stores
    "at least": (0, 6, 7, 8),
    "equal": (1, 6, 7, 7),
    "any bit": (2, 4, 3, 6),
    "any bit in neither": (3, ONES - 15, 15, ONES - 31),
}

cuda.begin()
at = c_uint64()
cuda.call("cuMemAllocManaged", byref(at), c_size_t(8), 1)
for bits, kind in ((32, c_uint32), (64, c_uint64)):
    word = kind.from_address(at.value)
    for name, (how, first, wanted, then) in WAITS.items():
        word.value = first

        def store(then: int = then, word: c_uint32 | c_uint64 = word) -> None:
            time.sleep(0.05)
            word.value = then

        thread = threading.Thread(target=store)
        thread.start()
        cuda.call(f"cuStreamWaitValue{bits}_v2", None, at, kind(wanted), how)
        print(bits, name, "is over" if word.value == kind(then).value else "was over too early")
        thread.join()
