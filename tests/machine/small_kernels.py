"""Small PTX modules for the machine's tests."""

from __future__ import annotations

from ptxloom.machine import IllegalPtx, Kernel, kernel
from ptxloom.syntax import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .f64 %fd<8>;\n"
)


def entry(
    body: str, params: str = ".param .u64 out", before: str = "", name: str = "k", *, unchecked: bool = False
) -> Kernel:
    """A kernel with plenty of registers; `%r0` is tid.x and `%rd0` the first parameter plus 4 tid.x.

    It must be legal unless `unchecked`; but the machine runs instructions of every target, whatever the head says.
    """
    start = ""
    if params.startswith(".param .u64 out"):
        start = "mov.u32 %r0, %tid.x;\nld.param.u64 %rd1, [out];\nmad.wide.u32 %rd0, %r0, 4, %rd1;\n"
    text = f"{HEAD}{before}\n.visible .entry {name}({params})\n{{\n{REGISTERS}{start}{body}\nret;\n}}\n"
    return of_any_target(text, name, unchecked=unchecked)


def of_any_target(text: str, name: str, *, unchecked: bool = False) -> Kernel:
    """A kernel of a module that is legal, or would be for another target."""
    module = parse(text)
    try:
        return kernel(module, name, unchecked=unchecked)
    except IllegalPtx as error:
        if {one.rule for one in error.diagnostics} <= {"needs-target", "needs-version"}:
            return kernel(module, name, unchecked=True)
        raise
