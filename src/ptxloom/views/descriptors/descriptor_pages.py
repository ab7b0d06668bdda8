"""A matrix descriptor: its words, what cannot be meant, and which shared address each row of 16 bytes comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.descriptors import emission, remarks
from ptxloom.descriptors.matrix import BASE, GENERATIONS, LEADING, LEADING_MODE, START, STRIDE, VERSION
from ptxloom.descriptors.operand import assumed_operand
from ptxloom.records import Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table
from ptxloom.views.descriptors import remark_lines, shared_memory
from ptxloom.views.descriptors.remark_lines import RemarkRecord
from ptxloom.views.descriptors.shared_memory import Picture, Piece

if TYPE_CHECKING:
    from ptxloom.descriptors import MatrixDescriptor, SharedOperand, SharedTile
    from ptxloom.descriptors.matrix import Word
    from ptxloom.views.drawing.figure import Figure


def full(operand: SharedOperand, style: Style = PLAIN, *, assumed: bool = False) -> str:
    """The words, the remarks, and both views of the operand.

    Args:
        operand: The operand, from the descriptor and its instruction.
        style: How to paint.
        assumed: Whether the instruction's part was not given.
    """
    found = remark_lines.lines(remarks.of_operand(operand), style)
    words = operand.descriptor
    return "\n".join(
        [
            style.paint(_title(words), Ink.BOLD),
            *_words(operand, style),
            *([""] * bool(found)),
            *found,
            "",
            *_drawn_as(operand, assumed=assumed),
            "",
            *_views(operand, style),
            "",
            operand.evidence,
            "",
        ]
    )


def _title(words: MatrixDescriptor) -> str:
    section = GENERATIONS[words.generation].section
    return f"{words}: a matrix descriptor of {words.generation} (PTX ISA {section})"


def _words(operand: SharedOperand, style: Style) -> list[str]:
    """The words as a table."""
    words = operand.descriptor
    rows = tuple(
        row(
            f"{word.first}-{word.first + word.bits - 1}" if word.bits > 1 else word.first,
            word.name,
            f"0x{held:x}",
            what,
        )
        for word, held in words.words
        for what in [_meaning(operand, word)]
    )
    return text_table(Table(("bits", "word", "stored", "means"), rows), style)


def _meaning(operand: SharedOperand, word: Word) -> str:
    """The meaning of one word."""
    words, mode = operand.descriptor, operand.descriptor.mode
    along, across = ("K", "M or N") if operand.major == "k" else ("M or N", "K")
    which = along if operand.major == "mn" and mode.chunks == 1 else across
    pattern = (
        f"{words.base_offset} x 128 bytes behind one" if words.base_offset else "the pattern begins at its boundary"
    )
    return {
        START: f"0x{words.start_address:05x} in shared memory",
        LEADING: f"{words.leading_byte_offset:,} bytes{_leading(operand, along, across)}",
        STRIDE: f"{words.stride_byte_offset:,} bytes to the next core matrices along {which}",
        VERSION: "always 1",
        LEADING_MODE: "the leading offset is an " + ("address" if words.leading_is_address else "offset"),
        BASE: pattern if mode.swizzle.bits else "without a swizzle always 0",
        GENERATIONS[words.generation].swizzling: f"{mode}: {mode.swizzle} on byte addresses"
        if mode.swizzle.bits
        else "no swizzle",
    }[word]


def _leading(operand: SharedOperand, along: str, across: str) -> str:
    """The target of the leading offset."""
    mode, count = operand.descriptor.mode, operand.columns if operand.major == "k" else operand.rows
    if operand.major == "mn" and mode.chunks == 1:
        return f" to the next core matrices along {across}"
    if count <= mode.chunks * operand.chunk_elements:
        return f", not looked at: {along} is no wider than a row of {mode.span_bytes} bytes"
    return f" to the next {mode.span_bytes} bytes along {along}"


def _drawn_as(operand: SharedOperand, *, assumed: bool) -> list[str]:
    """Of which operand the picture is."""
    how = f"{operand.rows}x{operand.columns} {operand.element}, {operand.major.upper()}-major"
    mode = operand.descriptor.mode
    guess = " (assumed: not in the bits; set it by --tile, --type and --major)" if assumed else ""
    layout = f"{mode.swizzle} on bytes o {operand.layout}" if mode.swizzle.bits else str(operand.layout)
    return [f"Operand, MN x K: {how}{guess}", f"layout in elements: {layout}"]


def _views(operand: SharedOperand, style: Style) -> list[str]:
    drawn = picture(operand)
    return [
        "The address of each row of 16 bytes (MN is M of A or N of B); eight of a column are a core matrix:",
        *shared_memory.tile_table(drawn, style),
        "",
        "Shared memory, 128 bytes a line: the MN,K that begins at each 16 bytes:",
        *shared_memory.memory_table(drawn, style),
    ]


def picture(operand: SharedOperand) -> Picture:
    """The operand's rows of 16 bytes, those of a core matrix in one colour."""
    per = operand.chunk_elements
    k_major = operand.major == "k"
    pieces: list[Piece] = []
    for number, core in enumerate(operand.core_matrices):
        for step, address in enumerate(core.addresses):
            m, k = (core.row + step, core.k) if k_major else (core.row, core.k + step)
            if m < operand.rows and k < operand.columns:
                at_row, at_column = (m, k // per) if k_major else (k, m // per)
                tip = f"({m}, {k}) is at 0x{address:05x}, in core matrix {number}"
                pieces.append(Piece(at_row, at_column, address, f"{m},{k}", number, tip))
    down, across = (operand.rows, operand.columns) if k_major else (operand.columns, operand.rows)
    names = ("MN", "K") if k_major else ("K", "MN")
    return Picture(
        f"matrix descriptor {operand.descriptor}, {operand.rows}x{operand.columns} {operand.element}",
        names[0],
        "the MN,K that begins there",
        tuple(map(str, range(down))),
        tuple(f"{names[1]} {at}" for at in range(0, across, per)),
        tuple(pieces),
        down,
        len(shared_memory.lines_of(piece.address for piece in pieces)),
    )


def figure(operand: SharedOperand) -> Figure:
    """Both views as a picture."""
    return shared_memory.figure(picture(operand))


def of_tile(tile: SharedTile) -> Figure:
    """The places of the operand of a tile's first descriptor."""
    return figure(tile.operand)


def of_descriptor(words: MatrixDescriptor) -> Figure:
    """As common an operand as a descriptor allows."""
    return figure(assumed_operand(words))


def concise(operand: SharedOperand) -> str:
    """One line, and one for each remark."""
    words = operand.descriptor
    head = (
        f"{words}: {words.generation}, start 0x{words.start_address:05x}, leading {words.leading_byte_offset}, "
        f"stride {words.stride_byte_offset}, base offset {words.base_offset}, swizzle {words.swizzle}"
    )
    return "\n".join([head, *remark_lines.lines(remarks.of_operand(operand)), ""])


class TileRecord(Record):
    """The tile that a descriptor is of."""

    rows: Natural
    columns: Natural
    element: str
    major: str


class CoreRecord(Record):
    """A core matrix: its first element, and the addresses of its rows."""

    row: Natural
    k: Natural
    addresses: tuple[int, ...]


class OperandRecord(Record, define="operand"):
    """A matrix descriptor, and its meaning for a tile."""

    bits: str
    generation: str
    start_address: Natural
    leading_byte_offset: Natural
    stride_byte_offset: Natural
    base_offset: Natural
    swizzle: str
    operand: TileRecord
    layout: str
    remarks: tuple[RemarkRecord, ...]
    core_matrices: tuple[CoreRecord, ...]
    evidence: str


class StepRecord(Record):
    """The descriptor of one product along K."""

    k: Natural
    offset_bytes: Natural
    bits: str


class DescriptorsRecord(Record):
    """The descriptors of a tile, and the code that builds them."""

    rows: Natural
    columns: Natural
    element: str
    major: str
    swizzle: str
    bytes: Natural
    alignment: Natural
    layout: str
    steps: tuple[StepRecord, ...]
    first: OperandRecord
    ptx: str
    cuda: str


def as_json(operand: SharedOperand) -> str:
    """The words, the remarks and every core matrix."""
    return to_text(_record(operand))


def _record(operand: SharedOperand) -> OperandRecord:
    return taken(
        OperandRecord,
        operand.descriptor,
        bits=str(operand.descriptor),
        operand=taken(TileRecord, operand),
        layout=str(operand.layout),
        remarks=remark_lines.records(remarks.of_operand(operand)),
        core_matrices=tuple(taken(CoreRecord, core) for core in operand.core_matrices),
        evidence=operand.evidence,
    )


def full_tile(tile: SharedTile, style: Style = PLAIN) -> str:
    """A tile's descriptors: one for each product along K, their meaning, and the code that builds them."""
    head = f"{emission.described(tile)}, for {tile.generation}: {tile.tile_bytes:,} bytes of shared memory"
    rows = tuple(
        row(f"{step.column} to {step.column + tile.step_columns - 1}", f"+{step.offset_bytes:,}", step.descriptor)
        for step in tile.steps
    )
    align = f"The tile begins at a multiple of {tile.mode.alignment_bytes:,}; here at 0x{tile.start_address:05x}."
    below = [] if tile.next_rows_bytes is None else [f"Rows 64 and on: {tile.next_rows_bytes:,} bytes further."]
    layout = f"{tile.mode.swizzle} on bytes o {tile.layout}" if tile.mode.swizzle.bits else str(tile.layout)
    found = remark_lines.lines(remarks.of_operand(tile.operand), style)
    return "\n".join(
        [
            style.paint(f"{head[0].upper()}{head[1:]}", Ink.BOLD),
            align,
            f"layout in elements: {layout}",
            "",
            *text_table(Table(("K of a product", "bytes", "descriptor"), rows), style),
            *below,
            *([""] * bool(found)),
            *found,
            "",
            *_words(tile.operand, style),
            "",
            *emission.code(tile, "ptx").splitlines(),
            "",
            *emission.code(tile, "cuda").splitlines(),
            "",
        ]
    )


def concise_tile(tile: SharedTile) -> str:
    """The descriptors, one a line."""
    return "".join(f"{step.descriptor}\n" for step in tile.steps)


def json_tile(tile: SharedTile) -> str:
    """The tile, every product's descriptor, the first one's operand and the code."""
    return to_text(
        taken(
            DescriptorsRecord,
            tile,
            bytes=tile.tile_bytes,
            alignment=tile.mode.alignment_bytes,
            layout=str(tile.layout),
            steps=tuple(taken(StepRecord, step, k=step.column, bits=str(step.descriptor)) for step in tile.steps),
            first=_record(tile.operand),
            ptx=emission.code(tile, "ptx"),
            cuda=emission.code(tile, "cuda"),
        )
    )
