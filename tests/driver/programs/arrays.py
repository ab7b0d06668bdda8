"""A texture of an array that is unwritten, or that is written, or destroyed, as argument 1 says."""

import ctypes
import sys
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

LOOK = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry look(.param .u64 texture, .param .u64 to)
{
    .reg .b64 %texture, %to; .reg .b32 %x; .reg .f32 %place, %v0, %v1, %v2, %v3;
    ld.param.u64 %texture, [texture]; ld.param.u64 %to, [to];
    mov.u32 %x, %tid.x; cvt.rn.f32.u32 %place, %x;
    tex.1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%texture, {%place}];
    mad.wide.u32 %to, %x, 4, %to; st.global.f32 [%to], %v0;
    ret;
}
"""
THREADS = 8

cuda.begin()
array, texture = c_void_p(), c_uint64()
about = (c_uint64 * 5)(THREADS, 0, 0, 0x20 | 1 << 32, 0)  # CUDA_ARRAY3D_DESCRIPTOR: floats in a line
cuda.call("cuArray3DCreate_v2", byref(array), about)
resource = (c_uint64 * 18)(0, array.value or 0)
cuda.call("cuTexObjectCreate", byref(texture), resource, (c_uint64 * 13)(), None)
kernel, to = cuda.function(cuda.module(LOOK), b"look"), cuda.allocate(4 * THREADS)
if sys.argv[1] != "unwritten":
    values = (ctypes.c_float * THREADS)(*range(THREADS))
    cuda.call("cuMemcpyHtoA_v2", array, c_size_t(0), values, c_size_t(4 * THREADS))
if sys.argv[1] == "destroyed":
    cuda.call("cuArrayDestroy", array)
pointers = (c_void_p * 2)(ctypes.addressof(texture), ctypes.addressof(to))
cuda.answer("cuLaunchKernel", kernel, 1, 1, 1, THREADS, 1, 1, 0, None, pointers, None)
found = (ctypes.c_float * THREADS)()
sys.stdout.write(f"{cuda.answer('cuMemcpyDtoH_v2', found, to, c_size_t(4 * THREADS))} {[*found]}\n")
