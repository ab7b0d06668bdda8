"""The part of racecheck's read check for lanes that together read a contiguous stretch, as LLVM IR.

Used inside a function of `watches`, whose values it names.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.runtime.structs.shadow import BLOCK_SHIFT


def dense_halves(count: int) -> str:
    """Check contiguous reads by each half of the warp, 16 bytes at a time.

    `%scattered` is what remains: lanes of other halves, and of those where something is not plainly in order. Only a
    warp that has published something since the last barrier (`%older`) must see to it that it replaces no reads.
    """
    return "\n".join(
        [
            "br i1 %older, label %half2, label %half0",
            *(_half(count, number) for number in range(4)),
            "halves:\n%taken.low = phi i32 [ %taken0, %over1 ], [ %taken2, %over3 ]",
            "%taken.high = phi i32 [ %taken1, %over1 ], [ %taken3, %over3 ]",
            "%taken = or i32 %taken.low, %taken.high",
            "%scattered = xor i32 %near, %taken\nbr label %loop",
        ]
    )


def _half(count: int, number: int) -> str:
    """The lower or upper half of the warp; from number 2 on with care."""
    half = number % 2
    chunks: list[str] = []
    for chunk in range(count):
        lanes = [half * 16 + (chunk * 16 + byte) // count for byte in range(16)]
        names = {"h": number, "c": chunk}
        keep = _CAREFUL if number > 1 else _PLAIN
        chunks.append(
            (_CHUNK + keep).format(
                **names,
                offset=16 * chunk,
                numbers=", ".join(f"i32 {lane}" for lane in lanes),
                bits=", ".join(f"i64 {1 << lane}" for lane in lanes),
                before=f"%worse{number}.{chunk - 1}" if chunk else "0",
            )
        )
    chunks.append(f"  %worse{number} = or i16 %worse{number}.{count - 1}, 0")
    return _HALF.format(
        h=number,
        lanes=0xFFFF << 16 * half,
        first=16 * half,
        order="<" + ", ".join(f"i32 {16 * half + n}" for n in range(16)) + ">",
        row=", ".join(f"i32 {n * count}" for n in range(16)),
        blocks="\n".join(
            _SUMMARY.format(h=number, c=block, offset=min(block << BLOCK_SHIFT, 16 * count - 1), block=BLOCK_SHIFT)
            for block in range((16 * count >> BLOCK_SHIFT) + 2)
        ),
        body="\n".join(chunks),
        following="halves" if half else f"half{number + 1}",
    )


# One half: %taken says which of its lanes need no further look.
_HALF: Final = """
half{h}:
  %half{h}.lanes = and i32 %near, {lanes}
  %whole{h} = icmp eq i32 %half{h}.lanes, {lanes}
  %lows{h} = shufflevector <32 x i32> %low, <32 x i32> poison, <16 x i32> {order}
  %first{h} = extractelement <32 x i32> %low, i64 {first}
  %first{h}.1 = insertelement <16 x i32> poison, i32 %first{h}, i64 0
  %firsts{h} = shufflevector <16 x i32> %first{h}.1, <16 x i32> poison, <16 x i32> zeroinitializer
  %steps{h} = sub <16 x i32> %lows{h}, %firsts{h}
  %gaps{h} = icmp ne <16 x i32> %steps{h}, <{row}>
  %gaps{h}.bits = bitcast <16 x i1> %gaps{h} to i16
  %dense{h} = icmp eq i16 %gaps{h}.bits, 0
  %fast{h} = and i1 %whole{h}, %dense{h}
  br i1 %fast{h}, label %row{h}, label %over{h}
row{h}:
  %from{h} = zext i32 %first{h} to i64
  %w1{h} = insertelement <16 x i32> poison, i32 %who0, i64 0
  %w{h} = shufflevector <16 x i32> %w1{h}, <16 x i32> poison, <16 x i32> zeroinitializer
  %m1{h} = insertelement <16 x i32> poison, i32 %mine0, i64 0
  %m{h} = shufflevector <16 x i32> %m1{h}, <16 x i32> poison, <16 x i32> zeroinitializer
  %li1{h} = insertelement <16 x i32> poison, i32 %s.limit, i64 0
  %li{h} = shufflevector <16 x i32> %li1{h}, <16 x i32> poison, <16 x i32> zeroinitializer
  %si1{h} = insertelement <16 x i64> poison, i64 %since.high, i64 0
  %si{h} = shufflevector <16 x i64> %si1{h}, <16 x i64> poison, <16 x i32> zeroinitializer
  %yo1{h} = insertelement <16 x i64> poison, i64 %base.high, i64 0
  %yo{h} = shufflevector <16 x i64> %yo1{h}, <16 x i64> poison, <16 x i32> zeroinitializer
  %cl1{h} = insertelement <16 x i64> poison, i64 %clock.high, i64 0
  %cl{h} = shufflevector <16 x i64> %cl1{h}, <16 x i64> poison, <16 x i32> zeroinitializer
{body}
{blocks}
  %calm{h} = icmp eq i16 %worse{h}, 0
  %kept{h} = select i1 %calm{h}, i32 {lanes}, i32 0
  br label %over{h}
