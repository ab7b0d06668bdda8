"""Makes the swizzles of writer and reader equal: adds the XOR that one side lacks, or copies the other's constants."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.lines.swizzles import XORS, narrower, sides_of
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.slicing.coefficients import pitches_of
from ptxloom.diagnosis.slicing.makers import maker_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.program.symbols import Variable
from ptxloom.readings.terms import words
from ptxloom.solver import nearest
from ptxloom.syntax import print_operand, print_statements, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.diagnosis.origins.permutations import Swizzle
    from ptxloom.machine.program.model import Op, Program

EITHER: Final = "; writer and reader swizzle differently: either may be meant"
_MOST: Final = 200  # instructions that are looked at
_LEAST_PITCH: Final = 32  # bytes of a row
_SHIFTS: Final = frozenset({"lshr", "ashr"})  # words of rows


def of_swizzle(
    swizzle: Swizzle | None, ways: Sequence[Sequence[Op]], concerned: Sequence[Op], program: Program
) -> Repair | None:
    """The change that gives both sides the same swizzle; None if unknown.

    Args:
        swizzle: The difference between the two sides, if it is one function.
        ways: The paths of the elements, that of the most first.
        concerned: All instructions concerned: those like the changed one are changed likewise.
        program: Theirs.
    """
    sides = sides_of(ways[0]) if ways else None
    if sides is None:
        return None
    writer, reader = sides
    turned = _swizzling(sides, program)
    if all(turned):
        own, other = (writer, reader) if narrower(sides, program) is writer else (reader, writer)
        edits = [edit for op in _alike(own, concerned) for edit in _as_other(op, other, program)]
    elif any(turned) and swizzle is not None:
        plain = writer if turned[1] else reader
        made = [_swizzled(op, swizzle, program) for op in _alike(plain, concerned)]
        edits = [one for one in made if one is not None] if None not in made else []
    else:
        return None
    own = {node.start: (node, text) for node, text in edits}
    return Repair(program.module, tuple(own.values())) if own else None


def both_swizzle(ways: Sequence[Sequence[Op]], program: Program) -> bool:
    """Whether writer and reader of shared memory swizzle: then a change of either gives both the same swizzle.

    Args:
        ways: The paths of the elements, that of the most first.
        program: Its instructions.
    """
    sides = sides_of(ways[0]) if ways else None
    return sides is not None and all(_swizzling(sides, program))


def _swizzling(sides: tuple[Op, Op], program: Program) -> list[bool]:
    """Whether writer and reader swizzle, each."""
    return [any(map(_turns, _behind(op, program))) for op in sides]


def _turns(op: Op) -> bool:
    """Whether an instruction XORs a computed value."""
    return bool(words(op.node) & XORS) and len({one.text for _, one in names_read(op)}) > 1


def _alike(op: Op, concerned: Sequence[Op]) -> tuple[Op, ...]:
    """An instruction, and those that do the same with other registers."""
    like = [one for one in concerned if (one.opcode, one.qualifiers) == (op.opcode, op.qualifiers)]
    return tuple(dict.fromkeys((op, *like)))


def _swizzled(op: Op, swizzle: Swizzle, program: Program) -> tuple[tree.Instruction, str] | None:
    """An access of shared memory with the XOR put on its address; None if its rows are not a power of two apart."""
    pitch = _pitch(op, program)
    place = next((n for n, one in enumerate(op.operands) if isinstance(one, tree.Address)), None)
    if pitch is None or place is None:
        return None
    address = op.operands[place]
    if not isinstance(address, tree.Address) or not isinstance(address.base, tree.Name):
        return None
    rows = pitch.bit_length() - 1 + swizzle.shift
    operands = list(op.operands)
    operands[place] = address.replace(base=tree.Name("%swizzled"), offset=0, minus=False)
    access = " ".join(print_statements((op.node.replace(operands=tuple(operands)),)).split())
    offset = -address.offset if address.minus else address.offset
    text = (
        ".reg .b32 %swizzled, %turn;",
        f"add.u32 %swizzled, {print_operand(address.base)}, {offset};",
        *_from_tile(op, program),
        f"shr.u32 %turn, %turn, {rows};",
        f"and.b32 %turn, %turn, {swizzle.mask};",
        f"shl.b32 %turn, %turn, {swizzle.chunk_bytes.bit_length() - 1};",
        "xor.b32 %swizzled, %swizzled, %turn;",
        access,
    )
    return op.node, f"{{ {' '.join(text)} }}"


def _from_tile(op: Op, program: Program) -> tuple[str, ...]:
    """The instructions that subtract the start of the variable from an address, if it is in one."""
    symbols = (one for maker in _behind(op, program) for one in maker.operands[1:] if isinstance(one, tree.Name))
    for symbol in symbols:
        if isinstance(op.scope.find(symbol.text), Variable):
            return f"mov.u32 %turn, {symbol.text};", "sub.u32 %turn, %swizzled, %turn;"
    return ("mov.b32 %turn, %swizzled;",)


def _pitch(op: Op, program: Program) -> int | None:
    """The pitch of the rows in an address, in bytes, if it is a power of two."""
    pitch = min((one for one in pitches_of(op, program) if one >= _LEAST_PITCH), default=0)
    return pitch if pitch and not pitch & pitch - 1 else None


def _behind(op: Op, program: Program) -> Iterator[Op]:
    """The instructions that compute an address, each the last writer of its register, the nearest first."""

    def makers(reader: Op, names: Iterable[str]) -> Iterator[Op]:
        found = (maker_of(reader, name, program) for name in names)
        return (maker for maker in found if maker is not None)

    operands = (one for one in op.operands if isinstance(one, tree.Address) and isinstance(one.base, tree.Name))
    starts = makers(op, (print_operand(one.base) for one in operands))
    return islice(nearest(starts, lambda one: makers(one, [name.text for _, name in names_read(one)])), _MOST)


class _Step(NamedTuple):
    """A shift or a mask behind an XOR, with its constant."""

    op: Op
    operand: int
    word: str
    value: int


def _as_other(op: Op, other: Op, program: Program) -> Iterator[tuple[tree.Instruction, str]]:
    """The edits that give an access's XOR the constants of the other side."""
    own, theirs = (_steps(one, program) for one in (op, other))
    if [one.word for one in own] != [one.word for one in theirs]:
        return
    for mine, meant in zip(own, theirs, strict=True):
        if mine.value != meant.value:
            operands = list(mine.op.operands)
            operands[mine.operand] = tree.Integer(meant.value)
            node = mine.op.node
            yield node, " ".join(print_statements((node.replace(operands=tuple(operands)),)).split())


def _steps(op: Op, program: Program) -> list[_Step]:
    """The shifts and masks of what is XORed into an address, the nearest first."""
    found: list[_Step] = []
    for maker in _behind(op, program):
        if words(maker.node) & XORS:
            for name in dict.fromkeys(one.text for _, one in names_read(maker)):
                several = list(_chain(maker, name, program))
                if {one.word for one in several} == {"and", "shift"}:
                    found += several
            break
    return found


def _chain(reader: Op, name: str, program: Program) -> Iterator[_Step]:
    """A chain of shifts and masks by constants."""
    maker = maker_of(reader, name, program)
    seen: set[str] = set()
    while maker is not None:
        found = words(maker.node)
        word = "shift" if found & _SHIFTS else "and" if "and" in found else ""
        number = next((n for n, one in enumerate(maker.operands) if n and constant(one) is not None), None)
        if not word or number is None or word in seen:
            return
        seen.add(word)
        yield _Step(maker, number, word, constant(maker.operands[number]) or 0)
        read = [one.text for _, one in names_read(maker)]
        maker = maker_of(maker, read[0], program) if len(read) == 1 else None
