"""A tensor map: its parameters, and what a copy fetches, fills in and counts."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.descriptors import Box, remarks
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.descriptors import remark_lines, shared_memory
from ptxloom.views.descriptors.shared_memory import LINE_BYTES, MOST_LINES, Picture, Piece

if TYPE_CHECKING:
    from ptxloom.descriptors import TensorMap
    from ptxloom.views.core.json_text import Value
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
    """What a copy moves, in sentences."""
    made = box.map
    shape = " x ".join(map(str, box.counts))
    what = "channels x pixels" if made.im2col is not None else "elements, dimension 0 first"
    at = f"At coordinate ({_listed(box.coordinate)})" + f", offsets ({_listed(box.offsets)})" * bool(box.offsets)
    filled = f"{box.filled:,} elements lie outside and are filled with {'NaN' if made.oob_fill == 'nan' else 'zeros'}"
    return [
        f"A copy takes {shape} ({what}): {made.transaction_bytes:,} bytes, which its mbarrier counts.",
        f"In shared memory rows of {box.row_bytes:,} bytes are {box.pitch_bytes:,} apart: {box.shared_bytes:,} bytes.",
        f"{at}, to shared 0x{box.shared_address:05x}: {filled if box.filled else 'all of it lies in the tensor'}.",
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
    """What a copy of a map's first box does."""
    return figure(Box(map_, map_.first_coordinate))


def concise(box: Box) -> str:
    """The 128 bytes in hexadecimal."""
    return f"{box.map.to_bytes().hex()}\n"


def as_json(box: Box) -> str:
    """Parameters, bytes, what a copy does, remarks."""
    made = box.map
    parameters: dict[str, Value] = {
        "data_type": made.data_type,
        "global_address": made.global_address,
        "global_dim": [*made.global_dim],
        "global_strides": [*made.global_strides],
        "element_strides": [*made.element_strides],
        "interleave": made.interleave,
        "swizzle": made.swizzle,
        "l2_promotion": made.l2_promotion,
        "oob_fill": made.oob_fill,
    }
    if made.im2col is None:
        parameters["box_dim"] = [*made.box_dim]
    else:
        parameters["pixel_box_lower_corner"] = [*made.im2col.pixel_box_lower_corner]
        parameters["pixel_box_upper_corner"] = [*made.im2col.pixel_box_upper_corner]
        parameters["channels_per_pixel"] = made.im2col.channels_per_pixel
        parameters["pixels_per_column"] = made.im2col.pixels_per_column
    copy: dict[str, Value] = {
        "coordinate": [*box.coordinate],
        "offsets": [*box.offsets],
        "shared_address": box.shared_address,
        "counts": [*box.counts],
        "row_bytes": box.row_bytes,
        "pitch_bytes": box.pitch_bytes,
        "shared_bytes": box.shared_bytes,
        "transaction_bytes": made.transaction_bytes,
        "filled_elements": box.filled,
        "chunks": _chunks(box),
    }
    return to_text(
        {
            "bytes": made.to_bytes().hex(),
            "parameters": parameters,
            "copy": copy,
            "remarks": remark_lines.records(remarks.of_box(box)),
        }
    )


def _chunks(box: Box) -> list[Value]:
    """Every 16 bytes of the box, or as many as shared memory could hold."""
    chunks = (chunk for number in range(box.rows) for chunk in box.row(number))
    return [
        {
            "coordinate": [*chunk.coordinate],
            "shared_address": chunk.shared_address,
            "elements": chunk.elements,
            "inside": chunk.inside,
        }
        for chunk in islice(chunks, MOST_CHUNKS)
    ]
