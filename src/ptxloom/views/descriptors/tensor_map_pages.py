"""A tensor map: its parameters, and what a copy fetches, fills in and counts."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.descriptors import Box, remarks
from ptxloom.records import ABSENT, Absent, Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.descriptors import remark_lines, shared_memory
from ptxloom.views.descriptors.remark_lines import RemarkRecord
from ptxloom.views.descriptors.shared_memory import LINE_BYTES, MOST_LINES, Picture, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.descriptors import TensorMap
    from ptxloom.descriptors.box import Chunk
    from ptxloom.views.drawing.figure import Figure

FILLED: Final = "fill"
NAMES: Final = len("pixelBoxLowerCorner")
MOST_ROWS: Final = MOST_LINES * 8
"""Rows of 16 bytes that fill a picture."""
MOST_CHUNKS: Final = 1 << 14
"""Pieces of 16 bytes that JSON lists: more than shared memory holds."""


def full(box: Box, style: Style = PLAIN) -> str:
    """The parameters, the remarks, and both views of the box."""
    found = remark_lines.lines(remarks.of_box(box), style)
    drawn = picture(box)
    return "\n".join(
        [
            style.paint(str(box.map), Ink.BOLD),
            *(f"{name:{NAMES}}  {value}" for name, value in _parameters(box.map)),
            "",
            *_summary(box),
            *([""] * bool(found)),
            *found,
            "",
            "Where each 16 bytes of the box go:",
            *shared_memory.tile_table(drawn, style),
            "",
            f"Shared memory, 128 bytes a line: {drawn.labels}:",
            *shared_memory.memory_table(drawn, style),
            "",
        ]
    )


def _parameters(made: TensorMap) -> list[tuple[str, str]]:
    """The parameters of the encoder, in its order and by its names."""
    shown = [
        ("tensorDataType", made.data_type),
        ("tensorRank", str(made.rank)),
        ("globalAddress", f"0x{made.global_address:x}"),
        ("globalDim", _listed(made.global_dim)),
        ("globalStrides", _listed(made.global_strides)),
    ]
    if made.im2col is None:
        shown.append(("boxDim", _listed(made.box_dim)))
    else:
        shown += [
            ("pixelBoxLowerCorner", _listed(made.im2col.pixel_box_lower_corner)),
            ("pixelBoxUpperCorner", _listed(made.im2col.pixel_box_upper_corner)),
            ("channelsPerPixel", str(made.im2col.channels_per_pixel)),
            ("pixelsPerColumn", str(made.im2col.pixels_per_column)),
        ]
    return [
        *shown,
        ("elementStrides", _listed(made.element_strides)),
        ("interleave", made.interleave),
        ("swizzle", made.swizzle),
        ("l2Promotion", made.l2_promotion),
        ("oobFill", "NaN" if made.oob_fill == "nan" else "zeros"),
    ]


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _summary(box: Box) -> list[str]:
    """Sentences about the data that a copy moves."""
    made = box.map
    shape = " x ".join(map(str, box.counts))
    what = "channels x pixels" if made.im2col is not None else "elements, dimension 0 first"
    at = f"At coordinate ({_listed(box.coordinate)})" + f", offsets ({_listed(box.offsets)})" * bool(box.offsets)
    filled = f"{box.filled:,} elements are outside and are filled with {'NaN' if made.oob_fill == 'nan' else 'zeros'}"
    return [
        f"A copy takes {shape} ({what}): {made.transaction_bytes:,} bytes, which its mbarrier counts.",
        f"In shared memory rows of {box.row_bytes:,} bytes are {box.pitch_bytes:,} apart: {box.shared_bytes:,} bytes.",
        f"{at}, to shared 0x{box.shared_address:05x}: {filled if box.filled else 'all of it is in the tensor'}.",
    ]


def picture(box: Box) -> Picture:
    """The box in pieces of 16 bytes, a colour a row."""
    pieces: list[Piece] = []
    rows: list[str] = []
    for number in range(min(box.rows, MOST_ROWS)):
        chunks = box.row(number)
        rows.append(_listed(chunks[0].coordinate[1:]).replace(", ", ",") if box.map.rank > 1 else "0")
        for column, chunk in enumerate(chunks):
            label = ",".join(map(str, chunk.coordinate))
            place = f"({label}) goes to 0x{chunk.shared_address:05x}"
            tip = f"{place}; {chunk.elements - chunk.inside} of {chunk.elements} elements are filled in"
            shown = FILLED if not chunk.inside else label + "~" * (chunk.inside < chunk.elements)
            group = number if chunk.inside else None
            pieces.append(Piece(number, column, chunk.shared_address, shown, group, tip))
    per = max(1, 128 // box.map.box_bits)
    columns = tuple(f"+{at}" for at in range(0, box.counts[0] * max(1, box.map.box_bits // 128), per))
    return Picture(
        f"box of a {box.map}",
        _dimensions(box.map.rank),
        "the coordinate that begins there (~: filled from inside it on, fill: all)",
        tuple(rows),
        columns,
        tuple(pieces),
        box.rows,
        -(-(box.shared_address % LINE_BYTES + box.shared_bytes) // LINE_BYTES),
    )


def _dimensions(rank: int) -> str:
    """The names of a row's coordinates."""
    return "dim " + ",".join(map(str, range(1, rank))) if rank > 1 else "row"