over{h}:
  %taken{h} = phi i32 [ 0, %half{h} ], [ %kept{h}, %row{h} ]
  br label %{following}
"""

# Sixteen bytes of it.
_CHUNK: Final = """
  %p{h}.{c} = add i64 %from{h}, {offset}
  %wa{h}.{c} = getelementptr i32, ptr %s.writes, i64 %p{h}.{c}
  %we{h}.{c} = load <16 x i32>, ptr %wa{h}.{c}, align 4
  %fr{h}.{c} = icmp sge <16 x i32> %we{h}.{c}, %li{h}
  %me{h}.{c} = add <16 x i32> %m{h}, <{numbers}>
  %xo{h}.{c} = xor <16 x i32> %we{h}.{c}, %me{h}.{c}
  %ot{h}.{c} = and <16 x i32> %xo{h}.{c}, %w{h}
  %ne{h}.{c} = icmp ne <16 x i32> %ot{h}.{c}, zeroinitializer
  %ba{h}.{c} = and <16 x i1> %fr{h}.{c}, %ne{h}.{c}
  %ra{h}.{c} = getelementptr i64, ptr %reads, i64 %p{h}.{c}
  %re{h}.{c} = load <16 x i64>, ptr %ra{h}.{c}, align 8
  %ke{h}.{c} = icmp sgt <16 x i64> %re{h}.{c}, %si{h}
  %la{h}.{c} = and <16 x i64> %re{h}.{c}, splat (i64 4294967295)
  %ol{h}.{c} = select <16 x i1> %ke{h}.{c}, <16 x i64> %la{h}.{c}, <16 x i64> zeroinitializer
  %nb{h}.{c} = or <16 x i64> %cl{h}, <{bits}>
  %nw{h}.{c} = or <16 x i64> %ol{h}.{c}, %nb{h}.{c}
"""

_PLAIN: Final = """
  %bb{h}.{c} = bitcast <16 x i1> %ba{h}.{c} to i16
  %worse{h}.{c} = or i16 {before}, %bb{h}.{c}
  store <16 x i64> %nw{h}.{c}, ptr %ra{h}.{c}, align 8
"""

# Reads of other lanes, published since, stay for a closer look.
_CAREFUL: Final = """
  %go{h}.{c} = xor <16 x i64> %nb{h}.{c}, splat (i64 -1)
  %ll{h}.{c} = and <16 x i64> %la{h}.{c}, %go{h}.{c}
  %ls{h}.{c} = icmp ne <16 x i64> %ll{h}.{c}, zeroinitializer
  %ly{h}.{c} = icmp sgt <16 x i64> %re{h}.{c}, %yo{h}
  %lo{h}.{c} = and <16 x i1> %ls{h}.{c}, %ly{h}.{c}
  %lt{h}.{c} = select <16 x i1> %ke{h}.{c}, <16 x i1> zeroinitializer, <16 x i1> %lo{h}.{c}
  %bc{h}.{c} = or <16 x i1> %ba{h}.{c}, %lt{h}.{c}
  %bb{h}.{c} = bitcast <16 x i1> %bc{h}.{c} to i16
  %worse{h}.{c} = or i16 {before}, %bb{h}.{c}
  %nx{h}.{c} = select <16 x i1> %lt{h}.{c}, <16 x i64> %re{h}.{c}, <16 x i64> %nw{h}.{c}
  store <16 x i64> %nx{h}.{c}, ptr %ra{h}.{c}, align 8
"""

# The summary of one block of bytes that the half touches.
_SUMMARY: Final = """
  %sb{h}.{c} = add i32 %first{h}, {offset}
  %sc{h}.{c} = lshr i32 %sb{h}.{c}, {block}
  %sd{h}.{c} = mul i32 %sc{h}.{c}, %s.summaries
  %se{h}.{c} = add i32 %sd{h}.{c}, %warp
  %sf{h}.{c} = zext i32 %se{h}.{c} to i64
  %sg{h}.{c} = getelementptr i32, ptr %s.summary, i64 %sf{h}.{c}
  store i32 %o.clock, ptr %sg{h}.{c}, align 4
"""
