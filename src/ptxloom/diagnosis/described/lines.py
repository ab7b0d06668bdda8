"""The instruction that sets a wrong field of a descriptor, and the right value of its constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.descriptors.instruction import TRANSPOSE_A, TRANSPOSE_B
from ptxloom.descriptors.matrix import BASE, GENERATIONS, LEADING, START, STRIDE
from ptxloom.descriptors.swizzling import CHUNK_BYTES
from ptxloom.diagnosis.slicing.makers import parts_of
from ptxloom.readings.effects import uses_tensor_memory
from ptxloom.syntax import print_statements, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.descriptors.matrix import Word
    from ptxloom.diagnosis.described.solving import Field, Solved
    from ptxloom.diagnosis.slicing.makers import Part
    from ptxloom.machine.program.model import Op, Program

_MAJORS: Final = 4  # operands of `wgmma` before those for the layouts of A and B
_TOLD: Final = 3  # the operand of a product into tensor memory that is its instruction descriptor


class Used(NamedTuple):
    """A descriptor as a product uses it, and as it should be.

    Attributes:
        op: The product.
        role: "a" or "b".
        solved: What it should be.
    """

    op: Op
    role: str
    solved: Solved

    @property
    def operand(self) -> int:
        """Which operand of the product it is."""
        return "dab".index(self.role)


class Found(NamedTuple):
    """What is to be changed.

    Attributes:
        op: The instruction.
        edits: The changes of constants in the PTX, if there are any.
        whole: Whether the edits mend everything.
        makers: All instructions that compute the descriptor.
    """

    op: Op
    edits: tuple[tuple[tree.Instruction, str], ...]
    whole: bool
    makers: tuple[Op, ...]


def found_for(uses: Sequence[Used], program: Program) -> Found:
    """The instruction that sets the wrong bits in the descriptors of some products, for one operand."""
    made = {use: parts_of(use.op, use.op.operands[use.operand], program) for use in uses}
    edited: dict[tuple[int, int], _Edited] = {}
    first: Op | None = None
    whole = True
    for use in uses:
        for field in use.solved.wrong:
            change = _change(field, use, made, program)
            first = first or (change.op if change is not None else None)
            if change is None or change.value is None:
                whole = False
                continue
            known = edited.setdefault((change.op.site, change.operand), _Edited(change.op, change.operand, {}))
            known.values[field.name] = change.value
    makers = tuple(dict.fromkeys(part.op for parts in made.values() for part in parts))
    for one in list(edited.values()):
        if "major" in one.values and any(one.op is use.op for use in uses):
            for op in _alike(one.op, uses[0].operand, makers, program):
                edited.setdefault((op.site, one.operand), _Edited(op, one.operand, one.values))
    edits = tuple((one.op.node, _with_constant(one.op, one.operand, one.value)) for one in edited.values())
    return Found(first or uses[0].op, edits, whole and bool(edits), makers)


def _alike(product: Op, operand: int, makers: Sequence[Op], program: Program) -> Iterator[Op]:
    """Products of the same kind whose descriptors for a factor come from the same code, and so share its layout."""
    for op in program.ops:
        kinds = [(one.opcode, one.qualifiers, one.function) for one in (op, product)]
        if kinds[0] == kinds[1]:
            parts = parts_of(op, op.operands[operand], program)
            if any(part.op in makers and part.operand >= 0 for part in parts):
                yield op


class _Change(NamedTuple):
    """A constant, and the value that one field needs; None if no value of it makes the field right."""

    op: Op
    operand: int
    value: int | None


class _Edited(NamedTuple):
    """A constant, and the value that each field needs."""

    op: Op
    operand: int
    values: dict[str, int]

    @property
    def value(self) -> int:
        """The value that all fields need: their bits are separate."""
        held = abs(constant(self.op.operands[self.operand]) or 0)
        changed = 0
        for value in self.values.values():
            changed ^= held ^ value
        return held ^ changed


def _change(field: Field, use: Used, made: dict[Used, tuple[Part, ...]], program: Program) -> _Change | None:
    """The constant that sets a field, and its right value."""
    if field.name == "major":
        return _of_major(field, use, program)
    part = _chosen(field, use, made)
    return None if part is None else _Change(part.op, part.operand, _constant(field, part, use.solved))


def _word(field: Field, solved: Solved) -> Word:
    """The bits of a field."""
    words = {"start": START, "leading": LEADING, "stride": STRIDE, "base": BASE}
    return words.get(field.name) or GENERATIONS[solved.descriptor.generation].swizzling


def _codes(field: Field, solved: Solved) -> tuple[int, int]:
    """The bits that a field holds, and those that it should hold."""
    if field.name == "swizzle":
        codes = GENERATIONS[solved.descriptor.generation].codes
        return codes[str(field.held)], codes[str(field.wanted)]
    unit = 1 if field.name == "base" else CHUNK_BYTES
    return int(field.held) // unit, int(field.wanted) // unit


def _chosen(field: Field, use: Used, made: dict[Used, tuple[Part, ...]]) -> Part | None:
    """The part that sets a field of a descriptor; for a start address, the one that only the wrong products share."""
    word = _word(field, use.solved)
    parts = [part for part in made[use] if part.operand >= 0]
    if field.name == "start":
        return _of_start(use, made)
    held, _ = _codes(field, use.solved)
    inside = [part for part in parts if word.of(part.bits) and word.of(part.bits) == held]
    return inside[0] if inside else next((part for part in parts if part.bits >> 16), None)


def _of_start(use: Used, made: dict[Used, tuple[Part, ...]]) -> Part | None:
    """The constant of an address: the one that all wrong products share if all are equally far off, else its own."""
    distances = {_distance(one) for one in made}
    others = [{part.op.site for part in parts} for one, parts in made.items() if one is not use]
    added = [part for part in made[use] if part.operand >= 0 and not part.bits & ~START.mask]
    if len(distances) == 1 and others:
        common = [part for part in added if all(part.op.site in sites for sites in others)]
        return common[0] if common else None
    own = [part for part in added if not any(part.op.site in sites for sites in others)]
    return own[0] if own else (added[0] if added else None)


def _distance(use: Used) -> int:
    """The error of a product's start address, in bytes."""
    return sum(int(one.wanted) - int(one.held) for one in use.solved.wrong if one.name == "start")


