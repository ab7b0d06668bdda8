"""The driver's log: a function that is missing, and a kernel that was ended, to whoever listens."""

import ctypes
from ctypes import byref, c_size_t, c_uint, c_uint64, c_void_p

import driver_calls as cuda

HEARER = ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int, c_void_p, c_size_t)


@HEARER
def hear(_data: int | None, level: int, message: int, length: int) -> None:
    print("heard", level, ctypes.string_at(message, length).decode())


cuda.begin()
entry, before, kept, size = c_void_p(), c_uint(), ctypes.create_string_buffer(1000), c_size_t(1000)
cuda.call("cuLogsRegisterCallback", hear, None, byref(entry))
cuda.call("cuLogsCurrent", byref(before), 0)
cuda.answer("cuGraphicsUnregisterResource", None)
cuda.launch(cuda.function(cuda.module()), c_uint64(0x1000), 4)
cuda.answer("cuCtxSynchronize")
cuda.call("cuLogsUnregisterCallback", entry)
cuda.answer("cuGraphicsUnregisterResource", None)
cuda.call("cuLogsDumpToMemory", byref(before), kept, byref(size), 0)
print(kept.value.decode(), end="")
