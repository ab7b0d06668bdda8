"""An instruction descriptor: its words, what they mean, the 32 bits as a picture, and the code that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.instruction import (
    A_SCALE,
    A_TYPE,
    B_SCALE,
    B_TYPE,
    D_TYPE,
    K_96,
    NEGATE_A,
    NEGATE_B,
    SATURATE,
    SCALE_TYPE,
    SELECTOR,
    SHIFT,
    SPARSE,
    TRANSPOSE_A,
    TRANSPOSE_B,
    M,
    N,
)
from ptxloom.records import Natural, Positive, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table
from ptxloom.views.descriptors import remark_lines
from ptxloom.views.descriptors.remark_lines import RemarkRecord
from ptxloom.views.drawing.figure import Cell, Figure, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.descriptors import InstructionDescriptor, Remark
    from ptxloom.descriptors.matrix import Word

_BITS: Final = 32


def title(told: InstructionDescriptor) -> str:
    """What it is, and of what."""
    return f"{told}: the instruction descriptor of tcgen05.mma.kind::{told.kind} (PTX ISA 9.7.16.4.2)"


def full(told: InstructionDescriptor, found: Sequence[Remark] = (), style: Style = PLAIN) -> str:
    """The words as a table, remarks on them, and the code."""
    rows = tuple(row(bits_of(word), word.name, f"0x{held:x}", meaning(told, word)) for word, held in told.words)
    notes = remark_lines.lines(found, style)
    lines = [
        style.paint(title(told), Ink.BOLD),
        *text_table(Table(("bits", "word", "stored", "means"), rows), style),
        *([""] * bool(notes)),
        *notes,
        "",
        *code(told),
    ]
    return "\n".join([*lines, ""])


def concise(told: InstructionDescriptor, found: Sequence[Remark] = ()) -> str:
    """One line, and one for each remark."""
    said = f"m{told.m}n{told.n} {told.d_type}.{told.a_type}.{told.b_type}"
    head = f"{told}: kind::{told.kind}, {said}{f', scales {told.scale_type}' * told.is_scaled}"
    return "\n".join([head, *remark_lines.lines(found), ""])


class WordRecord(Record):
    """One word of a descriptor."""

    name: str
    first_bit: Natural
    bits: Positive
    stored: Natural
    means: str


class InstructionRecord(Record):
    """An instruction descriptor, and what its words mean."""

    bits: str
    kind: str
    m: Natural
    n: Natural
    a_type: str
    b_type: str
    d_type: str
    words: tuple[WordRecord, ...]
    remarks: tuple[RemarkRecord, ...]


def as_json(told: InstructionDescriptor, found: Sequence[Remark] = ()) -> str:
    """Every word, and what it means."""
    return to_text(
        taken(
            InstructionRecord,
            told,
            bits=str(told),
            words=tuple(
                taken(WordRecord, word, first_bit=word.first, stored=held, means=meaning(told, word))
                for word, held in told.words
            ),
            remarks=remark_lines.records(found),
        )
    )


def bits_of(word: Word) -> str:
    """The bits of a word, as the manual counts them."""
    return str(word.first) if word.bits == 1 else f"{word.first}-{word.first + word.bits - 1}"


def meaning(told: InstructionDescriptor, word: Word) -> str:
    """The meaning of a word.

    Example:
        >>> from ptxloom.descriptors import InstructionDescriptor
        >>> from ptxloom.descriptors.instruction import M
        >>> meaning(InstructionDescriptor("f16", 128, 64, "f16", "f16"), M)
        'D has 128 rows'
    """
    return {
        SELECTOR: f"metadata {told.selector} columns behind their address" if told.sparse else "A is dense",
        SPARSE: "A is sparse, with metadata" if told.sparse else "A is dense",
        SATURATE: "D stops at the ends of .s32" if told.saturate else "D wraps around, if it is .s32",
        D_TYPE: f".{told.d_type}",
        B_SCALE: f"the first scale of B is byte {told.b_scale} of its column",
        A_TYPE: f".{told.a_type}",
        B_TYPE: f".{told.b_type}",
        NEGATE_A: _sign("A", negated=told.negate_a),
        NEGATE_B: _sign("B", negated=told.negate_b),
        TRANSPOSE_A: _major("A", "M", turned=told.transpose_a),
        TRANSPOSE_B: _major("B", "N", turned=told.transpose_b),
        N: f"D has {told.n} columns",
        SCALE_TYPE: f".{told.scale_type}",
        M: f"D has {told.m} rows",
        A_SCALE: f"the first scale of A is byte {told.a_scale} of its column",
        SHIFT: f"B moves by {told.shift} columns at most" if told.shift else "B's columns do not move (.ws)",
        K_96: "K is 96" if told.k_96 else "K is 64" if told.kind.startswith("mxf4") else "K is 32",
    }[word]


def _sign(name: str, *, negated: bool) -> str:
    return f"{name} is negated" if negated else f"{name} as it is"


def _major(name: str, along: str, *, turned: bool) -> str:
    return f"{name} is {along}-major" if turned else f"{name} is K-major"


def code(told: InstructionDescriptor) -> list[str]:
    """The descriptor as PTX and as CUDA C++."""
    return [f"mov.b32 %idesc, {told};", f"constexpr uint32_t idesc = {told}u;"]


def figure(told: InstructionDescriptor) -> Figure:
    """The 32 bits from the highest down, coloured by word, and the words under them."""
    words = told.words
    owner = {bit: at for at, (word, _) in enumerate(words) for bit in range(word.first, word.first + word.bits)}
    places = [*range(_BITS - 1, -1, -1)]
    cells = {(0, at): _bit(told, bit, owner.get(bit)) for at, bit in enumerate(places)}
    strip = Grid("the 32 bits, the highest first", ("",), tuple(map(str, places)), cells, "", "bit →")
    listed = {
        (at, column): Cell((text,), hue(at) if column == 0 else Role.BLANK)
        for at, (word, held) in enumerate(words)
        for column, text in enumerate((bits_of(word), word.name, f"0x{held:x}", meaning(told, word)))
    }
    names = tuple("" for _ in words)
    table = Grid("its words", names, ("bits", "word", "stored", "means"), listed, listing=True)
    return Figure(title(told), ((strip,), (table,)))


def _bit(told: InstructionDescriptor, bit: int, owner: int | None) -> Cell:
    """One bit, in the colour of its word."""
    value = str(told.bits >> bit & 1)
    if owner is None:
        return Cell((value,), Role.OTHER, f"bit {bit} belongs to no word: it has to be 0")
    word, _ = told.words[owner]
    return Cell((value,), hue(owner), f"bit {bit}: {word.name}; {meaning(told, word)}")
