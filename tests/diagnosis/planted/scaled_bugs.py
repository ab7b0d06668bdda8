"""Mistakes around the scales of block-scaled products: which, of what, brought where."""

from __future__ import annotations

from diagnosis.planted.kernels import SCALED_BY_ROWS, SCALED_E2M1, SCALED_E4M3
from diagnosis.planted.model import Edit, PlantedBug, RightKernel

BLOCK, EXCHANGED = "block-mismatch", "operands-exchanged"


def wrong(kernel: RightKernel, name: str, operand: str, edits: tuple[Edit, ...], *marks: str) -> PlantedBug:
    """Scales of other blocks."""
    return PlantedBug(name, kernel, BLOCK, operand, edits, marks)


def ids(*words: int) -> tuple[Edit, ...]:
    """Other scale factor ids of the second, the third, the fourth product."""
    return tuple(Edit("ids", f"{n * 0x20000010:#x};", f"{word:#x};") for n, word in enumerate(words, 1))


SWAPPED = Edit("product", "[r67], [r68]", "[r68], [r67]")
BUGS = (
    wrong(SCALED_E4M3, "ids-stay", "", ids(0, 0, 0), "ids", "product"),
    wrong(SCALED_E4M3, "id-of-a-stays", "a", ids(0x10, 0x20, 0x30), "ids", "product"),
    wrong(SCALED_E4M3, "ids-of-b-turned", "b", ids(0x20000030, 0x40000010, 0x60000020), "ids", "product"),
    PlantedBug("scales-exchanged", SCALED_E4M3, EXCHANGED, "a", (SWAPPED,), ("product",)),
    PlantedBug("sb-copied-from-a", SCALED_E4M3, EXCHANGED, "b", (Edit("sb-from", "d5", "d4"),), ("sb-from", "sb-copy")),
    wrong(
        SCALED_E4M3,
        "sa-of-the-stage",
        "a",
        (Edit("sa-index", "r7;", "r10;"),),
        "sa-index", "sa-bytes", "sa-from", "sa-copy",
    ),
    wrong(SCALED_E4M3, "sb-of-the-first-k", "b", (Edit("sb-index", "r7;", "0;"),), "sb-index", "sb-from", "sb-copy"),
    PlantedBug(
        "sa-of-the-column",
        SCALED_E4M3,
        BLOCK,
        "a",
        (Edit("sa-tile", "%ctaid.y", "%ctaid.x"),),
        ("sa-tile", "sa-index", "sa-from", "sa-copy"),
        other_causes=("tile-exchanged",),
    ),
    PlantedBug(
        "sa-two-tiles-apart",
        SCALED_E4M3,
        "leading-dimension",
        "a",
        (Edit("sa-index", ", 3, ", ", 2, "),),
        ("sa-index", "sa-bytes", "sa-from", "sa-copy"),
        other_causes=(BLOCK,),
    ),
    wrong(
        SCALED_E4M3,
        "sb-half-forgotten",
        "b",
        (Edit("sb-half", ", 5;", ", 8;"),),
        "sb-half", "sb-own", "sb-place", "sb-step", "product",
    ),
    wrong(
        SCALED_E4M3,
        "sa-one-column-on",
        "a",
        (Edit("sa-place", "64;", "65;"),),
        "sa-place", "sa-step", "sa-columns", "product",
    ),
    wrong(
        SCALED_E4M3,
        "sa-of-the-other-stage",
        "a",
        (Edit("sa-start", "add", "xor.b32 r21, r21, 32768; add"),),
        "sa-start", "sa-words", "sa-next", "sa-cp",
    ),
    PlantedBug(
        "sb-rows-64-bytes-apart",
        SCALED_E4M3,
        BLOCK,
        "b",
        (Edit("sb-words", "0x0000400800080000", "0x0000400400080000"),),
        ("sb-words", "sb-next", "sb-cp"),
        other_causes=("descriptor",),
    ),
    wrong(
        SCALED_BY_ROWS,
        "sa-of-the-first-k",
        "a",
        (Edit("sa-k", "r51, r52", "r51, 0"),),
        "sa-k", "s-stage", "sa-pitch", "sa-from", "sa-load",
    ),
    PlantedBug(
        "sa-rows-interleaved",
        SCALED_BY_ROWS,
        BLOCK,
        "a",
        (
            *(Edit("sa-rows", f", {32 * n};", f", {n};") for n in range(1, 4)),
            Edit("sa-row", "add.u32 r51, r51, r50", "mad.lo.u32 r51, r50, 4, r51"),
        ),
        ("sa-rows", "sa-row", "sa-pitch", "sa-from", "sa-load", "sa-store"),
        other_causes=("rows-permuted",),
    ),
    PlantedBug(
        "sb-rows-of-eight",
        SCALED_BY_ROWS,
        "leading-dimension",
        "b",
        (Edit("sb-pitch", "12;", "8;"),),
        ("sb-pitch", "sb-row", "sb-from", "sb-load"),
    ),
    wrong(
        SCALED_BY_ROWS,
        "sb-of-the-first-tile",
        "b",
        (Edit("sb-rows", "r6,", "0,"),),
        "sb-rows", "sb-row", "sb-pitch", "sb-from", "sb-load",
    ),
    wrong(
        SCALED_BY_ROWS,
        "sa-stored-one-column-on",
        "a",
        (Edit("sa-columns", "64;", "65;"),),
        "sa-columns", "sa-store", "sa-place", "sa-step", "product",
    ),
    wrong(
        SCALED_E2M1,
        "sa-columns-stay",
        "a",
        tuple(Edit("sa-step", f"r65, {4 * n};", "r65, 0;") for n in (1, 2, 3)),
        "sa-step", "sa-place", "product",
    ),
    wrong(
        SCALED_E2M1,
        "sb-word-twice",
        "b",
        (Edit("sb-next", ", 32;", ", 64;"),),
        "sb-next", "sb-cp", "sb-columns",
    ),
    PlantedBug(
        "scales-of-a-for-b", SCALED_E2M1, EXCHANGED, "b", (Edit("product", "[r68]", "[r67]"),), ("product",)
    ),
    wrong(
        SCALED_E2M1,
        "sa-of-the-first-k",
        "a",
        (Edit("sa-index", "r7;", "0;"),),
        "sa-index", "sa-bytes", "sa-from", "sa-copy",
    ),
)  # fmt: skip
