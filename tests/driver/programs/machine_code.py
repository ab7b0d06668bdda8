"""What asks NVIDIA's compiler and linker for machine code gets what the driver can load: `machine_code.py FOLDER`."""

import ctypes
import sys
from ctypes import byref, c_char_p, c_size_t, c_void_p
from pathlib import Path

import driver_calls as cuda

FOLDER = Path(sys.argv[1])
PTX, LTOIR = 2, 3
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
"""
SEVEN = f"{HEAD}.visible .func (.param .b32 out) seven() {{ st.param.b32 [out], 7; ret; }}\n"


def read(library: ctypes.CDLL, name: str, handle: c_void_p) -> bytes:
    """What a pair of functions tells: a size, and as many bytes."""
    size = c_size_t()
    assert getattr(library, f"{name}Size")(handle, byref(size)) == 0
    made = ctypes.create_string_buffer(size.value)
    assert getattr(library, name)(handle, made) == 0
    return made.raw


def linked(library: ctypes.CDLL, options: list[bytes], inputs: list[tuple[int, str]]) -> tuple[list[int], c_void_p]:
    """What the calls of a link answer, and the link."""
    link = c_void_p()
    told = [library.nvJitLinkCreate(byref(link), len(options), (c_char_p * len(options))(*options))]
    for kind, text in inputs:
        told.append(library.nvJitLinkAddData(link, kind, c_char_p(text.encode()), c_size_t(len(text)), None))
    return [*told, library.nvJitLinkComplete(link)], link


def no_library(name: str) -> bool:
    """Whether nobody finds one."""
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

told, link = linked(everywhere, [b"-lto", b"-ptx"], [(LTOIR, SEVEN)])
print(told, read(everywhere, "nvJitLinkGetLinkedPtx", link).decode().rstrip("\0") == SEVEN)
told, link = linked(linker, [b"-arch=sm_80"], [(PTX, f"{HEAD}nonsense;\n")])
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
print(compiler.nvrtcGetLTOIR(None, None))
