"""Memory stays flat: over 2,000 launches of every kind, and after 200 different kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sweeps import part_and_whole

HEAD = '''
import gc
import sys
import numpy as np
from machine.small_kernels import entry
from ptxloom.machine import LaunchError

EXTERN = """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .b8 form[4] = {65, 66, 10, 0};
.shared .align 4 .b8 area[4096];
"""
CALLS = """
mov.u64 %rd4, 64; mov.u64 %rd6, form; mov.u64 %rd7, 0;
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd4; call (r), malloc, (n); ld.param.b64 %rd5, [r]; }
st.u32 [%rd5], %r0;
{ .param .b64 p; st.param.b64 [p], %rd5; call free, (p); }
{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd6; st.param.b64 [v], %rd7;
call (r), vprintf, (f, v); }
"""

def held():
    """KiB of memory in use, except for what waits to be collected."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4

def grown(work, before, each, spans):
    """The least KiB that memory grows by over any of the spans of turns, once a number of turns have gone before.

    What leaks, leaks in every span; pools of the allocator and of the compiler grow in one and rest in the next.
    """
    for turn in range(before):
        work(turn)
    sizes = [held()]
    for span in range(spans):
        for turn in range(before + span * each, before + (span + 1) * each):
            work(turn)
        sizes.append(held())
    return min(after - start for start, after in zip(sizes, sizes[1:]))
'''

LAUNCHES = """
out = np.zeros(64, np.uint32)
plain = entry("st.global.u32 [%rd0], %r0;")
calls = entry(CALLS + "st.global.u32 [%rd0], %r0;", before=EXTERN)
shared = entry("mov.u32 %r1, area; st.shared.u32 [%r1], %r0; st.global.u32 [%rd0], %r0;", before=EXTERN)
fault = entry("st.global.u32 [%rd0 + 4096], %r0;")
forms = [
    lambda: plain.launch(4, 64, [out], threads=2),
    lambda: calls.launch(1, 4, [out], heap_bytes=1 << 14),  # soon full of what was freed
    lambda: shared.launch(2, 64, [out], checks=["memcheck", "racecheck", "initcheck"]),
    lambda: shared.launch(2, 64, [out], checks=["memcheck", "racecheck:global", "initcheck:global"], profile=True),
    lambda: plain.launch(2, 64, [out], trace=["st"]),
    lambda: fault.launch(1, 32, [out]),
]

def work(turn):
    try:
        forms[turn % len(forms)]()
    except LaunchError:
        pass

print(grown(work, 1200, 500, SPANS))
"""

KERNELS = """
out = np.zeros(64, np.uint32)

def work(turn):
    steps = "".join(f"xor.b32 %r{n % 9 + 2}, %r{n % 7 + 1}, {turn >> n % 9 & 1}; " for n in range(40))
    made = entry(steps + CALLS + "st.global.u32 [%rd0], %r2;", before=EXTERN, name=f"k{turn}")
    made.launch(1, 4, [out])

print(grown(work, 90, 50, SPANS))  # the compiler's pools have grown by then
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell what a process holds")
@pytest.mark.parametrize(("script", "most_kib"), [(LAUNCHES, 1000), (KERNELS, 250)], ids=["launches", "kernels"])
@pytest.mark.parametrize("spans", part_and_whole(2, 4))
def test_memory_stays_flat(script: str, most_kib: int, spans: int, tmp_path: Path) -> None:
    """Told would be 2 KiB a launch and 5 a kernel, compiled anew: what was compiled before is not at hand."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **({"PTXLOOM_CACHE": str(tmp_path)} if script == KERNELS else {}),
    }
    command = [sys.executable, "-c", f"SPANS = {spans}\n{HEAD}{script}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < most_kib
