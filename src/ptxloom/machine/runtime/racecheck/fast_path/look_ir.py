"""The IR text of racecheck's checks (`look`): a head, the comparisons of a read or a write, a tail."""

from __future__ import annotations

from typing import Final

HEAD: Final = """
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @ptxloom_stamp_of(ptr, i32)
declare void @ptxloom_check_near(ptr, i32, i32, i32, i32, i32, ptr, i32)
declare void @ptxloom_check_lane(ptr, i32, i64, i32, i32, i32, ptr, i32)
declare void @ptxloom_settle_reads(ptr)
define void @{name}(ptr %w, ptr %addresses, i64 %offset, i32 %mask, i32 %site{values}) #0 {{
entry:
{held}
{lanes}
  %none = icmp eq i32 %inside, 0
  br i1 %none, label %end, label %begin
begin:
  %starts = getelementptr i8, ptr %w, i64 {starts}
  store <32 x i32> %low, ptr %starts, align 4
{fields}
  %stamp = call i32 @ptxloom_stamp_of(ptr %w, i32 %site)
{bound}
  %near = and i32 %inside, {good}
  %far = xor i32 %inside, %near
  br label %beyond
beyond:
  %f = phi i32 [ %far, %begin ], [ %f1, %check ]
  %f.none = icmp eq i32 %f, 0
  br i1 %f.none, label %inner, label %check
check:
  %f.lane = call i32 @llvm.cttz.i32(i32 %f, i1 true)
  %f.lane64 = zext i32 %f.lane to i64
  %f.at = getelementptr i32, ptr %starts, i64 %f.lane64
  %f.low = load i32, ptr %f.at, align 4
  %f.place = zext i32 %f.low to i64
  call void @ptxloom_check_lane(ptr %w, i32 %f.lane, i64 %f.place, i32 {n}, i32 %stamp, i32 {write},
                                ptr %held, i32 {size})
  %f.less = sub i32 %f, 1
  %f1 = and i32 %f, %f.less
  br label %beyond
inner:
  %warp.first = shl i32 %w.index, 5
  %thread0 = add i32 %s.first, %warp.first
  %warp = lshr i32 %thread0, 5
  %warp64 = zext i32 %warp to i64
  %bytes64 = zext i32 %s.bytes to i64
  %tick0 = shl i32 %o.clock, %o.bits
  %mine0 = or i32 %tick0, %thread0
  %one = shl i32 1, %o.bits
  %low.bits = sub i32 %one, 1
  %who0 = or i32 %low.bits, {mark}
  %who1 = insertelement <{n} x i32> poison, i32 %who0, i64 0
  %who = shufflevector <{n} x i32> %who1, <{n} x i32> poison, <{n} x i32> zeroinitializer
  %limit1 = insertelement <{n} x i32> poison, i32 %s.limit, i64 0
  %limit = shufflevector <{n} x i32> %limit1, <{n} x i32> poison, <{n} x i32> zeroinitializer
  %stamp1 = insertelement <{n} x i32> poison, i32 %stamp, i64 0
  %stamps = shufflevector <{n} x i32> %stamp1, <{n} x i32> poison, <{n} x i32> zeroinitializer
  %clock64 = zext i32 %o.clock to i64
  %clock.high = shl i64 %clock64, 32
"""


# Which bytes were written since the barrier, and by another thread.
_LAST_WRITES: Final = """\
  %written.at = getelementptr i32, ptr %s.writes, i64 %at64
  %written = load <{n} x i32>, ptr %written.at, align 4
  %fresh = icmp sge <{n} x i32> %written, %limit
  %mine = add i32 %mine0, %l
  %mine1 = insertelement <{n} x i32> poison, i32 %mine, i64 0
  %mines = shufflevector <{n} x i32> %mine1, <{n} x i32> poison, <{n} x i32> zeroinitializer
  %apart0 = xor <{n} x i32> %written, %mines
  %apart1 = and <{n} x i32> %apart0, %who
  %apart = icmp ne <{n} x i32> %apart1, zeroinitializer
"""

