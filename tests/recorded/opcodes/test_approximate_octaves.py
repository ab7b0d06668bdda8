"""The approximate functions over whole octaves: every significand gives the bits that an H200 gave."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_recording import FOLDER

COUNT = 1 << 20  # outputs of a digest
RECORDED: dict[str, Any] = json.loads((FOLDER / "octaves.json").read_text())["functions"]
KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first)
{{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [first];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    add.u32 %r6, %r1, %r5; mov.b32 %f1, %r6;
    {name} %f2, %f1;
    mad.wide.u32 %rd2, %r5, 4, %rd1; st.global.f32 [%rd2], %f2;
    ret;
}}
"""


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", RECORDED)
def test_every_significand_gives_what_hardware_gave(name: str) -> None:
    recorded = RECORDED[name]
    kernel = pl.kernel(pl.parse(KERNEL.format(name=name)), "k")
    out = np.zeros(COUNT, np.uint32)
    wrong: list[int] = []
    for index, digest in enumerate(recorded["digests"]):
        kernel.launch(COUNT // 1024, 1024, [out, recorded["first"] + index * COUNT])
        if hashlib.blake2b(out.astype("<u4").tobytes(), digest_size=8).hexdigest() != digest:
            wrong.append(index)
    assert not wrong
