"""The kernels that run one case of `profile_cases` each: for the GPU and for the machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.isa.matrix import matrix_move
from recorded.profile.profile_cases import SHARED_BYTES

if TYPE_CHECKING:
    from recorded.profile.profile_cases import ProfileCase

HEAD: Final = ".version 9.0\n.target sm_90\n.address_size 64\n"


def kernel_of(case: ProfileCase) -> str:
    """A kernel that does nothing to the memory it counts but the case's instruction."""
    lines = [
        f".visible .entry {case.kernel}(.param .align 4 .b8 pf[128], .param .align 4 .b8 ps[128], .param .u32 pm,",
        " .param .u64 pg, .param .u64 po) {",
        f".shared .align 1024 .b8 memory[{SHARED_BYTES}];",
        ".reg .pred %k, %q; .reg .b32 %t, %f, %s, %m, %v<4>; .reg .b64 %p, %g, %o, %w<4>;",
        "mov.u32 %t, %tid.x; mul.wide.u32 %w0, %t, 4;",
        "mov.b64 %p, pf; add.u64 %p, %p, %w0; ld.param.b32 %f, [%p];",
        "mov.b64 %p, ps; add.u64 %p, %p, %w0; ld.param.b32 %s, [%p];",
        "ld.param.u32 %m, [pm]; shr.u32 %m, %m, %t; and.b32 %m, %m, 1; setp.ne.u32 %k, %m, 0;",
        "ld.param.u64 %g, [pg]; ld.param.u64 %o, [po]; mul.wide.u32 %w0, %t, 16; add.u64 %o, %o, %w0;",
        *(f"mov.u32 %v{n}, %t;" for n in range(4)),
        *(f"cvt.u64.u32 %w{n}, %t;" for n in range(4)),
        *_body(case),
        "ret;",
        "}",
    ]
    return "\n".join(lines)


def _body(case: ProfileCase) -> list[str]:
    if case.instruction == "branch":
        return ["@!%k bra DONE;", *["st.volatile.global.b32 [%o], %f;"] * 24, "DONE:"]
    if case.instruction == "loop":
        again = ["AGAIN:", "st.volatile.global.b32 [%o], %f;", "sub.u32 %f, %f, 1;", "setp.ne.u32 %q, %f, 0;"]
        return ["@!%k bra DONE;", '.pragma "nounroll";', *again, "@%q bra AGAIN;", "DONE:"]
    if case.opcode == "cp":
        opcode, _, size = case.instruction.rpartition(".")
        place = ["mov.u32 %v0, memory; add.u32 %f, %f, %v0;", "cvt.u64.u32 %w0, %s; add.u64 %g, %g, %w0;"]
        return [*place, f"@%k {opcode} [%f], [%g], {size};", "cp.async.wait_all;"]
    shared = ".shared" in case.instruction
    place = "mov.u32 %s, memory; add.u32 %f, %f, %s;" if shared else "cvt.u64.u32 %w0, %f; add.u64 %g, %g, %w0;"
    return [place, *_access(case, "[%f]" if shared else "[%g]")]


def _access(case: ProfileCase, address: str) -> list[str]:
    if case.opcode in {"ldmatrix", "stmatrix"}:
        vector = "{" + ", ".join(f"%v{r}" for r in range(matrix_move(case.instruction).registers)) + "}"
        parts = [vector, address] if case.opcode == "ldmatrix" else [address, vector]
        kept = "st.global.v4.b32 [%o], {%v0,%v1,%v2,%v3};" if case.opcode == "ldmatrix" else ""
        return [f"{case.instruction} {', '.join(parts)};", kept]
    wide = case.instruction.endswith("64")
    names = ["%w1", "%w2", "%w3"] if wide else ["%v0", "%v1", "%v2"]
    if words := re.search(r"v(\d)", case.instruction):
        names[0] = "{" + ", ".join(f"%v{r}" for r in range(int(words[1]))) + "}"
    if case.instruction.endswith("f32"):
        names[1] = "0f3F800000"
    match case.opcode:
        case "ld":
            parts = [names[0], address]
        case "st":
            parts = [address, names[0]]
        case "atom":
            parts = [names[0], address, names[1], *names[2 : 2 + (".cas." in case.instruction)]]
        case _:
            parts = [address, names[1]]
    kept = f"st.global.{'v4.b32 [%o], {%v0,%v1,%v2,%v3}' if not wide else 'b64 [%o], %w1'};"
    return [f"@%k {case.instruction} {', '.join(parts)};", kept if case.opcode in {"ld", "atom"} else ""]
