"""What asks NVIDIA's compiler and linker for machine code gets what the driver can load: `machine_code.py FOLDER`."""

import ctypes
import struct
import sys
from ctypes import byref, c_char_p, c_size_t, c_void_p
from pathlib import Path

import driver_calls as cuda

FOLDER = Path(sys.argv[1])
PTX, LTOIR, FATBIN, LIBRARY, ANY = 2, 3, 4, 6, 10
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = f"""{HEAD}.extern .func (.param .b32 out) seven();
.visible .entry fill(.param .u64 to, .param .u32 count)
{{
    .reg .b64 %to; .reg .b32 %x;
    ld.param.u64 %to, [to];
    {{
        .param .b32 out;
        call (out), seven;
        ld.param.b32 %x, [out];
    }}
    st.global.u32 [%to], %x;
    ret;
}}
""".encode()
SEVEN = f"{HEAD}.visible .func (.param .b32 out) seven() {{ st.param.b32 [out], 7; ret; }}\n".encode()


def read(library: ctypes.CDLL, name: str, handle: c_void_p) -> bytes:
    """What a pair of functions tells: a size, and as many bytes."""
    size = c_size_t()
    assert getattr(library, f"{name}Size")(handle, byref(size)) == 0
    made = ctypes.create_string_buffer(size.value)
    assert getattr(library, name)(handle, made) == 0
    return made.raw


def linked(library: ctypes.CDLL, options: list[bytes], inputs: list[tuple[int, bytes]]) -> tuple[list[int], c_void_p]:
    """What the calls of a link answer, and the link."""
    link = c_void_p()
    told = [library.nvJitLinkCreate(byref(link), len(options), (c_char_p * len(options))(*options))]
    for kind, data in inputs:
        told.append(library.nvJitLinkAddData(link, kind, c_char_p(data), c_size_t(len(data)), None))
    return [*told, library.nvJitLinkComplete(link)], link


def fatbin(kind: int, data: bytes) -> bytes:
    """A fatbin of one image."""
    image = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(data), *[0] * 4, 80, *[0] * 5) + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(image)) + image


def no_library(name: str) -> bool:
    """Whether none is found."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return True
    return False


print(no_library("libnvJitLink.so.13"), no_library("libnvrtc.so.13"), hasattr(ctypes.CDLL(None), "nvJitLinkCreate"))
linker = ctypes.CDLL(str(FOLDER / "libnvJitLink.so.13"), ctypes.RTLD_GLOBAL)
everywhere = ctypes.CDLL(None)
print(hasattr(everywhere, "nvJitLinkCreate"), hasattr(everywhere, "nvrtcVersion"))

cuda.begin()
data = cuda.allocate(4)
for options, kinds in (([b"-arch=sm_80"], (PTX, PTX)), ([b"-arch=sm_80", b"-lto"], (LTOIR, PTX))):
    told, link = linked(linker, options, [(kinds[0], KERNEL), (kinds[1], SEVEN)])
    cuda.launch(cuda.function(cuda.module(read(linker, "nvJitLinkGetLinkedCubin", link))), data, 1)
    print(told, cuda.read(data, 1))
    print(linker.nvJitLinkDestroy(byref(link)), link.value)

others = b".extern .func absent(.param .b32 x);\n.extern .func (.param .b32 z) vprintf(.param .b64 x, .param .b64 y);\n"
told, link = linked(
    linker, [b"-arch=sm_80", b"-lto"], [(LTOIR, SEVEN.replace(b".visible ", b"")), (PTX, KERNEL + others)]
)
cuda.launch(cuda.function(cuda.module(read(linker, "nvJitLinkGetLinkedCubin", link))), data, 1)
print(told, cuda.read(data, 1))

for options, inputs in (
    ([b"-arch=sm_80"], [(FATBIN, fatbin(1, KERNEL)), (ANY, SEVEN)]),
    ([b"-lto"], [(LTOIR, KERNEL), (ANY, fatbin(8, b"of LTO-IR") + fatbin(1, SEVEN))]),
    ([b"-lto"], [(LTOIR, KERNEL), (PTX, SEVEN), (LIBRARY, fatbin(2, b"machine code"))]),
    ([b"-lto"], [(FATBIN, fatbin(8, KERNEL)), (PTX, SEVEN)]),
    ([b"-lto"], [(LIBRARY, fatbin(2, b"machine code"))]),
    ([b"-arch=sm_90a"], [(PTX, SEVEN.replace(b"sm_80", b"sm_90"))]),
    ([b"-arch=sm_80"], [(PTX, SEVEN.replace(b"sm_80", b"sm_90"))]),
):
    print(linked(linker, options, inputs)[0])

told, link = linked(everywhere, [b"-lto", b"-ptx"], [(LTOIR, SEVEN)])
print(told, read(everywhere, "nvJitLinkGetLinkedPtx", link).rstrip(b"\0") == SEVEN)
told, link = linked(linker, [b"-arch=sm_80"], [(PTX, f"{HEAD}nonsense;\n".encode())])
print(told, b"nonsense" in read(linker, "nvJitLinkGetErrorLog", link))
told, link = linked(linker, [b"-wrong"], [(LTOIR, SEVEN)])
print(told, read(linker, "nvJitLinkGetErrorLog", link))
print(linker.nvJitLinkComplete(None), linker.nvJitLinkDestroy(None))

compiler = ctypes.CDLL(str(FOLDER / "libnvrtc.so.13"))
numbers = ctypes.c_int(), ctypes.c_int()
print(compiler.nvrtcVersion(byref(numbers[0]), byref(numbers[1])), numbers[0].value, numbers[1].value)
for option in (b"-arch=sm_80", b"-arch=compute_80"):
    compiler.nvrtcCompileProgram(None, 1, (c_char_p * 1)(option))
    print(read(compiler, "nvrtcGetCUBIN", c_void_p()).startswith(HEAD.encode()))
print(compiler.nvrtcGetNVVM(None, None))
