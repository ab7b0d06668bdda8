"""A host that is short of memory, or has it in pieces: a sentence or a result, never the end of the process."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

HEAD: Final = """
import mmap, resource, sys
import numpy as np
import ptxloom as pl
from ptxloom.machine.native import llvm
from ptxloom.machine.native.closure import ATTRIBUTES

def used():
    return 4096 * int(open("/proc/self/statm").read().split()[5])

def limit(more):
    resource.setrlimit(resource.RLIMIT_DATA, (used() + more, resource.RLIM_INFINITY))

def said(what):
    try:
        what()
    except pl.PtxloomError as error:
        print(type(error).__name__, error)
    else:
        print("went well")

IR = '''
define i32 @f(i32 %x, double %y) #0 {
entry:
  switch i32 %x, label %other [ i32 0, label %a i32 1, label %b i32 2, label %c i32 3, label %d i32 4, label %e ]
a:
  ret i32 10
b:
  %p = fmul double %y, 3.5
  %r = fptosi double %p to i32
  ret i32 %r
c:
  ret i32 12
d:
  ret i32 19
e:
  ret i32 40
other:
  ret i32 99
}
''' + ATTRIBUTES
TEXT = '''.version 9.0 .target sm_90 .address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.global .b8 room[%d];
.entry k() {
.reg .b64 %%a; mov.u64 %%a, room;
{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), malloc, (n); } ret; }'''
"""


def answers(script: str) -> list[str]:
    """What a script prints, line by line; it ends well."""
    run = subprocess.run(
        [sys.executable, "-c", HEAD + script], capture_output=True, text=True, check=False, timeout=120
    )
    assert not run.returncode, run.stderr[-600:]
    return run.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="fills the holes of Linux' address space")
def test_code_is_loaded_where_the_host_has_single_pages_only() -> None:
    script = """
import ctypes
code = llvm.compile_here(IR, 0)
llvm.load([code], ["f"], {})
page = mmap.PAGESIZE
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_uint64
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
private, nothing = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, 0
far = libc.mmap(None, 3 << 30, nothing, private, -1, 0)
for size in (1 << 30, 1 << 26, 1 << 22, 1 << 18, 1 << 14, 1 << 12):
    while (at := libc.mmap(None, size, nothing, private, -1, 0)) > far:
        pass
    libc.munmap(at, size)
kept = []
for n in range(4):
    libc.munmap(far + (3 << 30) - (2 * n + 2) * page, page)
    kept.append(llvm.load([code], ["f"], {})["f"])
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_double)
print([[call(one.address)(n, 4.0) for n in range(6)] for one in kept] == 4 * [[10, 14, 12, 19, 40, 99]])
"""
    assert answers(script) == ["True"]


def test_what_the_host_refuses_is_said() -> None:
    script = """
code = llvm.compile_here(IR, 0)
limit(1 << 20)
said(lambda: llvm.compile_here(IR, 0))
limit(1 << 19)
said(lambda: llvm.load([code], ["f"], {}))
"""
    compiling, loading = answers(script)
    assert compiling.startswith("OutOfHostMemory this machine refuses ")
    assert compiling.endswith(" bytes for compiling")
    assert loading.endswith(" bytes for machine code")


def test_a_run_may_have_half_of_what_ulimit_leaves_it() -> None:
    script = """
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, resource.RLIM_INFINITY))
module = pl.parse(TEXT % 100)
k = pl.kernel(module, "k")
said(lambda: pl.kernel(pl.parse(TEXT % (1 << 30)), "k"))
said(lambda: k.launch(1, 32, [], heap_bytes=1 << 30))
said(lambda: k.launch(1, 32, [], heap_bytes=1 << 30, memory_limit=1 << 40))
said(lambda: k.launch(1, 32, [], heap_bytes=1 << 20))
"""
    variable, heap, more, fits = answers(script)
    assert variable.startswith("UnsupportedInstruction line 3")
    assert "takes" in variable or "take" in variable
    assert heap.startswith("OverBudget memory_limit is ")
    assert more.startswith("OutOfHostMemory this machine refuses ")
    assert more.endswith("for the device heap")
    assert fits == "went well"
