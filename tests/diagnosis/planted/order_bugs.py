"""Mistakes in an index of one operand, or of what joins a sum: each shows one cause alone, without shared memory."""

from __future__ import annotations

from diagnosis.planted.kernels import DIRECT_F16, SCALED, SLICED
from diagnosis.planted.model import Edit, PlantedBug

_B_PLACE = "mad.lo.u32 %at, %row, 8, %group"
_B_MARKS = ("b-load-0", "b-load-1", "b-leading-dimension", "b-row-0-0")
_A_MARKS = tuple(f"a-load-{word}" for word in range(4))


def _columns(name: str, cause: str, index: str) -> PlantedBug:
    """B's column made otherwise of `lane / 4`."""
    edit = Edit("b-leading-dimension", _B_PLACE, f"{index}; mad.lo.u32 %at, %row, 8, %column")
    return PlantedBug(name, DIRECT_F16, cause, "b", (edit,), _B_MARKS)


def _rows(name: str, cause: str, index: str) -> PlantedBug:
    """A's row made otherwise of `lane / 4`."""
    edits = tuple(Edit(f"a-row-{word}", "add.u32 %row, %group", f"{index}; add.u32 %row, %row") for word in range(4))
    return PlantedBug(name, DIRECT_F16, cause, "a", edits, _A_MARKS)


_TRANSPOSED = tuple(
    Edit(
        f"b-row-{word}-{e}",
        f"mad.lo.u32 %row, %within, 2, {8 * word + e}",
        f"mad.lo.u32 %column, %within, 2, {e}; add.u32 %row, %group, {8 * word}",
    )
    for word in range(2)
    for e in range(2)
)

BUGS = (
    _columns("b-columns-cyclic", "columns-rotated", "add.u32 %column, %group, 1; and.b32 %column, %column, 7"),
    _columns("b-columns-in-pairs", "columns-permuted", "xor.b32 %column, %group, 1"),
    _columns("b-group-and-3", "columns-repeated", "and.b32 %column, %group, 3"),
    _rows("a-rows-in-pairs", "rows-permuted", "xor.b32 %row, %group, 1"),
    _rows("a-rows-by-lane", "unknown", "add.u32 %row, %group, %within; and.b32 %row, %row, 7"),
    PlantedBug(
        "b-row-and-column-of-lane",
        DIRECT_F16,
        "transposed",
        "b",
        (*_TRANSPOSED, Edit("b-leading-dimension", "%row, 8, %group", "%row, 8, %column")),
        _B_MARKS,
    ),
    PlantedBug(
        "a-pitch-of-a-step",
        DIRECT_F16,
        "leading-dimension",
        "a",
        (Edit("a-leading-dimension", "%row, %k,", "%row, 16,"),),
        ("a-leading-dimension", *_A_MARKS),
    ),
    PlantedBug(
        "a-second-half-of-the-first-step",
        DIRECT_F16,
        "k-tiles-mixed",
        "a",
        tuple(Edit(f"a-half-{word}", "%column, 8", "%column, 8; sub.u32 %column, %column, %start") for word in (2, 3)),
        _A_MARKS,
    ),
    PlantedBug(
        "s-blocks-too-early",
        SCALED,
        "block-mismatch",
        "b",
        (
            Edit(
                "s-block",
                "div.u32 %block, %row, 8",
                "add.u32 %block, %row, 4; div.u32 %block, %block, 8; and.b32 %block, %block, 3",
            ),
        ),
        ("s-block", "s-load"),
    ),
    PlantedBug(
        "bias-of-each-slice",
        SLICED,
        "added-twice",
        "c",
        (Edit("bias-add", "@%p_first ", ""),),
        ("bias-add", "bias-load"),
    ),
)
