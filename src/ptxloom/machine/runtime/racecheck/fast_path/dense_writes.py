"""The part of racecheck's write check for lanes that together write a contiguous stretch, as LLVM IR.

Used inside a function of `look`, whose values it names.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.runtime.racecheck.fast_path.quick_reads import blocks, stretch
from ptxloom.machine.runtime.structs.shadow import BLOCK_SHIFT


def dense_writes(count: int) -> str:
    """Check contiguous writes by each half of the warp, 16 bytes at a time.

    `%scattered` is what remains: lanes of other halves, and of those where something is not plainly in order.
    """
    halves = "".join(_half(count, number) for number in range(2))
    return _BEGIN + halves + "halves:\n  %scattered = or i32 %d.rest0, %d.rest1\n  br label %loop"


def _half(count: int, number: int) -> str:
    judged: list[str] = []
    kept: list[str] = []
    for chunk in range(count):
        lanes = [number * 16 + (chunk * 16 + byte) // count for byte in range(16)]
        names = {"h": number, "c": chunk, "offset": 16 * chunk}
        before = f"%d.bad{number}.{chunk - 1}" if chunk else "0"
        numbers = ", ".join(f"i32 {lane}" for lane in lanes)
        judged.append(_CHUNK.format(**names, numbers=numbers, before=before))
        kept.append(_KEEP.format(**names))
    rows = range((16 * count >> BLOCK_SHIFT) + 2)
    return stretch("d", "d.near", count, number, "over") + _ROW.format(
        h=number,
        bytes=16 * count - 1,
        last=count - 1,
        body="".join(judged),
        kept="".join(kept),
        rows="".join(
            _BLOCK.format(h=number, b=block, offset=min(block << BLOCK_SHIFT, 16 * count - 1), shift=BLOCK_SHIFT)
            for block in rows
        ),
        young="".join(
            _YOUNG.format(h=number, b=block, before=f"%d.young{number}.{block - 1}" if block else "zeroinitializer")
            for block in rows
        ),
        most=rows[-1],
        lanes=0xFFFF << 16 * number,
        following="halves" if number else "d.half1",
    )


_BEGIN: Final = """
  %d.who1 = insertelement <16 x i32> poison, i32 %who0, i64 0
  %d.who = shufflevector <16 x i32> %d.who1, <16 x i32> poison, <16 x i32> zeroinitializer
  %d.mine1 = insertelement <16 x i32> poison, i32 %mine0, i64 0
  %d.mine = shufflevector <16 x i32> %d.mine1, <16 x i32> poison, <16 x i32> zeroinitializer
  %d.limit1 = insertelement <16 x i32> poison, i32 %s.limit, i64 0
  %d.limit = shufflevector <16 x i32> %d.limit1, <16 x i32> poison, <16 x i32> zeroinitializer
  %d.stamp1 = insertelement <16 x i32> poison, i32 %stamp, i64 0
  %d.stamp = shufflevector <16 x i32> %d.stamp1, <16 x i32> poison, <16 x i32> zeroinitializer
  %d.bulk = icmp eq i32 %o.reading, 0
  %d.near = select i1 %d.bulk, i32 %near, i32 0
  %d.left0 = and i32 %near, 65535
  %d.left1 = and i32 %near, -65536
  %d.waiting = load i64, ptr %s.deferred.at, align 8
  br label %d.half0
"""

_ROW: Final = (
    """\
  %d.from{h} = zext i32 %d.first{h} to i64
{body}"""
    + blocks("d.r{h}", "d.first{h}", "{bytes}")
    + """\
  %d.met{h} = and i64 %d.waiting, %d.r{h}.blocks
  %d.meets{h} = icmp ne i64 %d.met{h}, 0
  %d.raced{h} = icmp ne i16 %d.bad{h}.{last}, 0
  %d.slow{h} = or i1 %d.meets{h}, %d.raced{h}
{rows}\
  br i1 %d.slow{h}, label %d.over{h}, label %d.look{h}
d.look{h}:
  %d.k{h} = phi i32 [ 0, %d.row{h} ], [ %d.next{h}, %d.calm{h} ]
  %d.end{h} = icmp uge i32 %d.k{h}, %s.summaries
  br i1 %d.end{h}, label %d.keep{h}, label %d.eight{h}
d.eight{h}:
  %d.kk{h} = zext i32 %d.k{h} to i64
{young}\
  %d.ybits{h} = bitcast <8 x i1> %d.young{h}.{most} to i8
  %d.read{h} = icmp ne i8 %d.ybits{h}, 0
  br i1 %d.read{h}, label %d.over{h}, label %d.calm{h}
d.calm{h}:
  %d.next{h} = add i32 %d.k{h}, 8
  br label %d.look{h}
d.keep{h}:
{kept}\
  br label %d.over{h}
d.over{h}:
  %d.rest{h} = phi i32 [ %d.left{h}, %d.half{h} ], [ {lanes}, %d.row{h} ], [ {lanes}, %d.eight{h} ], [ 0, %d.keep{h} ]
  br label %{following}
"""
)

# Sixteen bytes of a row: whether another thread has written there since the barrier.
_CHUNK: Final = """\
  %d.p{h}.{c} = add i64 %d.from{h}, {offset}
  %d.wa{h}.{c} = getelementptr i32, ptr %s.writes, i64 %d.p{h}.{c}
  %d.we{h}.{c} = load <16 x i32>, ptr %d.wa{h}.{c}, align 4
  %d.fr{h}.{c} = icmp sge <16 x i32> %d.we{h}.{c}, %d.limit
  %d.me{h}.{c} = add <16 x i32> %d.mine, <{numbers}>
  %d.xo{h}.{c} = xor <16 x i32> %d.we{h}.{c}, %d.me{h}.{c}
  %d.ot{h}.{c} = and <16 x i32> %d.xo{h}.{c}, %d.who
  %d.ne{h}.{c} = icmp ne <16 x i32> %d.ot{h}.{c}, zeroinitializer
  %d.ba{h}.{c} = and <16 x i1> %d.fr{h}.{c}, %d.ne{h}.{c}
  %d.bb{h}.{c} = bitcast <16 x i1> %d.ba{h}.{c} to i16
  %d.bad{h}.{c} = or i16 {before}, %d.bb{h}.{c}
"""

_KEEP: Final = """\
  %d.sa{h}.{c} = getelementptr i32, ptr %s.write_sites, i64 %d.p{h}.{c}
  store <16 x i32> %d.me{h}.{c}, ptr %d.wa{h}.{c}, align 4
  store <16 x i32> %d.stamp, ptr %d.sa{h}.{c}, align 4
"""

# One block of bytes that the half touches: which warps have read there.
_BLOCK: Final = """\
  %d.sb{h}.{b} = add i32 %d.first{h}, {offset}
  %d.sc{h}.{b} = lshr i32 %d.sb{h}.{b}, {shift}
  %d.sd{h}.{b} = mul i32 %d.sc{h}.{b}, %s.summaries
  %d.se{h}.{b} = zext i32 %d.sd{h}.{b} to i64
  %d.sf{h}.{b} = getelementptr i32, ptr %s.summary, i64 %d.se{h}.{b}
"""

_YOUNG: Final = """\
  %d.sg{h}.{b} = getelementptr i32, ptr %d.sf{h}.{b}, i64 %d.kk{h}
  %d.sh{h}.{b} = load <8 x i32>, ptr %d.sg{h}.{b}, align 4
  %d.si{h}.{b} = icmp ugt <8 x i32> %d.sh{h}.{b}, %floor
  %d.young{h}.{b} = or <8 x i1> {before}, %d.si{h}.{b}
"""
