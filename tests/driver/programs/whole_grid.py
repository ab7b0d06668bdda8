"""A kernel whose CTAs meet by cooperative groups' barrier: each writes, all read what all wrote."""

from ctypes import addressof, c_void_p

import driver_calls as cuda

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);
.visible .entry meet(.param .u64 to)
{
    .reg .b64 %to, %at, %h; .reg .b32 %i, %n, %x, %sum, %times, %e; .reg .pred %p;
    ld.param.u64 %to, [to]; mov.u32 %i, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %times, 3;
again:
    mad.wide.u32 %at, %i, 4, %to;
    red.relaxed.gpu.global.add.u32 [%at], 1;
    { .param .b32 a; .param .b64 r; st.param.b32 [a], 1;
      call.uni (r), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %h, [r]; }
    { .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %h; st.param.b32 [b], 0;
      call.uni (r), cudaCGSynchronize, (a, b); ld.param.b32 %e, [r]; }
    add.u32 %x, %i, 1; rem.u32 %x, %x, %n; mad.wide.u32 %at, %x, 4, %to; ld.volatile.global.u32 %sum, [%at];
    { .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %h; st.param.b32 [b], 0;
      call.uni (r), cudaCGSynchronize, (a, b); ld.param.b32 %e, [r]; }
    sub.u32 %times, %times, 1; setp.ne.u32 %p, %times, 0; @%p bra again;
    add.u32 %x, %n, %i; mad.wide.u32 %at, %x, 4, %to; st.global.u32 [%at], %sum;
    ret;
}
"""

cuda.begin()
kernel = cuda.function(cuda.module(PTX), b"meet")
array = cuda.allocate(64)
cuda.write(array, *[0] * 16)
pointers = (c_void_p * 1)(addressof(array))
cuda.call("cuLaunchCooperativeKernel", kernel, 8, 1, 1, 64, 1, 1, 0, None, pointers)
print(cuda.read(array, 16))
print(cuda.answer("cuLaunchCooperativeKernel", kernel, 100000, 1, 1, 1024, 1, 1, 0, None, pointers))
