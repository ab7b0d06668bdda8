"""Tensor memory: allocation, moves between it and registers, and waits (PTX ISA 9.7.16).

A warp completes each instruction when it reaches it: only wrong programs can observe the asynchrony, and the tools
report those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.fragments import fragment
from ptxloom.isa.limits import LANES, TENSOR_LANES
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import WRITE, Access
from ptxloom.machine.codegen.addresses import address_values, addresses_at, base_and_offset, space_of
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import ALL, W
from ptxloom.machine.native.ir import Value, constant_vector, vector
from ptxloom.machine.runtime.asynchronous import mbarriers
from ptxloom.machine.runtime.tensor_cores.model import REGISTER_BYTES
from ptxloom.machine.runtime.tensor_memory import allocation, copies, moves
from ptxloom.machine.semantics import mbarriers as barriers
from ptxloom.meaning.arithmetic import numbers
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.fragments.model import Fragment
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_WORDS: Final = vector("i32")
_STARTS: Final = scratch.SOURCES
_NARROW: Final = ("pack::16b", "unpack::16b")


def first_of(b: Builder, value: Value) -> Value:
    """The value in the first lane that executes the instruction."""
    mask = b.active_mask
    lane = Value("i32", "0")
    if mask != ALL:
        lane = b.apply("and", b.intrinsic("llvm.cttz", mask, Value("i1", "false")), Value("i32", "31"))
    return b.emit(value.element, f"extractelement {value}, {lane}")


def tensor_addresses(b: Builder, operand: tree.Operand) -> Value:
    """The 32 addresses of an operand in tensor memory, `<32 x i32>`."""
    return b.resize(address_values(b, *base_and_offset(b.op, operand)), 32)


def is_pair(op: Op) -> int:
    """Whether an instruction is for a pair of CTAs, as 1 or 0."""
    return int(op.has("cta_group::2"))


# -- ownership


@family("tcgen05", when=lambda op: op.has("alloc"), starts=True, ends=True)
def alloc(b: Builder, op: Op) -> None:
    """Allocate columns; waits if none are free."""
    aligned(b)
    space = space_of(op)
    count = first_of(b, b.read(op.operands[1], "b32"))
    addresses_at(b, op.operands[0], space, 4)
    one = b.apply("and", b.active_mask, b.apply("sub", Value("i32", "0"), b.active_mask))
    b.touch(Access(WRITE, space, b.scratch(), 32, lanes=one))
    facts = (b.active_mask, b.scratch(), count, is_pair(op), space, op.site)
    b.check(b.runtime(allocation.check_allocation, W, *facts))
    b.resume(b.runtime(allocation.allocate_columns, W, *facts, b.block.number, b.following))


@family("tcgen05", when=lambda op: op.has("dealloc"), starts=True)
def dealloc(b: Builder, op: Op) -> None:
    """Free columns."""
    aligned(b)
    taddr, count = (first_of(b, b.read(operand, "b32")) for operand in op.operands)
    b.check(b.runtime(allocation.deallocate, W, b.active_mask, taddr, count, is_pair(op), op.site))


@family("tcgen05", when=lambda op: op.has("relinquish_alloc_permit"), starts=True)
def relinquish(b: Builder, op: Op) -> None:
    """Give up the right to allocate."""
    del op
    aligned(b)
    b.runtime(allocation.relinquish, W, b.active_mask)


# -- registers


def _is_move(op: Op, word: str) -> bool:
    return op.has(word) and not op.has("spcompress", "wait::ld", "mma", "cp")


@family("tcgen05", when=lambda op: _is_move(op, "ld"), starts=True)
def ld(b: Builder, op: Op) -> None:
    """From tensor memory to registers; `.red` also returns the smallest or the largest that a lane finds."""
    aligned(b)
    reduces = op.has("red")
    target, *rest = op.operands
    reduced, *rest = rest if reduces else (None, *rest)
    count = len(tree.elements_of(target))
    room = b.images.room("tensor", count * REGISTER_BYTES)
    _move(b, moves.load_words, tuple(rest), room, count)
    values = tuple(b.load(_WORDS, b.offset(room, n * REGISTER_BYTES), 64) for n in range(count))
    if reduced is not None:
        b.write(reduced, _extreme(b, op, values))
    b.write_all(target, values)
    b.instruments.take(b, tree.elements_of(target))


def _extreme(b: Builder, op: Op, values: tuple[Value, ...]) -> Value:
    """The smallest or the largest of some values, as in `min` and `max`."""
    word = op.one_of(("min", "max"))
    if op.type.name != "f32":
        name = f"llvm.{'s' if op.type.signed else 'u'}{word}"
        found = values[0]
        for value in values[1:]:
            found = b.intrinsic(name, found, value)
        return found
    bits = [numbers.magnitude(b, value, "f32") for value in values] if op.has("abs") else list(values)
    found = bits[0]
    for value in bits[1:]:
        found = numbers.extreme(b, found, value, "f32", largest=word == "max", nan=op.has("NaN"), xorsign=False)
    return found


@family("tcgen05", when=lambda op: _is_move(op, "st"), starts=True)
def st(b: Builder, op: Op) -> None:
    """From registers to tensor memory."""
    aligned(b)
    where, *rest = op.operands
    source = rest[-1]
    values = b.read_all(source, "b32")
    room = b.images.room("tensor", len(values) * REGISTER_BYTES)
    for number, value in enumerate(values):
        b.store(value, b.offset(room, number * REGISTER_BYTES), 64)
    b.instruments.give(b, tree.elements_of(source))
    _move(b, moves.store_words, (where, *rest[:-1]), room, len(values))


def _move(
    b: Builder, function: Callable[..., object], where: tuple[tree.Operand, ...], room: Value, count: int
) -> None:
    """Move registers that lie in a room, from or to an address, at a distance of its halves if there is one."""
    op = b.op
    held = fragment(op.spelling)
    split = b.literal(where[1]) if len(where) > 1 else 0
    if split is None:
        raise op.unsupported("the distance of its halves is not a constant")
    packed = op.has(*_NARROW)
    steps, starts = _places(held, split, 2 if packed else 1)
    taddr = first_of(b, tensor_addresses(b, next(iter(where))))
    for at, words in ((scratch.ADDRESSES, steps), (_STARTS, starts)):
        for first in range(0, len(words), LANES):
            some = [*words[first : first + LANES], *[0] * LANES][:LANES]
            b.store(constant_vector("i32", some), b.scratch(at + 4 * first), 64)
    rows = 1 + max(step % TENSOR_LANES for step in steps) + max(start % TENSOR_LANES for start in starts)
    columns = 1 + (max(steps) + max(starts)) // TENSOR_LANES + packed
    facts = (count, rows, columns, split, int(packed), op.site)
    places = (b.scratch(), b.scratch(_STARTS))
    b.check(b.runtime(function, W, b.active_mask, taddr, room, *places, *facts))


def _places(held: Fragment, split: int, width: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many words behind the address each lane's and each register's is: a place is the sum of both."""

    def place(lane: int, register: int) -> int:
        found = held.where(lane=lane, register=register)
        return (found.column // width * width + split * found.matrix) * TENSOR_LANES + found.row

    return tuple(place(lane, 0) for lane in range(LANES)), tuple(place(0, n) for n in range(held.registers))


# -- copies


@family("tcgen05", when=lambda op: op.has("cp"))
def cp(b: Builder, op: Op) -> None:
    """Rows from shared memory to tensor memory, some of them to several quarters of the lanes."""
    shape = next(q for q in op.qualifiers if q[0].isdecimal())
    rows, bits = (int(number) for number in shape.removesuffix("b").split("x"))
    way = next((n for word, n in _WAYS.items() if op.has(word)), copies.QUARTERED if rows == 4 else copies.ONCE)
    packed = next((n for word, n in _PACKED.items() if op.has(word)), 0)
    targets, sources = b.scratch(scratch.VALUES), b.scratch()
    b.store(tensor_addresses(b, op.operands[0]), targets, 64)
    b.store(b.read(op.operands[1], "b64"), sources, 64)
    chunk = b.images.room("chunk", 16)
    facts = (rows, bits // 128, way, packed, is_pair(op), op.site)
    b.check(b.runtime(copies.copy_rows, W, b.active_mask, targets, sources, chunk, *facts))


_WAYS: Final = {"warpx2::02_13": copies.APART, "warpx2::01_23": copies.BESIDE, "warpx4": copies.ALL}
_PACKED: Final = {"b4x16_p64": 4, "b6x16_p32": 6}


@family("tcgen05", when=lambda op: op.has("shift"))
def shift(b: Builder, op: Op) -> None:
    """Rows of tensor memory down by one."""
    b.store(tensor_addresses(b, op.operands[0]), b.scratch(scratch.VALUES), 64)
    b.check(b.runtime(copies.shift_rows, W, b.active_mask, b.scratch(scratch.VALUES), is_pair(op), op.site))


# -- order


@family("tcgen05", when=lambda op: op.has("wait::ld", "wait::st"), starts=True)
def wait(b: Builder, op: Op) -> None:
    """Nothing to wait for: loads and stores are complete when they are issued."""
    del op
    aligned(b)


@family("tcgen05", when=lambda op: op.has("fence::before_thread_sync", "fence::after_thread_sync"))
def fence(b: Builder, op: Op) -> None:
    """Nothing to do: the machine executes in order."""
    del b, op


@family("tcgen05", when=lambda op: op.has("commit"))
def commit(b: Builder, op: Op) -> None:
    """Report to an mbarrier that everything this thread has issued is complete."""
    address, *mask = op.operands
    if mask:
        ctas = b.read(mask[0], "b32" if op.has("multicast::cluster::32b") else "b16")
        one = b.constant(_WORDS, 1)
        barriers.act_in_ctas(b, address, mbarriers.ARRIVE, one, b.resize(ctas, 32))
        return
    barriers.act(b, address, mbarriers.ARRIVE, 1, space_of(op))
