"""`ldmatrix` and `stmatrix` of a warp as LLVM functions: one check for all rows, then 16 bytes at a time.

All take (warp, addresses, offset, mask, site) and an array of 32 lanes for each register, and return 0, or 1 after a
fault (PTX ISA 9.7.14.5.15 and 9.7.14.5.16).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.fragments.derive import fragment
from ptxloom.fragments.native import Sides, Together, body, sides
from ptxloom.isa.limits import LANES
from ptxloom.machine.native import language, translation
from ptxloom.machine.native.ir import Emitter, Value
from ptxloom.machine.native.language import Ptr, address, u32, u64
from ptxloom.machine.runtime.memory.bounds import inside
from ptxloom.machine.runtime.memory.lane_access import fault, place, shared_place
from ptxloom.machine.runtime.state import GENERIC, SHARED, SHARED_WINDOW, WRONG_SPACE, Warp

if TYPE_CHECKING:
    from ptxloom.isa.matrix import MatrixMove

_REGISTER_BYTES: Final = 128


def place_rows(
    w: Warp, addresses: Ptr[u64], spare: u64, mask: u32, lanes: u32, space: u32, size: u32, write: u32, site: u32
) -> u32:
    """Replace the addresses of rows by their host addresses; 1 after a fault.

    A lane that does not take part never faults: its row is the one at its address if that is readable, else `spare`.
    """
    failed: u32 = 0
    for lane in range(lanes):
        at = addresses[lane]
        found: u64 = 0
        if mask >> lane & 1 != 0:
            if space == GENERIC and at & ~u64(0xFFFFFFFF) != SHARED_WINDOW:
                fault(w, WRONG_SPACE, site, lane, at, space, size, write)
                failed = 1
            else:
                found = address(place(w, lane, at, space, size, write, site))
                if found == 0:
                    failed = 1
        elif write == 0 and at & u64(size - 1) == 0:
            found = address(shared_place(w, at & 0xFFFFFFFF, u64(size)))
        if found == 0:
            found = spare
        addresses[lane] = found
    return failed


def name_of(move: MatrixMove, lanes: int) -> str:
    """The name of the function for a move; the first `lanes` lanes must name rows."""
    return f"ptxloom_{move.opcode}_{move.space.partition('::')[0]}_{move.short.replace('.', '_')}_{lanes}"


@cache
def function_of(move: MatrixMove, lanes: int) -> str:
    """The IR of a move; it calls `place_rows`."""
    write = move.opcode == "stmatrix"
    held = fragment(move)
    moved = sides(held, together=Together.LANES)
    lines = [
        line
        for number, _ in moved.rows.vectors()
        for line in (
            f"  %host{number} = extractelement <{lanes} x i64> %hosts, i32 {number}",
            f"  %row{number} = inttoptr i64 %host{number} to ptr",
        )
    ]
    careful = translation.signature(place_rows)
    bound = Emitter("bound")
    fits = inside(bound, Value("i64", "%top"), Value("i64", str(move.row_bytes)), Value("i64", "%room"))
    offsets = language.record(Warp).offsets
    return _FUNCTION.format(
        declaration=careful.declaration,
        place_rows=careful.name,
        name=name_of(move, lanes),
        registers=_parameters(held.registers),
        lanes=lanes,
        bits=32 if move.space else 64,
        members=(1 << lanes) - 1 if lanes < LANES else -1,
        kept=0xFFFFFFFF if move.space else -1,
        window=0 if move.space else SHARED_WINDOW,
        widen="zext" if move.space else "bitcast",
        size=move.row_bytes,
        low=move.row_bytes - 1,
        space=SHARED if move.space else GENERIC,
        write=int(write),
        bound="\n".join(bound.lines),
        inside=fits.text,
        shared=offsets["shared"],
        shared_bytes=offsets["shared_bytes"],
        body="\n".join([*lines, *_register_pointers(moved), *body(move, moved)]),
    )


def name_of_rows(move: MatrixMove) -> str:
    """The name of the function for the rows of a store."""
    return f"ptxloom_rows_of_{move.opcode}_{move.short.replace('.', '_')}"


@cache
def function_of_rows(move: MatrixMove) -> str:
    """The IR that writes the rows of a store one after the other, given the target and a place per register."""
    held = fragment(move)
    moved = sides(held, together=Together.LANES)
    lines = [
        f"  %row{number} = getelementptr i8, ptr %rows, i64 {number * move.row_bytes}"
        for number, _ in moved.rows.vectors()
    ]
    return "\n".join(
        [
            f"define void @{name_of_rows(move)}(ptr %rows{_parameters(held.registers)}) #0 {{",
            *lines,
            *_register_pointers(moved),
            *body(move, moved),
            "  ret void",
            "}\n",
        ]
    )


def _parameters(registers: int) -> str:
    return "".join(f", ptr %out{n}" for n in range(registers))


def _register_pointers(moved: Sides) -> list[str]:
    """`%h`: 16 bytes each of the places of registers."""
    places = {number: divmod(number * 16, _REGISTER_BYTES) for number, _ in moved.registers.vectors()}
    return [
        f"  %h{number} = getelementptr i8, ptr %out{register}, i64 {offset}"
        for number, (register, offset) in places.items()
    ]


_FUNCTION: Final = """
{declaration}
declare i64 @llvm.vector.reduce.or.v{lanes}i64(<{lanes} x i64>)
declare i64 @llvm.vector.reduce.umax.v{lanes}i64(<{lanes} x i64>)
define i32 @{name}(ptr %w, ptr %addresses, i64 %offset, i32 %mask, i32 %site{registers}) #0 {{
entry:
  %read = load <{lanes} x i{bits}>, ptr %addresses, align 4
  %wide = {widen} <{lanes} x i{bits}> %read to <{lanes} x i64>
  %by0 = insertelement <{lanes} x i64> poison, i64 %offset, i64 0
  %by = shufflevector <{lanes} x i64> %by0, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer
  %sum = add <{lanes} x i64> %wide, %by
  %all = and <{lanes} x i64> %sum, splat (i64 {kept})
  %inside = sub <{lanes} x i64> %all, splat (i64 {window})
  %any = call i64 @llvm.vector.reduce.or.v{lanes}i64(<{lanes} x i64> %inside)
  %top = call i64 @llvm.vector.reduce.umax.v{lanes}i64(<{lanes} x i64> %inside)
  %low = and i64 %any, {low}
  %odd = icmp ne i64 %low, 0
  %room.at = getelementptr i8, ptr %w, i64 {shared_bytes}
  %room = load i64, ptr %room.at, align 8
{bound}
  %beyond = xor i1 {inside}, true
  %present = and i32 %mask, {members}
  %absent = icmp ne i32 %present, {members}
  %bad1 = or i1 %odd, %beyond
  %bad = or i1 %bad1, %absent
  br i1 %bad, label %careful, label %plain
plain:
  %base.at = getelementptr i8, ptr %w, i64 {shared}
  %base = load i64, ptr %base.at, align 8
  %base0 = insertelement <{lanes} x i64> poison, i64 %base, i64 0
  %bases = shufflevector <{lanes} x i64> %base0, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer
  %there = add <{lanes} x i64> %inside, %bases
  br label %move
careful:
  %places = alloca [{lanes} x i64], align 64
  %spare = alloca [2 x i64], align 16
  store <{lanes} x i64> %all, ptr %places, align 64
  store [2 x i64] zeroinitializer, ptr %spare, align 16
  %spare.at = ptrtoint ptr %spare to i64
  %failed = call i32 @{place_rows}(ptr %w, ptr %places, i64 %spare.at, i32 %mask, i32 {lanes}, i32 {space}, i32 {size},
                                   i32 {write}, i32 %site)
  %fault = icmp ne i32 %failed, 0
  br i1 %fault, label %stop, label %go
stop:
  ret i32 1
go:
  %found = load <{lanes} x i64>, ptr %places, align 64
  br label %move
move:
  %hosts = phi <{lanes} x i64> [ %there, %plain ], [ %found, %go ]
{body}
  ret i32 0
}}
"""
