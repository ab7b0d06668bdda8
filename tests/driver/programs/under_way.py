"""A kernel runs, and somebody ends: this program, or the server when the program says that the kernel has begun."""

import ctypes
import os
import sys
import threading
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry bump(.param .u64 at, .param .u64 count)
{
    .reg .b64 %at, %count, %x; .reg .pred %more;
    ld.param.u64 %at, [at]; ld.param.u64 %count, [count];
again:
    ld.volatile.global.u64 %x, [%at]; add.u64 %x, %x, 1; st.volatile.global.u64 [%at], %x;
    sub.u64 %count, %count, 1; setp.ne.u64 %more, %count, 0; @%more bra again;
    ret;
}
"""

cuda.begin()
context, at = c_void_p(), c_uint64()
cuda.call("cuCtxGetCurrent", byref(context))
kernel = cuda.function(cuda.module(PTX), b"bump")
cuda.call("cuMemAllocManaged", byref(at), c_size_t(8), 1)
count = c_uint64(int(sys.argv[2]))
answers: list[int] = []


def launch() -> None:
    cuda.call("cuCtxSetCurrent", context)
    pointers = (c_void_p * 2)(ctypes.addressof(at), ctypes.addressof(count))
    shape = (1, 1, 1, 1, 1, 1, 0, None, pointers, None)
    answers.extend((cuda.answer("cuLaunchKernel", kernel, *shape), cuda.answer("cuCtxSynchronize")))


thread = threading.Thread(target=launch)
thread.start()
while not c_uint64.from_address(at.value or 0).value:
    pass
if sys.argv[1] == "program":
    os._exit(0)
print("begun", flush=True)
thread.join()
print(*answers)
