"""The part of racecheck's read check that tests only whether anything was written, as LLVM IR.

If nothing was written since the barrier, the read is kept only in the warp's ring (`deferred_reads`). Used inside a
function of `look`, whose values it names.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.runtime.structs.shadow import READ_RECORDS


def quick_reads(count: int) -> str:
    """Look at `count` bytes of each lane: at those of half a warp at once where they lie side by side, or are the same.

    `%eager` is where it goes on if something is not plainly in order, `%end` if the read has been kept.
    """
    halves = "".join(_half(count, number) for number in range(2))
    return _BEGIN + halves + _LANES.format(n=count, before=count - 1, all=_ANY.format(n=count, name="q.l"))


def stretch(prefix: str, near: str, count: int, number: int, other: str) -> str:
    """Go to a block for half a warp that takes a stretch of memory without gaps, else to another one.

    Args:
        prefix: Of the names of values and blocks.
        near: The lanes that may.
        count: Bytes of each lane.
        number: 0 for the lower lanes, 1 for the upper ones.
        other: That block.
    """
    return _STRETCH.format(
        p=prefix,
        h=number,
        near=near,
        lanes=0xFFFF << 16 * number,
        first=16 * number,
        order="<" + ", ".join(f"i32 {16 * number + n}" for n in range(16)) + ">",
        row=", ".join(f"i32 {n * count}" for n in range(16)),
        other=other,
    )


def blocks(name: str, first: str, more: str) -> str:
    """The bits of `Shadow.deferred` for a first byte and as many more."""
    return _BLOCKS.replace("{name}", name).replace("{first}", first).replace("{more}", more)


def _half(count: int, number: int) -> str:
    chunks = "".join(
        _CHUNK.format(h=number, c=chunk, offset=16 * chunk, before=f"%q.w{number}.{chunk - 1}" if chunk else "0")
        for chunk in range(count)
    )
    return stretch("q", "near", count, number, "else") + _HALF.format(
        h=number,
        body=chunks,
        last=count - 1,
        bytes=16 * count - 1,
        before=count - 1,
        one=_ANY.format(n=count, name=f"q.o{number}"),
        following="q.lanes" if number else "q.half1",
        fresh="false" if number == 0 else "%q.fresh0",
        blocks="0" if number == 0 else "%q.blocks0",
        left="0" if number == 0 else "%q.left0",
    )


_BEGIN: Final = f"""
  %q.deferring = load i32, ptr %s.deferring.at, align 4
  %q.on = icmp ne i32 %q.deferring, 0
  %q.done = load i32, ptr %w.read_done.at, align 4
  %q.head = load i32, ptr %w.read_head.at, align 4
  %q.kept = sub i32 %q.head, %q.done
  %q.room = icmp ult i32 %q.kept, {READ_RECORDS}
  %q.plain = xor i1 %older, true
  %q.may0 = and i1 %q.on, %q.plain
  %q.may = and i1 %q.may0, %q.room
  br i1 %q.may, label %q.half0, label %eager
"""

_ANY: Final = """\
  %{name}.at = getelementptr i32, ptr %s.writes, i64 %{name}.from
  %{name}.written = load <{n} x i32>, ptr %{name}.at, align 4
  %{name}.young = icmp sge <{n} x i32> %{name}.written, %limit
  %{name}.bits = bitcast <{n} x i1> %{name}.young to i{n}
  %{name}.some = icmp ne i{n} %{name}.bits, 0
"""

_BLOCKS: Final = """\
  %{name}.b0 = lshr i32 %{first}, %s.grain
  %{name}.end = add i32 %{first}, {more}
  %{name}.b1 = lshr i32 %{name}.end, %s.grain
  %{name}.c0 = and i32 %{name}.b0, 63
  %{name}.c1 = and i32 %{name}.b1, 63
  %{name}.d0 = zext i32 %{name}.c0 to i64
  %{name}.d1 = zext i32 %{name}.c1 to i64
  %{name}.e0 = shl i64 1, %{name}.d0
  %{name}.e1 = shl i64 2, %{name}.d1
  %{name}.blocks = sub i64 %{name}.e1, %{name}.e0
