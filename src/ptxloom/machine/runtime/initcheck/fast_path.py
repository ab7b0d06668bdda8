"""Initcheck's checks of a warp's accesses to shared memory, as LLVM functions.

`ptxloom_init_read_shared_4` returns the lanes whose read of 4 bytes finds unwritten ones; `write` marks bytes as
written. Addresses are 32-bit ones of the window (`shared`) or 64-bit ones that mean the same (`wide`). Each half of the
warp is checked separately: bytes without gaps as one row, one place read by all, or lane by lane. If lanes reach beyond
the CTA's own memory, `firsts` checks them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.ir import Emitter, Value
from ptxloom.machine.native.language import record
from ptxloom.machine.runtime.initcheck import slow_path
from ptxloom.machine.runtime.memory.bounds import near_lanes
from ptxloom.machine.runtime.state import SHARED, Warp

if TYPE_CHECKING:
    from collections.abc import Callable

NAME: Final = re.compile(r"ptxloom_init_(read|write)_(shared|wide)_(\d+)")
PARAMETERS: Final = "ptr, ptr, i64, i32"


def init_name(verb: str, window: str, size: int) -> str:
    """The name of the function for `size` bytes a lane."""
    return f"ptxloom_init_{verb}_{window}_{size}"


def init_function(name: str) -> tuple[str, tuple[Callable[..., object], ...]]:
    """The IR of a check and the native functions it calls."""
    found = NAME.fullmatch(name)
    assert found is not None
    size, read = int(found[3]), found[1] == "read"
    bits = 32 if found[2] == "shared" else 64
    offsets = record(Warp).offsets
    halves = "\n".join(_half(half, size, read=read) for half in (0, 1))
    bound = Emitter("bound")
    good = near_lanes(bound, size, Value("i32", "%size"))
    native = slow_path.missing_lanes if read else slow_path.written_lanes
    ir = _FUNCTION.format(
        name=name,
        bits=bits,
        narrow="trunc" if bits == 64 else "bitcast",
        by="trunc i64 %offset to i32" if bits == 32 else "bitcast i64 %offset to i64",
        written=offsets["written"],
        shared_bytes=offsets["shared_bytes"],
        starts=offsets["starts"],
        n=size,
        bound="\n".join(bound.lines),
        inside=good.text,
        halves=halves,
        result="i32" if read else "void",
        near="%bad = or i32 %bad0, %bad1" if read else "",
        slow=(_SLOW_READ if read else _SLOW_WRITE).format(n=size, space=SHARED),
        give=_GIVE if read else "  ret void",
    )
    return ir, (native,)


def _half(half: int, size: int, *, read: bool) -> str:
    """Check the lanes of one half; `%bad` are those that read unwritten bytes."""
    row = ", ".join(f"i32 {lane * size}" for lane in range(16))
    order = ", ".join(f"i32 {16 * half + lane}" for lane in range(16))
    facts = {"h": half, "n": size, "lanes": 0xFFFF << 16 * half, "first": 16 * half, "row": row, "order": order}
    facts |= {"bytes": 16 * size, "following": "done" if half else "half1"}
    return (_HALF + (_READ_HALF if read else _WRITE_HALF)).format(**facts)


_FUNCTION: Final = """
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @ptxloom_missing_lanes(ptr, ptr, i64, i32, i32, i32)
declare void @ptxloom_written_lanes(ptr, ptr, i64, i32, i32, i32)
define {result} @{name}(ptr %w, ptr %addresses, i64 %offset, i32 %mask) #0 {{
entry:
  %raw = load <32 x i{bits}>, ptr %addresses, align 4
  %by1 = {by}
  %by0 = insertelement <32 x i{bits}> poison, i{bits} %by1, i64 0
  %by = shufflevector <32 x i{bits}> %by0, <32 x i{bits}> poison, <32 x i32> zeroinitializer
  %sum = add <32 x i{bits}> %raw, %by
  %low = {narrow} <32 x i{bits}> %sum to <32 x i32>
  %starts = getelementptr i8, ptr %w, i64 {starts}
  store <32 x i32> %low, ptr %starts, align 4
  %plane.at = getelementptr i8, ptr %w, i64 {written}
  %plane.int = load i64, ptr %plane.at, align 8
  %plane = inttoptr i64 %plane.int to ptr
  %size.at = getelementptr i8, ptr %w, i64 {shared_bytes}
  %size64 = load i64, ptr %size.at, align 8
  %size = trunc i64 %size64 to i32
{bound}
  %near = and i32 %mask, {inside}
  %far = xor i32 %mask, %near
  br label %half0
{halves}
done:
{near}
  %far.none = icmp eq i32 %far, 0
  br i1 %far.none, label %end, label %beyond
beyond:
{slow}
  br label %end
end:
{give}
}}
"""

_GIVE: Final = """
  %lost = phi i32 [ 0, %done ], [ %far.bad, %beyond ]
  %all = or i32 %bad, %lost
  ret i32 %all
"""

_SLOW_READ: Final = """
  %wide = zext <32 x i32> %low to <32 x i64>
  %places = alloca <32 x i64>, align 64
  store <32 x i64> %wide, ptr %places, align 64
  %far.bad = call i32 @ptxloom_missing_lanes(ptr %w, ptr %places, i64 0, i32 %far, i32 {space}, i32 {n})
"""

_SLOW_WRITE: Final = """
  %wide = zext <32 x i32> %low to <32 x i64>
  %places = alloca <32 x i64>, align 64
  store <32 x i64> %wide, ptr %places, align 64
  call void @ptxloom_written_lanes(ptr %w, ptr %places, i64 0, i32 %far, i32 {space}, i32 {n})