def _constant(field: Field, part: Part, solved: Solved) -> int | None:
    """The right value of a constant; None if no value of it makes the field right."""
    word = _word(field, solved)
    held, wanted = _codes(field, solved)
    if field.name == "start":
        apart, rest = divmod((wanted - held) << max(-part.shift, 0), 1 << max(part.shift, 0))
        value = part.value + apart
        return None if rest or value < 0 else value
    bits = part.bits ^ (word.of(part.bits) ^ wanted) << word.first
    value, rest = divmod(bits << max(-part.shift, 0), 1 << max(part.shift, 0))
    return None if rest else value


def _of_major(field: Field, use: Used, program: Program) -> _Change | None:
    """The constant for the contiguous coordinate of a factor: an operand, or a bit of an instruction descriptor."""
    if not uses_tensor_memory(use.op.node):
        return _Change(use.op, _major_place(use), int(field.wanted == "mn"))
    word = TRANSPOSE_A if use.role == "a" else TRANSPOSE_B
    parts = parts_of(use.op, use.op.operands[_TOLD], program)
    part = next((one for one in parts if one.operand >= 0 and one.shift == 0), None)
    return None if part is None else _Change(part.op, part.operand, part.value ^ word.mask)


def _major_place(use: Used) -> int:
    """The operand of a product that selects the contiguous coordinate of a factor."""
    numbers = [n for n, one in enumerate(use.op.operands) if n >= _MAJORS and constant(one) is not None]
    return numbers[-1] if use.role == "b" else numbers[-2]


def _with_constant(op: Op, place: int, value: int) -> str:
    """An instruction with another constant."""
    operands = list(op.operands)
    old = operands[place]
    radix = old.radix if isinstance(old, tree.Integer) else 10
    operands[place] = tree.Integer(abs(value), radix)
    return " ".join(print_statements((op.node.replace(operands=tuple(operands)),)).split())


def described_fields(wrong: Sequence[Field]) -> str:
    """The wrong fields in words."""
    return ", and ".join(_said(wrong))


def _said(wrong: Sequence[Field]) -> Iterator[str]:
    for field in wrong:
        match field.name:
            case "start":
                apart = int(field.wanted) - int(field.held)
                yield f"the start address is {abs(apart)} bytes too {'low' if apart > 0 else 'high'}"
            case "leading" | "stride":
                name = "leading dimension byte offset" if field.name == "leading" else "stride dimension byte offset"
                yield f"the {name} is {field.held}, and should be {field.wanted}"
            case "base":
                yield f"the base offset is {field.held}, and should be {field.wanted}"
            case "swizzle":
                yield f"the swizzling mode is {field.held}, and should be {field.wanted}"
            case _:
                place = "along K" if field.wanted == "k" else "along M or N"
                yield f"the factor is contiguous {place}, and the instruction says otherwise"
