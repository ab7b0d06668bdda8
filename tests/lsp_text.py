"""Texts with a cursor in them, for tests of what an editor asks."""

from __future__ import annotations

from ptxloom.lsp.document import Document

CURSOR = "‸"

KERNEL = """\
.version 8.7
.target sm_90
.address_size 64

.global .align 4 .b8 table[64];
.extern .shared .align 16 .b8 dynamic[];

.func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}

// the kernel
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .reg .v4 .f32 quad;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [n];
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    {
        .reg .b32 %r<2>;
        ld.global.b32 %r1, [table];
        LOOP: add.s32 %r1, %r1, 1;
        bra LOOP;
    }
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];
DONE:
    ret;
}
"""


def cursor(text: str) -> tuple[Document, int]:
    """The document without the cursor, and where the cursor stood."""
    at = text.index(CURSOR)
    return Document(text.replace(CURSOR, "")), at


def kernel(old: str, new: str) -> tuple[Document, int]:
    """The kernel with its first `old` replaced by `new`, which holds the cursor."""
    assert old in KERNEL, old
    return cursor(KERNEL.replace(old, new, 1))