READ: Final = (
    """
  %base1 = add i32 %s.base, 1
  %older = icmp ugt i32 %w.since, %base1
  %since0 = select i1 %older, i32 %w.since, i32 %base1
  %since64 = zext i32 %since0 to i64
  %since.tick = shl i64 %since64, 32
  %since.high = sub i64 %since.tick, 1
  %since1 = insertelement <{n} x i64> poison, i64 %since.high, i64 0
  %since = shufflevector <{n} x i64> %since1, <{n} x i64> poison, <{n} x i32> zeroinitializer
  ; younger entries than this are of reads since the last barrier
  %base64 = zext i32 %base1 to i64
  %base.tick = shl i64 %base64, 32
  %base.high = sub i64 %base.tick, 1
  %base.all1 = insertelement <{n} x i64> poison, i64 %base.high, i64 0
  %base.all = shufflevector <{n} x i64> %base.all1, <{n} x i64> poison, <{n} x i32> zeroinitializer
{quick}
remember:
  ; nothing is known yet but that it was read
  %kept.old = load i64, ptr %s.deferred.at, align 8
  %kept.new = or i64 %kept.old, %q.blocks
  store i64 %kept.new, ptr %s.deferred.at, align 8
  br label %ring
eager:
  %waiting = load i64, ptr %s.deferred.at, align 8
  %waits = icmp ne i64 %waiting, 0
  br i1 %waits, label %settle, label %ring
settle:
  call void @ptxloom_settle_reads(ptr %w)
  br label %ring
ring:
  %over = phi i1 [ true, %remember ], [ false, %eager ], [ false, %settle ]
  %look.ring = mul i32 %w.index, {read_records}
  ; reads of a peer's memory have been kept since the head was loaded
  %look.count = load i32, ptr %w.read_head.at, align 4
  %look.number = and i32 %look.count, {last_record}
  %look.index = add i32 %look.ring, %look.number
  %look.index64 = zext i32 %look.index to i64
  %look.bytes = mul i64 %look.index64, {record_bytes}
  %look = getelementptr i8, ptr %s.read_records, i64 %look.bytes
  %look.head0 = insertelement <4 x i32> poison, i32 %o.clock, i64 0
  %look.head1 = insertelement <4 x i32> %look.head0, i32 %stamp, i64 1
  %look.head2 = insertelement <4 x i32> %look.head1, i32 %near, i64 2
  %look.head3 = insertelement <4 x i32> %look.head2, i32 {n}, i64 3
  store <4 x i32> %look.head3, ptr %look, align 8
  %look.starts = getelementptr i8, ptr %look, i64 16
  store <32 x i32> %low, ptr %look.starts, align 8
  %look.next = add i32 %look.count, 1
  store i32 %look.next, ptr %w.read_head.at, align 4
  br i1 %over, label %end, label %shadow
shadow:
  store i32 %look.next, ptr %w.read_done.at, align 4
  %plane = mul i64 %warp64, %bytes64
  %reads = getelementptr i64, ptr %s.reads, i64 %plane
{halves}
loop:
  %left = phi i32 [ %scattered, %halves ], [ %r, %next ]
  %done = icmp eq i32 %left, 0
  br i1 %done, label %end, label %lane
lane:
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %l64 = zext i32 %l to i64
  %at.p = getelementptr i32, ptr %starts, i64 %l64
  %at = load i32, ptr %at.p, align 4
  %bit = shl i32 1, %l
  %at1 = insertelement <32 x i32> poison, i32 %at, i64 0
  %ats = shufflevector <32 x i32> %at1, <32 x i32> poison, <32 x i32> zeroinitializer
  %alike = icmp eq <32 x i32> %low, %ats
  %alike.bits = bitcast <32 x i1> %alike to i32
  %g = and i32 %alike.bits, %left
  %less = sub i32 %left, 1
  %others = and i32 %left, %less
  %unlike = xor i32 %g, -1
  %r = and i32 %others, %unlike
  br label %grouped
grouped:
  %at64 = zext i32 %at to i64
"""
    + _LAST_WRITES
    + """\
  %alone = icmp eq i32 %g, %bit
  %bad1 = and <{n} x i1> %fresh, %apart
  %bad2 = select i1 %alone, <{n} x i1> %bad1, <{n} x i1> %fresh
  %read.at = getelementptr i64, ptr %reads, i64 %at64
  %old = load <{n} x i64>, ptr %read.at, align 8
  %keep = icmp sgt <{n} x i64> %old, %since
  %old.lanes = and <{n} x i64> %old, splat (i64 4294967295)
  %kept = select <{n} x i1> %keep, <{n} x i64> %old.lanes, <{n} x i64> zeroinitializer
  %g64 = zext i32 %g to i64
  %new0 = or i64 %clock.high, %g64
  %new1 = insertelement <{n} x i64> poison, i64 %new0, i64 0
  %news = shufflevector <{n} x i64> %new1, <{n} x i64> poison, <{n} x i32> zeroinitializer
  br i1 %older, label %careful, label %judge
careful:
  ; reads of other lanes, published since, are not to be replaced without a look
  %gone = xor <{n} x i64> %news, splat (i64 -1)
  %lost.lanes = and <{n} x i64> %old.lanes, %gone
  %lost.some = icmp ne <{n} x i64> %lost.lanes, zeroinitializer
  %lost.young = icmp sgt <{n} x i64> %old, %base.all
  %lost0 = and <{n} x i1> %lost.some, %lost.young
  %lost = select <{n} x i1> %keep, <{n} x i1> zeroinitializer, <{n} x i1> %lost0
  %bad4 = or <{n} x i1> %bad2, %lost
  br label %judge
judge:
  %bad3 = phi <{n} x i1> [ %bad2, %grouped ], [ %bad4, %careful ]
  %bad.bits = bitcast <{n} x i1> %bad3 to i{n}
  %bad = icmp ne i{n} %bad.bits, 0
  br i1 %bad, label %slow, label %next
slow:
  call void @ptxloom_check_near(ptr %w, i32 %g, i32 %at, i32 {n}, i32 %stamp, i32 0, ptr %held, i32 {size})
  br label %next
next:
  %new = or <{n} x i64> %kept, %news
  store <{n} x i64> %new, ptr %read.at, align 8
  %block = lshr i32 %at, {block}
  %row = mul i32 %block, %s.summaries
  %cell = add i32 %row, %warp
  %cell64 = zext i32 %cell to i64
  %summary.at = getelementptr i32, ptr %s.summary, i64 %cell64
  store i32 %o.clock, ptr %summary.at, align 4
  br label %loop
"""
)

