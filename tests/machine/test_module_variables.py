"""Module-wide variables lie where they say, and those of other modules are not taken for zeros."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from machine.small_kernels import HEAD, entry


@pytest.mark.parametrize("space", ["global", "const", "shared"])
@pytest.mark.parametrize("alignment", [1, 16, 256, 4096, 65536])
def test_alignments_of_variables_are_kept(space: str, alignment: int) -> None:
    before = f".{space} .b8 first[3];\n.{space} .align {alignment} .b8 x[16];\n.{space} .align 2 .b8 last[2];\n"
    body = f"mov.u64 %rd3, x; cvta.{space}.u64 %rd3, %rd3; st.global.u64 [%rd1], %rd3;"
    out = np.zeros(1, np.uint64)
    kernel = entry(f"{body} mov.u64 %rd4, first; mov.u64 %rd4, last;", before=before)
    kernel.launch(1, 1, [out])
    assert out[0] % alignment == 0
    if space != "shared":
        assert kernel.global_array("x").ctypes.data == out[0]


def test_dynamic_shared_memory_keeps_its_alignment() -> None:
    before = ".shared .b8 first[3];\n.extern .shared .align 1024 .b8 dynamic[];\n"
    out = np.zeros(1, np.uint64)
    entry("mov.u64 %rd3, dynamic; mov.u64 %rd4, first; st.global.u64 [%rd1], %rd3;", before=before).launch(
        1, 1, [out], 16
    )
    assert out[0] % 1024 == 0


def test_no_alignment_asks_for_all_memory() -> None:
    with pytest.raises(pl.PtxloomError, match="alignment"):
        entry("mov.u64 %rd3, x;", before=f".global .align {1 << 40} .b8 x[16];\n")


TEXT = f"""{HEAD}.extern .global .b32 x[2];
.extern .global .b32 unused;
.extern .shared .b8 dynamic[];
.visible .entry k(.param .u64 out) {{ .reg .b64 %r<3>; .reg .b32 %a;
ld.param.u64 %r1, [out]; ld.global.u32 %a, [x+4]; st.global.u32 [%r1], %a; ret; }}
.visible .entry other(.param .u64 out) {{ ret; }}
"""


def test_a_variable_of_another_module_is_not_zero() -> None:
    module = pl.parse(TEXT)
    out = np.zeros(1, np.uint32)
    with pytest.raises(
        pl.UnsupportedInstruction, match=r'\.extern \.global \.b32 x\[2\].*global_array\("x"\)'
    ) as caught:
        pl.kernel(module, "k").launch(1, 1, [out])
    assert caught.value.line == 4
    pl.kernel(module, "other").launch(1, 1, [out])
    pl.global_array(module, "x")[1] = 7
    pl.kernel(module, "k").launch(1, 1, [out])
    assert out[0] == 7