"""

# Whether half a warp takes a stretch of memory.
_STRETCH: Final = """
{p}.half{h}:
  %{p}.whose{h} = and i32 %{near}, {lanes}
  %{p}.whole{h} = icmp eq i32 %{p}.whose{h}, {lanes}
  %{p}.lows{h} = shufflevector <32 x i32> %low, <32 x i32> poison, <16 x i32> {order}
  %{p}.first{h} = extractelement <32 x i32> %low, i64 {first}
  %{p}.firsts{h}.1 = insertelement <16 x i32> poison, i32 %{p}.first{h}, i64 0
  %{p}.firsts{h} = shufflevector <16 x i32> %{p}.firsts{h}.1, <16 x i32> poison, <16 x i32> zeroinitializer
  %{p}.steps{h} = sub <16 x i32> %{p}.lows{h}, %{p}.firsts{h}
  %{p}.gaps{h} = icmp ne <16 x i32> %{p}.steps{h}, <{row}>
  %{p}.gaps{h}.bits = bitcast <16 x i1> %{p}.gaps{h} to i16
  %{p}.dense{h} = icmp eq i16 %{p}.gaps{h}.bits, 0
  %{p}.fast{h} = and i1 %{p}.whole{h}, %{p}.dense{h}
  br i1 %{p}.fast{h}, label %{p}.row{h}, label %{p}.{other}{h}
{p}.row{h}:
"""

# Its rest: a row of memory, one place, or anything.
_HALF: Final = (
    """\
  %q.from{h} = zext i32 %q.first{h} to i64
  %q.li{h}.1 = insertelement <16 x i32> poison, i32 %s.limit, i64 0
  %q.li{h} = shufflevector <16 x i32> %q.li{h}.1, <16 x i32> poison, <16 x i32> zeroinitializer
{body}
  %q.r{h}.some = icmp ne i16 %q.w{h}.{last}, 0
"""
    + blocks("q.r{h}", "q.first{h}", "{bytes}")
    + """\
  br label %q.over{h}
q.else{h}:
  %q.apart{h} = icmp ne <16 x i32> %q.steps{h}, zeroinitializer
  %q.apart{h}.bits = bitcast <16 x i1> %q.apart{h} to i16
  %q.same{h} = icmp eq i16 %q.apart{h}.bits, 0
  %q.one{h} = and i1 %q.whole{h}, %q.same{h}
  br i1 %q.one{h}, label %q.word{h}, label %q.over{h}
q.word{h}:
  %q.o{h}.from = zext i32 %q.first{h} to i64
{one}\
"""
    + blocks("q.o{h}", "q.first{h}", "{before}")
    + """\
  br label %q.over{h}
q.over{h}:
  %q.some{h} = phi i1 [ %q.r{h}.some, %q.row{h} ], [ %q.o{h}.some, %q.word{h} ], [ false, %q.else{h} ]
  %q.where{h} = phi i64 [ %q.r{h}.blocks, %q.row{h} ], [ %q.o{h}.blocks, %q.word{h} ], [ 0, %q.else{h} ]
  %q.rest{h} = phi i32 [ 0, %q.row{h} ], [ 0, %q.word{h} ], [ %q.whose{h}, %q.else{h} ]
  %q.fresh{h} = or i1 {fresh}, %q.some{h}
  %q.blocks{h} = or i64 {blocks}, %q.where{h}
  %q.left{h} = or i32 {left}, %q.rest{h}
  br label %{following}
"""
)

# Sixteen bytes of a row.
_CHUNK: Final = """\
  %q.p{h}.{c} = add i64 %q.from{h}, {offset}
  %q.a{h}.{c} = getelementptr i32, ptr %s.writes, i64 %q.p{h}.{c}
  %q.e{h}.{c} = load <16 x i32>, ptr %q.a{h}.{c}, align 4
  %q.y{h}.{c} = icmp sge <16 x i32> %q.e{h}.{c}, %q.li{h}
  %q.b{h}.{c} = bitcast <16 x i1> %q.y{h}.{c} to i16
  %q.w{h}.{c} = or i16 {before}, %q.b{h}.{c}
"""

# Lanes one by one, then what is kept.
_LANES: Final = (
    """
q.lanes:
  br label %q.loop
q.loop:
  %q.left = phi i32 [ %q.left1, %q.lanes ], [ %q.next, %q.lane ]
  %q.fresh = phi i1 [ %q.fresh1, %q.lanes ], [ %q.fresher, %q.lane ]
  %q.blocks = phi i64 [ %q.blocks1, %q.lanes ], [ %q.more, %q.lane ]
  %q.all = icmp eq i32 %q.left, 0
  br i1 %q.all, label %q.end, label %q.lane
q.lane:
  %q.l = call i32 @llvm.cttz.i32(i32 %q.left, i1 true)
  %q.l64 = zext i32 %q.l to i64
  %q.start.p = getelementptr i32, ptr %starts, i64 %q.l64
  %q.start = load i32, ptr %q.start.p, align 4
  %q.l.from = zext i32 %q.start to i64
{all}\
"""
    + blocks("q.l", "q.start", "{before}")
    + """\
  %q.fresher = or i1 %q.fresh, %q.l.some
  %q.more = or i64 %q.blocks, %q.l.blocks
  %q.less = sub i32 %q.left, 1
  %q.next = and i32 %q.left, %q.less
  br label %q.loop
q.end:
  br i1 %q.fresh, label %eager, label %remember
"""
)
