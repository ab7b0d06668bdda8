"""Of two sides of shared memory that swizzle differently, the one that leaves more rows in the same banks is named."""

from __future__ import annotations

import pytest

import ptxloom as pl
from ptxloom.diagnosis.lines.swizzles import narrower, unswizzled

XOR = "xor.b32 %r16, %r3, %r15;"
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.entry k() {{
  .reg .b32 %r<40>;
  .shared .align 16 .b8 tile[4096];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 3;
  and.b32 %r3, %r1, 7;
  {writer}
  xor.b32 %r6, %r3, %r5;
  shl.b32 %r7, %r6, 4;
  mov.u32 %r8, tile;
  add.s32 %r9, %r8, %r7;
  st.shared.b32 [%r9], %r1;
  {reader}
  {xor}
  shl.b32 %r17, %r16, 4;
  add.s32 %r19, %r8, %r17;
  ld.shared.b32 %r20, [%r19];
  ret;
}}
"""


def row_of(register: int, mask: int) -> str:
    return f"and.b32 %r{register}, %r2, {mask};"


def rest_of(register: int, number: int) -> str:
    """As a compiler writes the remainder of a number with a sign."""
    rounded = register + 20
    return f"and.b32 %r{rounded}, %r2, -{number}; sub.s32 %r{register}, %r2, %r{rounded};"


@pytest.mark.parametrize(
    ("writer", "reader", "named"),
    [
        (row_of(5, 3), row_of(15, 7), "st"),
        (row_of(5, 7), row_of(15, 3), "ld"),
        (rest_of(5, 4), row_of(15, 7), "st"),
        (rest_of(5, 8), row_of(15, 3), "ld"),
        (row_of(5, 6), row_of(15, 7), "st"),
        (row_of(5, 7), row_of(15, 7), None),
        ("mov.b32 %r5, %r2;", row_of(15, 7), None),
    ],
)
def test_the_side_that_changes_fewer_bits_is_named(writer: str, reader: str, named: str | None) -> None:
    program = pl.kernel(pl.parse(KERNEL.format(writer=writer, reader=reader, xor=XOR)), "k").program
    way = [op for op in program.ops if op.has("shared")]
    found = narrower((way[0], way[1]), program)
    assert (None if found is None else found.opcode) == named
    xor = unswizzled(way, program)
    turned = [op for op in program.ops if op.opcode == "xor"]
    assert xor is (None if named is None else turned[named == "ld"])


@pytest.mark.parametrize(("pitch", "named"), [(32, "st"), (64, "ld"), (96, "ld"), (128, "st"), (256, "st")])
def test_the_side_that_changes_more_bits_is_named_where_rows_have_no_room_for_them(pitch: int, named: str) -> None:
    """Chunks of 16 bytes: the writer exchanges 4, the reader 8."""
    column = f"mul.lo.u32 %r14, %r2, {pitch // 16}; add.u32 %r14, %r14, %r3; xor.b32 %r16, %r14, %r15;"
    program = pl.kernel(pl.parse(KERNEL.format(writer=row_of(5, 3), reader=row_of(15, 7), xor=column)), "k").program
    first, second = (op for op in program.ops if op.has("shared"))
    found = narrower((first, second), program)
    assert found is not None
    assert found.opcode == named
