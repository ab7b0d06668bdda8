"""The matrix moves as native code: one small function per form, made from its fragment and compiled by LLVM.

NumPy has no fast way to move 2 or 4 bytes at a time, and that is what these instructions do. A function handles any
number of warps.
"""

from __future__ import annotations

import ctypes
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.fragments.derive import fragment
from ptxloom.fragments.model import Axis, Digit
from ptxloom.fragments.network import Side, rearrange
from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.fragments.model import Fragment
    from ptxloom.isa.matrix import MatrixMove

_VECTOR_BITS: Final = 128

# Memory, the byte offset of each warp's memory in it, addresses, bytes from one warp's addresses to the next,
# registers, warps, the last address at which a row fits. Returns the first warp with an illegal address, or -1.
_SIGNATURE: Final = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_uint32,
)

_FUNCTION: Final = """
define i64 @move(ptr noalias %memory, ptr noalias %offsets, ptr noalias %addresses, i64 %step, ptr noalias %registers,
                 i64 %warps, i32 %last) {{
entry:
  br label %next
next:
  %warp = phi i64 [ 0, %entry ], [ %following, %work ]
  %more = icmp slt i64 %warp, %warps
  br i1 %more, label %look, label %done
look:
  %far = mul i64 %warp, %step
  %mine = getelementptr i8, ptr %addresses, i64 %far
  %all = load <{lanes} x i32>, ptr %mine, align 4
  %any = call i32 @llvm.vector.reduce.or.v{lanes}i32(<{lanes} x i32> %all)
  %low = and i32 %any, {low}
  %odd = icmp ne i32 %low, 0
  %top = call i32 @llvm.vector.reduce.umax.v{lanes}i32(<{lanes} x i32> %all)
  %beyond = icmp ugt i32 %top, %last
  %bad = or i1 %odd, %beyond
  br i1 %bad, label %illegal, label %work
illegal:
  ret i64 %warp
work:
  %place = getelementptr i64, ptr %offsets, i64 %warp
  %offset = load i64, ptr %place, align 8
  %base = getelementptr i8, ptr %memory, i64 %offset
  %skip = mul i64 %warp, {register_bytes}
  %held = getelementptr i8, ptr %registers, i64 %skip
{body}
  %following = add i64 %warp, 1
  br label %next
done:
  ret i64 -1
}}
declare i32 @llvm.vector.reduce.or.v{lanes}i32(<{lanes} x i32>)
declare i32 @llvm.vector.reduce.umax.v{lanes}i32(<{lanes} x i32>)
"""


@dataclass(frozen=True, slots=True)
class CompiledMove:
    """A compiled move and the library that owns its code."""

    library: Any
    function: Callable[..., int]

    def __call__(self, *arguments: object) -> int:
        """Run it on the arguments of `_SIGNATURE`."""
        return self.function(*arguments)


@cache
def native(move: MatrixMove) -> CompiledMove:
    """The function that does a move for many warps; it is compiled on first use."""
    library = _compile(source(move))
    return CompiledMove(library, _SIGNATURE(library["move"]))


def source(move: MatrixMove) -> str:
    """The function in LLVM's language."""
    held = fragment(move)
    moved = sides(held, together=Together.REGISTERS)
    rows = [line for number, _ in moved.rows.vectors() for line in _row_pointer(move, number)]
    places = [
        f"  %h{number} = getelementptr i8, ptr %held, i64 {number * _VECTOR_BITS // 8}"
        for number, _ in moved.registers.vectors()
    ]
    return _FUNCTION.format(
        lanes=move.address_lanes,
        low=move.row_bytes - 1,
        register_bytes=LANES * held.registers * 4,
        body="\n".join([*rows, *places, *body(move, moved)]),
    )


class Together(StrEnum):
    """The contiguous unit in the storage of registers: the registers of one lane, or the lanes of one register."""

    REGISTERS = "registers"
    LANES = "lanes"


@dataclass(frozen=True, slots=True)
class Sides:
    """A move as a rearrangement of 16-byte vectors.

    Attributes:
        rows: The addressed rows; a row's number is the lane that names it.
        registers: The registers of a warp, as they are kept.
        bits: The bits that move as a whole: values that are neighbours in a row and in a register.
    """

    rows: Side
    registers: Side
    bits: int

    @property
    def element(self) -> str:
        """The LLVM type of a unit that moves as a whole."""
        return f"i{self.bits}"

    @property
    def shape(self) -> str:
        """The LLVM type of a vector."""
        return f"<{_VECTOR_BITS // self.bits} x {self.element}>"


