"""A kernel with many values alive at once: its CTA can be launched, so there is room for one."""

from ctypes import byref, c_int, c_size_t

import driver_calls as cuda

VALUES = 100
LOADS = "".join(f"ld.volatile.global.u32 %r{i}, [%a+{4 * i}];\n" for i in range(VALUES))
SUMS = "".join(f"add.u32 %s, %s, %r{i};\n" for i in range(VALUES))
TEXT = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 to, .param .u32 count)
{{
    .reg .b64 %a; .reg .b32 %r<{VALUES}>, %s;
    ld.param.u64 %a, [to]; mov.u32 %s, 0;
    {LOADS}{SUMS}
    st.global.u32 [%a], %s;
    ret;
}}
"""

cuda.begin()
kernel = cuda.function(cuda.module(TEXT.encode()))
registers, blocks = c_int(), c_int()
cuda.call("cuFuncGetAttribute", byref(registers), 4, kernel)
cuda.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(blocks), kernel, 1024, c_size_t(0))
print(registers.value > 64, blocks.value)
cuda.launch(kernel, cuda.allocate(4 * VALUES), 1)
