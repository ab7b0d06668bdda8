"""Results of more axes than any product has, such as caches of pages."""

from __future__ import annotations

import numpy as np

import ptxloom as pl
from ptxloom.diagnosis import examine

PAIRS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry pairs(.param .u64 X, .param .u64 W, .param .u64 Y)
{
    .reg .b32 %i, %o;
    .reg .b64 %x, %w, %y, %at;
    .reg .f32 %f<6>;
    ld.param.u64 %x, [X];
    ld.param.u64 %w, [W];
    ld.param.u64 %y, [Y];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %at, %i, 4;
    add.u64 %x, %x, %at;
    add.u64 %y, %y, %at;
    and.b32 %o, %i, 1;
    mul.wide.u32 %at, %o, 4;
    add.u64 %w, %w, %at;
    ld.global.f32 %f0, [%x];
    ld.global.f32 %f1, [%x+256];
    ld.global.f32 %f2, [%w];
    ld.global.f32 %f3, [%w+8];
    mul.f32 %f4, %f0, %f2;
    fma.rn.f32 %f5, %f1, %f3, %f4;
    st.global.f32 [%y], %f5;
    ret;
}
"""


def test_sums_of_products_in_an_array_of_five_axes_are_not_judged_as_a_product() -> None:
    y = np.zeros((2, 2, 4, 2, 2), np.float32)
    x, w = np.arange(128, dtype=np.float32), np.arange(1, 5, dtype=np.float32)
    traced = pl.kernel(pl.parse(PAIRS)).launch(1, 64, [x, w, y], provenance=True).provenance
    assert traced is not None
    assert examine(traced).found == ()
    assert (y.reshape(-1) == x[:64] * w[np.arange(64) % 2] + x[64:] * w[np.arange(64) % 2 + 2]).all()
