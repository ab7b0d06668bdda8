"""The driver's functions as these programs call them: whatever is an error raises it."""

import ctypes
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p
from typing import Any

LIBRARY = ctypes.CDLL("libcuda.so.1")

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.global .u32 base = 5;
.visible .entry fill(.param .u64 to, .param .u32 count)
{
    .reg .b64 %to; .reg .b32 %t, %count, %x; .reg .pred %beyond;
    ld.param.u64 %to, [to]; ld.param.u32 %count, [count];
    mov.u32 %t, %tid.x; setp.ge.u32 %beyond, %t, %count; @%beyond ret;
    ld.global.u32 %x, [base]; add.u32 %x, %x, %t;
    mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %x;
    ret;
}
"""


class CudaError(Exception):
    """What a function answered."""


def call(name: str, *arguments: Any) -> None:
    """Call a function by its symbol."""
    error = getattr(LIBRARY, name)(*arguments)  # reports name this line
    if error:
        raise CudaError(name, error)


def answer(name: str, *arguments: Any) -> int:
    """What a function answers."""
    return int(getattr(LIBRARY, name)(*arguments))


def begin() -> None:
    """Initialise, with a context."""
    call("cuInit", 0)
    call("cuCtxCreate_v2", byref(c_void_p()), 0, 0)


def module(text: bytes = PTX) -> c_void_p:
    """A module of its own."""
    made = c_void_p()
    call("cuModuleLoadData", byref(made), c_char_p(text))
    return made


def function(of: c_void_p, name: bytes = b"fill") -> c_void_p:
    """A kernel of a module."""
    found = c_void_p()
    call("cuModuleGetFunction", byref(found), of, c_char_p(name))
    return found


def allocate(size: int) -> c_uint64:
    """Memory of the device."""
    made = c_uint64()
    call("cuMemAlloc_v2", byref(made), c_size_t(size))
    return made


def variable(of: c_void_p, name: bytes = b"base") -> c_uint64:
    """Where a variable lies."""
    found, size = c_uint64(), c_size_t()
    call("cuModuleGetGlobal_v2", byref(found), byref(size), of, c_char_p(name))
    return found


def write(to: c_uint64, *values: int) -> None:
    """Copy 32-bit integers to the device."""
    data = (ctypes.c_uint32 * len(values))(*values)
    call("cuMemcpyHtoD_v2", to, data, c_size_t(4 * len(values)))


def read(start: c_uint64, count: int) -> list[int]:
    """32-bit integers of the device."""
    data = (ctypes.c_uint32 * count)()
    call("cuMemcpyDtoH_v2", data, start, c_size_t(4 * count))
    return list(data)


def launch(kernel: c_void_p, to: c_uint64, count: int, stream: Any = None, threads: int = 32) -> None:
    """Launch `fill`."""
    number = ctypes.c_uint32(count)
    pointers = (c_void_p * 2)(ctypes.addressof(to), ctypes.addressof(number))
    call("cuLaunchKernel", kernel, 1, 1, 1, threads, 1, 1, 0, stream, pointers, None)
