"""Memory of one process in another one: it reads, its kernel writes, and both see it."""

import ctypes
import subprocess
import sys
from ctypes import byref, c_size_t, c_uint64

import driver_calls as cuda


class Handle(ctypes.Structure):
    """A `CUipcMemHandle`."""

    _fields_ = (("bytes", ctypes.c_char * 64),)

    @classmethod
    def of(cls, text: str) -> "Handle":
        """From hexadecimal digits."""
        return cls.from_buffer_copy(bytes.fromhex(text))


def owner() -> None:
    array = cuda.allocate(16)
    cuda.write(array, 1, 2, 3, 4)
    handle = Handle()
    cuda.call("cuIpcGetMemHandle", byref(handle), array)
    try:
        cuda.call("cuIpcOpenMemHandle_v2", byref(c_uint64()), handle, 1)
    except cuda.CudaError as error:
        print(*error.args, flush=True)
    subprocess.run([sys.executable, __file__, bytes(handle).hex()], check=True)
    print(cuda.read(array, 4))


def borrower(text: str) -> None:
    array = c_uint64()
    cuda.call("cuIpcOpenMemHandle_v2", byref(array), Handle.of(text), 1)
    print(cuda.read(array, 4))
    cuda.launch(cuda.function(cuda.module()), array, 2)
    cuda.call("cuMemsetD32_v2", c_uint64(array.value + 12), 9, c_size_t(1))
    print(cuda.read(array, 4))
    cuda.call("cuIpcCloseMemHandle", array)
    print(cuda.answer("cuMemcpyDtoH_v2", (ctypes.c_uint32 * 4)(), array, c_size_t(16)), flush=True)


cuda.begin()
if sys.argv[1:]:
    borrower(sys.argv[1])
else:
    owner()
