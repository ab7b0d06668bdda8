"""Kernels whose CTAs allocate and free on several threads of the host at once."""

from __future__ import annotations

from typing import Final

from attack.guarded import Attack, Room

_HEAD: Final = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .u64 shown;
.global .align 8 .u32 step[2];
"""
_REGISTERS: Final = ".reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<10>;\n"
_MALLOC: Final = """
{ .param .b64 n; .param .b64 q; st.param.b64 [n], %rd4; call (q), malloc, (n); ld.param.b64 %rd5, [q]; }
"""
_FREE: Final = "{ .param .b64 p; st.param.b64 [p], %rd5; call free, (p); }\n"
#: Every thread: allocate, write, read what was written, free; ended by a trap if it reads anything else.
OWN_BLOCKS: Final = f"""{_HEAD}.visible .entry k(.param .u64 out)
{{
{_REGISTERS}
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 64, %r0;
mov.u32 %r3, 0;
L: mad.lo.u32 %r8, %r3, 12, 4; cvt.u64.u32 %rd4, %r8; {_MALLOC}
mov.u32 %r9, 0;
P: mov.u32 %r4, 0;
M: mul.wide.u32 %rd6, %r4, 4; add.u64 %rd6, %rd6, %rd5; add.u32 %r6, %r1, %r4;
st.u32 [%rd6], %r6; ld.u32 %r5, [%rd6]; setp.ne.u32 %p1, %r5, %r6; @%p1 trap;
add.u32 %r4, %r4, 1; shl.b32 %r7, %r4, 2; setp.lt.u32 %p2, %r7, %r8; @%p2 bra M;
add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, PASSES; @%p2 bra P;
{_FREE}
add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, ROUNDS; @%p1 bra L;
ret;
}}
"""
#: How a thread waits until `step` is 2: what it reads comes to lie in `%r2`.
WAITS: Final = {
    "volatile": "ld.volatile.global.u32 %r2, [step];",
    "acquire": "ld.acquire.gpu.global.u32 %r2, [step];",
    "atomic": "atom.global.or.b32 %r2, [step], 0;",
    "fence": "ld.global.u32 %r2, [step]; fence.acq_rel.gpu;",
    "part": "ld.relaxed.gpu.global.v2.b32 {%r2, _}, [step];",
    "generic": "mov.u64 %rd6, step; cvta.global.u64 %rd6, %rd6; ld.volatile.u32 %r2, [%rd6];",
}
#: CTA 1 reads a block of CTA 0, which frees it and says so, and reads it again by the same instruction.
FREED_ELSEWHERE: Final = f"""{_HEAD}.visible .entry k(.param .u64 out)
{{
{_REGISTERS}
mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;
mov.u64 %rd4, 256; {_MALLOC}
st.volatile.global.u64 [shown], %rd5;
A: ld.volatile.global.u32 %r2, [step]; setp.ne.u32 %p1, %r2, 1; @%p1 bra A;
{_FREE}
membar.gl; st.volatile.global.u32 [step], 2; ret;
OTHER: ld.volatile.global.u64 %rd5, [shown]; setp.eq.u64 %p1, %rd5, 0; @%p1 bra OTHER;
mov.u32 %r4, 0;
USE: ld.u32 %r3, [%rd5]; add.u32 %r4, %r4, 1; setp.eq.u32 %p1, %r4, 2; @%p1 bra END;
st.volatile.global.u32 [step], 1;
B: WAIT setp.ne.u32 %p1, %r2, 2; @%p1 bra B;
bra USE;
END: ret;
}}
"""
#: Every way to watch a launch: checks, whether it is profiled, traced, followed.
TOOLS: Final[dict[str, tuple[tuple[str, ...], bool, tuple[str, ...], bool]]] = {
    "memcheck": (("memcheck", "synccheck"), False, (), False),
    "leaks": (("memcheck", "memcheck:leaks"), False, (), False),
    "racecheck": (("racecheck",), False, (), False),
    "racecheck:global": (("racecheck", "racecheck:global"), False, (), False),
    "initcheck": (("initcheck",), False, (), False),
    "initcheck:global": (("memcheck", "initcheck", "initcheck:global"), False, (), False),
    "profile": ((), True, (), False),
    "trace": ((), False, ("st", "ld"), False),
    "provenance": ((), False, (), True),
    "all": (("memcheck", "synccheck", "racecheck", "initcheck", "initcheck:global"), True, ("st",), False),
}

#: Those whose tables all CTAs share: their launches have one thread, whatever is asked for.
ALONE: Final = ("racecheck:global", "provenance")


def own_blocks(tool: str, threads: int) -> Attack:
    """A launch of the first kernel by a number of threads of the host, watched by a tool."""
    checks, profile, trace, provenance = TOOLS[tool]
    passes = 1 if tool in ALONE else 20  # what native code takes between two calls
    return Attack(
        OWN_BLOCKS.replace("ROUNDS", "6").replace("PASSES", f"{passes}"),
        (Room(),),
        grid=4 * threads,
        checks=checks,
        profile=profile,
        trace=trace,
        provenance=provenance,
        threads=threads,
        timeout=None,
        label=f"{tool}, {threads} threads",
    )


def freed_elsewhere(wait: str, number: int) -> Attack:
    """The first launch of a module, whose variables are zeros: the second kernel on two threads of the host."""
    ptx = FREED_ELSEWHERE.replace("WAIT", WAITS[wait]) + f"// {number}\n"
    return Attack(ptx, (Room(),), grid=2, threads=2, timeout=None, label=wait)
