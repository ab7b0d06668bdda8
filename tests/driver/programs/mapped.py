"""Memory that is mapped where the program wants it: grown, shared with another process, taken away under a kernel."""

import ctypes
import os
import struct
import subprocess
import sys
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

UNIT = 2 << 20
PROPERTIES = struct.pack("<IIiiQQ", 1, 1, 1, 0, 0, 0)
ACCESS = struct.pack("<iii", 1, 0, 3)


def reserve(units: int) -> int:
    """Addresses set aside."""
    start = c_uint64()
    cuda.call("cuMemAddressReserve", byref(start), c_size_t(units * UNIT), c_size_t(0), c_uint64(0), c_uint64(0))
    return start.value


def create() -> c_uint64:
    """A piece of memory."""
    made = c_uint64()
    cuda.call("cuMemCreate", byref(made), c_size_t(UNIT), PROPERTIES, c_uint64(0))
    return made


def put(address: int, memory: c_uint64) -> None:
    """Memory at an address, for reading and writing."""
    cuda.call("cuMemMap", c_uint64(address), c_size_t(UNIT), c_size_t(0), memory, c_uint64(0))
    cuda.call("cuMemSetAccess", c_uint64(address), c_size_t(UNIT), ACCESS, c_size_t(1))


cuda.begin()
if len(sys.argv) > 1:  # the other process
    theirs = c_uint64()
    cuda.call("cuMemImportFromShareableHandle", byref(theirs), c_void_p(int(sys.argv[1])), 1)
    there = reserve(1)
    put(there, theirs)
    values = cuda.read(c_uint64(there), 2)
    cuda.write(c_uint64(there), values[0] + 1, values[1] + 1)
    sys.exit()

kernel = cuda.function(cuda.module())
base = reserve(4)
first, second = create(), create()
put(base, first)
put(base + UNIT, second)  # it grows
across = c_uint64(base + UNIT - 8)
cuda.launch(kernel, across, 4)
print(cuda.read(across, 4))

again = base + 3 * UNIT
put(again, first)  # at two places
cuda.write(c_uint64(again), 41, 42)
print(cuda.read(c_uint64(base), 2))

file = ctypes.c_int(-1)
cuda.call("cuMemExportToShareableHandle", byref(file), first, 1, c_uint64(0))
command = [sys.executable, __file__, str(file.value)]
subprocess.run(command, pass_fds=[file.value], check=True)
print(cuda.read(c_uint64(base), 2))
wrong = os.memfd_create("another")
print(cuda.answer("cuMemImportFromShareableHandle", byref(c_uint64()), c_void_p(wrong), 1))

made: list[int] = []
while (
    error := cuda.answer("cuMemCreate", byref(more := c_uint64()), c_size_t(16 * UNIT), PROPERTIES, c_uint64(0))
) == 0:
    made.append(more.value)
print(error, len(made))
for one in made:
    cuda.call("cuMemRelease", c_uint64(one))

cuda.call("cuMemUnmap", c_uint64(base + UNIT), c_size_t(UNIT))
cuda.call("cuMemRelease", second)
cuda.launch(kernel, across, 4)
print(cuda.answer("cuCtxSynchronize"))