def figure(box: Box) -> Figure:
    """Both views as a picture."""
    return shared_memory.figure(picture(box))


def of_map(map_: TensorMap) -> Figure:
    """A picture of the copy of a map's first box."""
    return figure(Box(map_, map_.first_coordinate))


def concise(box: Box) -> str:
    """The 128 bytes in hexadecimal."""
    return f"{box.map.to_bytes().hex()}\n"


class ParametersRecord(Record):
    """What a tensor map is encoded from; either `box_dim` or what im2col has in its place."""

    data_type: str
    global_address: Natural
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    element_strides: tuple[int, ...]
    interleave: str
    swizzle: str
    l2_promotion: str
    oob_fill: str
    box_dim: tuple[int, ...] | Absent = ABSENT
    pixel_box_lower_corner: tuple[int, ...] | Absent = ABSENT
    pixel_box_upper_corner: tuple[int, ...] | Absent = ABSENT
    channels_per_pixel: int | Absent = ABSENT
    pixels_per_column: int | Absent = ABSENT


class ChunkRecord(Record):
    """16 bytes of a row, which a swizzle keeps together."""

    coordinate: tuple[int, ...]
    shared_address: Natural
    elements: Natural
    inside: Natural


class CopyRecord(Record):
    """What a copy of the box does."""

    coordinate: tuple[int, ...]
    offsets: tuple[int, ...]
    shared_address: Natural
    counts: tuple[int, ...]
    row_bytes: Natural
    pitch_bytes: Natural
    shared_bytes: Natural
    transaction_bytes: Natural
    filled_elements: Natural
    chunks: tuple[ChunkRecord, ...]


class TensorMapRecord(Record):
    """A tensor map, and what a copy does."""

    bytes: str
    parameters: ParametersRecord
    copy: CopyRecord
    remarks: tuple[RemarkRecord, ...]


def as_json(box: Box) -> str:
    """Parameters, bytes, what a copy does, remarks."""
    made = box.map
    window = asdict(made.im2col) | {"box_dim": ABSENT} if made.im2col is not None else {}
    return to_text(
        TensorMapRecord(
            bytes=made.to_bytes().hex(),
            parameters=taken(ParametersRecord, made, **window),
            copy=taken(
                CopyRecord,
                box,
                transaction_bytes=made.transaction_bytes,
                filled_elements=box.filled,
                chunks=tuple(taken(ChunkRecord, one) for one in _chunks(box)),
            ),
            remarks=remark_lines.records(remarks.of_box(box)),
        )
    )


def _chunks(box: Box) -> Iterator[Chunk]:
    """Every 16 bytes of the box, or as many as shared memory could hold."""
    return islice((chunk for number in range(box.rows) for chunk in box.row(number)), MOST_CHUNKS)
