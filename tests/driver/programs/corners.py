"""Tensor maps, memory of the host, links and user objects."""

import ctypes
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

cuda.begin()
kernel = cuda.function(cuda.module())
array = cuda.allocate(4096)

made = ctypes.create_string_buffer(128)
sizes, strides = (c_uint64 * 2)(60, 30), (c_uint64 * 1)(128)
box, steps = (ctypes.c_uint32 * 2)(64, 8), (ctypes.c_uint32 * 2)(1, 1)
cuda.call("cuTensorMapEncodeTiled", made, 6, 2, c_void_p(0x10000), sizes, strides, box, steps, 0, 3, 0, 0)
print(made.raw.hex())
print(cuda.answer("cuTensorMapEncodeTiled", made, 6, 2, c_void_p(0x10001), sizes, strides, box, steps, 0, 3, 0, 0))

own = (ctypes.c_uint32 * 100)(*range(100))
seen = c_uint64()
cuda.call("cuMemHostRegister_v2", own, c_size_t(400), 2)
print(cuda.answer("cuMemHostRegister_v2", own, c_size_t(400), 2))
cuda.call("cuMemHostGetDevicePointer_v2", byref(seen), byref(own, 40), 0)
cuda.launch(kernel, seen, 3)
print(list(own[8:16]))
cuda.call("cuMemHostUnregister", own)
print(cuda.answer("cuMemHostUnregister", own))

SYNC_MEMOPS = 6
for asked in (0, 1):
    cuda.call("cuPointerSetAttribute", byref(ctypes.c_uint(asked)), SYNC_MEMOPS, array)
    waits = ctypes.c_uint(7)
    cuda.call("cuPointerGetAttribute", byref(waits), SYNC_MEMOPS, array)
    print(waits.value, end=" ")
print(*(cuda.answer(name, byref(c_char_p()), None) for name in ("cuFuncGetName", "cuKernelGetName")))

pinned = c_void_p()
cuda.call("cuMemHostAlloc", byref(pinned), c_size_t(64), 2)
cuda.launch(kernel, c_uint64(pinned.value or 0), 4)
print(list((ctypes.c_uint32 * 4).from_address(pinned.value or 0)))
cuda.call("cuMemFreeHost", pinned)

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
DOUBLE = f"""{HEAD}
.visible .func (.param .b32 r) twice(.param .b32 x)
{{ .reg .b32 %x; ld.param.b32 %x, [x]; add.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }}
""".encode()
USER = f"""{HEAD}
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry fill(.param .u64 to, .param .u32 count)
{{
    .reg .b64 %to; .reg .b32 %c;
    ld.param.u64 %to, [to]; ld.param.u32 %c, [count];
    {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %c; call.uni (b), twice, (a); ld.param.b32 %c, [b]; }}
    st.global.u32 [%to], %c;
    ret;
}}
""".encode()
link, image, size = c_void_p(), c_void_p(), c_size_t()
options, values = (ctypes.c_int * 1)(0), (c_void_p * 1)(24)
cuda.call("cuLinkCreate_v2", 1, options, values, byref(link))
for text in (USER, DOUBLE):
    cuda.call("cuLinkAddData_v2", link, 1, c_char_p(text), c_size_t(len(text)), b"a text", 0, None, None)
cuda.call("cuLinkComplete", link, byref(image), byref(size))
loaded = cuda.function(cuda.module(ctypes.string_at(image.value or 0)))
registers = ctypes.c_int()
cuda.call("cuFuncGetAttribute", byref(registers), 4, loaded)
cuda.launch(loaded, array, 21)
print(cuda.read(array, 1), registers.value <= 24)
cuda.call("cuLinkDestroy", link)

log = ctypes.create_string_buffer(200)
options, values = (ctypes.c_int * 2)(5, 6), (c_void_p * 2)(ctypes.addressof(log), len(log))
wrong = c_char_p(f"{HEAD}.visible .entry k() {{ mov.u32 %r1, nowhere; }}".encode())
print(cuda.answer("cuModuleLoadDataEx", byref(c_void_p()), wrong, 2, options, values), log.value.decode()[:43])

FEW = f"{HEAD}.visible .entry fill(.param .u64 to, .param .u32 count) .maxntid 32, 1, 1 {{ ret; }}".encode()
few = cuda.function(cuda.module(FEW))
cuda.launch(few, array, 1, threads=32)
try:
    cuda.launch(few, array, 1, threads=33)
except cuda.CudaError as error:
    print(*error.args)

gone: list[int] = []


@ctypes.CFUNCTYPE(None, c_void_p)
def destroy(argument: int) -> None:
    """Tell of it."""
    gone.append(argument)


graph, thing = c_void_p(), c_void_p()
cuda.call("cuUserObjectCreate", byref(thing), c_void_p(7), destroy, 1, 1)
cuda.call("cuGraphCreate", byref(graph), 0)
cuda.call("cuGraphRetainUserObject", graph, thing, 1, 1)
print(gone)
cuda.call("cuGraphDestroy", graph)
print(gone)


class Instantiation(ctypes.Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS."""

    _fields_ = (("flags", ctypes.c_uint64), ("stream", c_void_p), ("node", c_void_p), ("result", ctypes.c_int))


UPLOAD = 2
cuda.call("cuGraphCreate", byref(graph), 0)
cuda.call("cuStreamCreate", byref(thing), 0)
for stream in (thing, c_void_p(12345)):
    how = Instantiation(UPLOAD, stream, None, 7)
    print(cuda.answer("cuGraphInstantiateWithParams", byref(c_void_p()), graph, byref(how)), how.result, end=" ")
print(cuda.answer("cuGraphInstantiateWithFlags", byref(c_void_p()), graph, ctypes.c_uint64(UPLOAD)))