def sides(held: Fragment, together: Together) -> Sides:
    """The rows and the registers of a fragment."""
    low = 0
    while low < len(held.values) and held.values[low] == Digit(Axis.COLUMN, 1 << low):
        low += 1
    bits = held.stride << low
    inside = (_VECTOR_BITS // bits).bit_length() - 1
    within = (held.register_bits // held.stride).bit_length() - 1 if together is Together.LANES else len(held.values)
    ordered = (*reversed(held.values[within:]), *reversed(held.lanes), *reversed(held.values[low:within]))
    columns = sorted((d for d in ordered if d.axis is Axis.COLUMN), key=lambda d: -d.weight)
    outside = sorted((d for d in ordered if d.axis is not Axis.COLUMN), key=lambda d: (d.axis is Axis.ROW, -d.weight))
    registers = Side(ordered[: len(ordered) - inside], ordered[len(ordered) - inside :])
    return Sides(Side(tuple(outside), tuple(columns)), registers, bits)


def body(move: MatrixMove, moved: Sides) -> Iterator[str]:
    """The LLVM instructions that move between `%row0`, ... and `%h0`, ...: pointers to 16 bytes each."""
    load = move.opcode == "ldmatrix"
    start, target = (moved.rows, moved.registers) if load else (moved.registers, moved.rows)
    into, out_of = ("h", "row") if load else ("row", "h")
    packed = load and move.source.bits != move.held.bits
    vectors: dict[frozenset[Digit], str] = {}
    for number, ones in start.vectors():
        whole = (f"  %v{number} = load {moved.shape}, ptr %{out_of}{number}, align 1",)
        yield from _unpacked(move, number, moved.shape) if packed else whole
        vectors[ones] = f"%v{number}"
    lines, found = rearrange(vectors, start, target, moved.element)
    yield from lines
    for number, ones in target.vectors():
        yield f"  store {moved.shape} {found[ones]}, ptr %{into}{number}, align 1"


def _row_pointer(move: MatrixMove, number: int) -> Iterator[str]:
    """`%row`: where the row begins that a lane names."""
    yield f"  %a{number} = extractelement <{move.address_lanes} x i32> %all, i32 {number}"
    yield f"  %w{number} = zext i32 %a{number} to i64"
    yield f"  %row{number} = getelementptr i8, ptr %base, i64 %w{number}"


def _unpacked(move: MatrixMove, number: int, shape: str) -> Iterator[str]:
    """`%v`: the packed elements of a row, each in a byte.

    Element i is bits [i * bits, (i + 1) * bits) of the row, extended by its sign or by zeros. The two bytes that hold
    it are joined; shifts then remove the other bits.
    """
    count, bits, row = move.row_elements, move.source.bits, move.row_bytes
    places = [divmod(i * bits, 8) for i in range(count)]
    pick = ", ".join(f"i32 {byte}, i32 {min(byte + 1, row - 1)}" for byte, _ in places)
    left = ", ".join(f"i16 {16 - bits - bit}" for _, bit in places)
    right = ", ".join([f"i16 {16 - bits}"] * count)
    shift = "ashr" if move.source.signed else "lshr"
    yield f"  %r{number} = load <{row} x i8>, ptr %row{number}, align 1"
    yield f"  %b{number} = shufflevector <{row} x i8> %r{number}, <{row} x i8> poison, <{2 * count} x i32> <{pick}>"
    yield f"  %p{number} = bitcast <{2 * count} x i8> %b{number} to <{count} x i16>"
    yield f"  %l{number} = shl <{count} x i16> %p{number}, <{left}>"
    yield f"  %x{number} = {shift} <{count} x i16> %l{number}, <{right}>"
    yield f"  %t{number} = trunc <{count} x i16> %x{number} to <{count} x i8>"
    yield f"  %v{number} = bitcast <{count} x i8> %t{number} to {shape}"


def _compile(text: str) -> Any:
    from llvmlite import binding as llvm  # noqa: PLC0415 - not for those who only look at fragments

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2)
    made = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module)).export_symbol("move")
    # JITLink puts all sections into one piece of memory: each is in reach of the others
    linker = llvm.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)
    return made.add_current_process().link(linker, "moves")