"""

# A row without gaps (row), or the lanes one by one (each).
_HALF: Final = """
half{h}:
  %here{h} = and i32 %near, {lanes}
  %none{h} = icmp eq i32 %here{h}, 0
  br i1 %none{h}, label %over{h}, label %some{h}
some{h}:
  %whole{h} = icmp eq i32 %here{h}, {lanes}
  %lows{h} = shufflevector <32 x i32> %low, <32 x i32> poison, <16 x i32> <{order}>
  %first{h} = extractelement <32 x i32> %low, i64 {first}
  %f{h} = insertelement <16 x i32> poison, i32 %first{h}, i64 0
  %firsts{h} = shufflevector <16 x i32> %f{h}, <16 x i32> poison, <16 x i32> zeroinitializer
  %steps{h} = sub <16 x i32> %lows{h}, %firsts{h}
  %gaps{h} = icmp ne <16 x i32> %steps{h}, <{row}>
  %gap{h} = bitcast <16 x i1> %gaps{h} to i16
  %dense{h} = icmp eq i16 %gap{h}, 0
  %apart{h} = icmp ne <16 x i32> %steps{h}, zeroinitializer
  %ap{h} = bitcast <16 x i1> %apart{h} to i16
  %same{h} = icmp eq i16 %ap{h}, 0
  %from{h} = zext i32 %first{h} to i64
  %row.at{h} = getelementptr i8, ptr %plane, i64 %from{h}
  %pattern{h} = or i1 %dense{h}, %same{h}
  %quick{h} = and i1 %pattern{h}, %whole{h}
  br i1 %quick{h}, label %fast{h}, label %each{h}
fast{h}:
  br i1 %dense{h}, label %row{h}, label %one{h}
"""

# The lowest lane that is left, and where its marks are.
_NEXT_LANE: Final = """\
  %l{h} = call i32 @llvm.cttz.i32(i32 %left{h}, i1 true)
  %l64{h} = zext i32 %l{h} to i64
  %less{h} = sub i32 %left{h}, 1
  %rest{h} = and i32 %left{h}, %less{h}
  %at.p{h} = getelementptr i32, ptr %starts, i64 %l64{h}
  %at{h} = load i32, ptr %at.p{h}, align 4
  %at64{h} = zext i32 %at{h} to i64
  %m.at{h} = getelementptr i8, ptr %plane, i64 %at64{h}
"""

_READ_HALF: Final = (
    """
row{h}:
  %marks{h} = load <{bytes} x i8>, ptr %row.at{h}, align 1
  %lack{h} = icmp ne <{bytes} x i8> %marks{h}, zeroinitializer
  %lacks{h} = bitcast <{bytes} x i1> %lack{h} to i{bytes}
  %row.bad{h} = icmp ne i{bytes} %lacks{h}, 0
  br label %judged{h}
one{h}:
  %mark{h} = load <{n} x i8>, ptr %row.at{h}, align 1
  %miss{h} = icmp ne <{n} x i8> %mark{h}, zeroinitializer
  %misses{h} = bitcast <{n} x i1> %miss{h} to i{n}
  %one.bad{h} = icmp ne i{n} %misses{h}, 0
  br label %judged{h}
judged{h}:
  %worse{h} = phi i1 [ %row.bad{h}, %row{h} ], [ %one.bad{h}, %one{h} ]
  %all{h} = select i1 %worse{h}, i32 {lanes}, i32 0
  br label %over{h}
each{h}:
  %left{h} = phi i32 [ %here{h}, %some{h} ], [ %rest{h}, %next{h} ]
  %wrong{h} = phi i32 [ 0, %some{h} ], [ %wrongs{h}, %next{h} ]
  %end{h} = icmp eq i32 %left{h}, 0
  br i1 %end{h}, label %over{h}, label %next{h}
next{h}:
"""
    + _NEXT_LANE
    + """\
  %m{h} = load <{n} x i8>, ptr %m.at{h}, align 1
  %mi{h} = icmp ne <{n} x i8> %m{h}, zeroinitializer
  %mb{h} = bitcast <{n} x i1> %mi{h} to i{n}
  %mx{h} = icmp ne i{n} %mb{h}, 0
  %bit{h} = shl i32 1, %l{h}
  %add{h} = select i1 %mx{h}, i32 %bit{h}, i32 0
  %wrongs{h} = or i32 %wrong{h}, %add{h}
  br label %each{h}
over{h}:
  %bad{h} = phi i32 [ 0, %half{h} ], [ %all{h}, %judged{h} ], [ %wrong{h}, %each{h} ]
  br label %{following}
"""
)

_WRITE_HALF: Final = (
    """
row{h}:
  store <{bytes} x i8> zeroinitializer, ptr %row.at{h}, align 1
  br label %over{h}
one{h}:
  store <{n} x i8> zeroinitializer, ptr %row.at{h}, align 1
  br label %over{h}
each{h}:
  %left{h} = phi i32 [ %here{h}, %some{h} ], [ %rest{h}, %next{h} ]
  %end{h} = icmp eq i32 %left{h}, 0
  br i1 %end{h}, label %over{h}, label %next{h}
next{h}:
"""
    + _NEXT_LANE
    + """\
  store <{n} x i8> zeroinitializer, ptr %m.at{h}, align 1
  br label %each{h}
over{h}:
  br label %{following}
"""
)