WRITE: Final = (
    """
  %floor1 = insertelement <8 x i32> poison, i32 %s.floor, i64 0
  %floor = shufflevector <8 x i32> %floor1, <8 x i32> poison, <8 x i32> zeroinitializer
  %floor64.0 = zext i32 %s.floor to i64
  %floor64.1 = insertelement <{n} x i64> poison, i64 %floor64.0, i64 0
  %floor64 = shufflevector <{n} x i64> %floor64.1, <{n} x i64> poison, <{n} x i32> zeroinitializer
{halves}
loop:
  %left = phi i32 [ %scattered, %halves ], [ %r, %keep ]
  %done = icmp eq i32 %left, 0
  br i1 %done, label %end, label %lane
lane:
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %l64 = zext i32 %l to i64
  %at.p = getelementptr i32, ptr %starts, i64 %l64
  %at = load i32, ptr %at.p, align 4
  %at64 = zext i32 %at to i64
  %bit = shl i32 1, %l
  %less = sub i32 %left, 1
  %r = and i32 %left, %less
  %at.end = add i32 %at, {last}
  %bit0 = lshr i32 %at, %s.grain
  %bit1 = lshr i32 %at.end, %s.grain
  %bit2 = and i32 %bit0, 63
  %bit3 = and i32 %bit1, 63
  %bit4 = zext i32 %bit2 to i64
  %bit5 = zext i32 %bit3 to i64
  %bit6 = shl i64 1, %bit4
  %bit7 = shl i64 2, %bit5
  %bits = sub i64 %bit7, %bit6
  %waiting = load i64, ptr %s.deferred.at, align 8
  %met = and i64 %waiting, %bits
  %meets = icmp ne i64 %met, 0
  br i1 %meets, label %settle, label %settled
settle:
  call void @ptxloom_settle_reads(ptr %w)
  br label %settled
settled:
"""
    + _LAST_WRITES
    + """\
  %bad0 = and <{n} x i1> %fresh, %apart
  %bad.bits = bitcast <{n} x i1> %bad0 to i{n}
  %bad1 = icmp ne i{n} %bad.bits, 0
  %bulk = icmp ne i32 %o.reading, 0
  %bad = or i1 %bad1, %bulk
  br i1 %bad, label %slow, label %look
look:
  %block = lshr i32 %at, {block}
  %row = mul i32 %block, %s.summaries
  %row64 = zext i32 %row to i64
  %summary.at = getelementptr i32, ptr %s.summary, i64 %row64
  br label %summaries
summaries:
  %k = phi i32 [ 0, %look ], [ %k1, %onward ]
  %k.end = icmp uge i32 %k, %s.summaries
  br i1 %k.end, label %keep, label %eight
eight:
  %k64 = zext i32 %k to i64
  %eight.at = getelementptr i32, ptr %summary.at, i64 %k64
  %ticks = load <8 x i32>, ptr %eight.at, align 4
  %young = icmp ugt <8 x i32> %ticks, %floor
  %young.bits = bitcast <8 x i1> %young to i8
  %young.mask = zext i8 %young.bits to i32
  br label %warps
warps:
  %y = phi i32 [ %young.mask, %eight ], [ %y1, %calm ]
  %y.none = icmp eq i32 %y, 0
  br i1 %y.none, label %onward, label %warp.one
warp.one:
  %y.low = call i32 @llvm.cttz.i32(i32 %y, i1 true)
  %u = add i32 %k, %y.low
  %u64 = zext i32 %u to i64
  %plane = mul i64 %u64, %bytes64
  %reads = getelementptr i64, ptr %s.reads, i64 %plane
  %read.at = getelementptr i64, ptr %reads, i64 %at64
  %e = load <{n} x i64>, ptr %read.at, align 8
  %e.tick = lshr <{n} x i64> %e, splat (i64 32)
  %e.young = icmp ugt <{n} x i64> %e.tick, %floor64
  %own = icmp eq i32 %u, %warp
  %own.bit = select i1 %own, i32 %bit, i32 0
  %others = xor i32 %own.bit, -1
  %others64 = zext i32 %others to i64
  %others1 = insertelement <{n} x i64> poison, i64 %others64, i64 0
  %others.all = shufflevector <{n} x i64> %others1, <{n} x i64> poison, <{n} x i32> zeroinitializer
  %e.lanes = and <{n} x i64> %e, %others.all
  %e.some = icmp ne <{n} x i64> %e.lanes, zeroinitializer
  %hit = and <{n} x i1> %e.young, %e.some
  %hit.bits = bitcast <{n} x i1> %hit to i{n}
  %hit.any = icmp ne i{n} %hit.bits, 0
  br i1 %hit.any, label %slow, label %calm
calm:
  %y.less = sub i32 %y, 1
  %y1 = and i32 %y, %y.less
  br label %warps
onward:
  %k1 = add i32 %k, 8
  br label %summaries
slow:
  call void @ptxloom_check_near(ptr %w, i32 %bit, i32 %at, i32 {n}, i32 %stamp, i32 1, ptr %held, i32 {size})
  br label %keep
keep:
  ; what a history remembers it has remembered already
  %now = load <{n} x i32>, ptr %written.at, align 4
  %leave = icmp sge <{n} x i32> %now, splat (i32 {with_history})
  %site.at = getelementptr i32, ptr %s.write_sites, i64 %at64
  %site.old = load <{n} x i32>, ptr %site.at, align 4
  %entry.new = select <{n} x i1> %leave, <{n} x i32> %now, <{n} x i32> %mines
  %site.new = select <{n} x i1> %leave, <{n} x i32> %site.old, <{n} x i32> %stamps
  store <{n} x i32> %entry.new, ptr %written.at, align 4
  store <{n} x i32> %site.new, ptr %site.at, align 4
  br label %loop
"""
)

TAIL: Final = """
end:
  ret void
}
"""
