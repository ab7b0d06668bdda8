"""Mistakes in what `ldmatrix` loads and `mma.sync` reads."""

from __future__ import annotations

from diagnosis.planted.kernels import (
    BYTES,
    EIGHTS,
    LARGE,
    MIDDLE,
    PADDED,
    SMALL,
    SMALL_TILING,
    WORDS,
)
from diagnosis.planted.model import Edit, PlantedBug
from diagnosis.planted.tiling import Factors

_TRANS = (Edit("a-load", ".x4.shared", ".x4.trans.shared"),)
_ROTATE = "add.u32 %row, %lane, 1; and.b32 %row, %row, 15"

BUGS = (
    PlantedBug("b-trans-forgotten", SMALL, "trans-missing", "b", (Edit("b-load", ".trans", ""),), ("b-load",)),
    PlantedBug("a-trans-too-much", SMALL, "trans-extra", "a", _TRANS, ("a-load",)),
    PlantedBug(
        "a-trans-too-much-a-is-1",
        SMALL,
        "trans-extra",
        "a",
        _TRANS,
        ("a-load",),
        make=Factors(SMALL_TILING, ones=True),
        shows=False,
    ),
    PlantedBug(
        "a-rows-cyclic",
        SMALL,
        "rows-rotated",
        "a",
        (Edit("a-lane", "and.b32 %row, %lane, 15", _ROTATE),),
        ("a-lane", "a-load"),
    ),
    PlantedBug(
        "a-rows-cyclic-a-is-1",
        SMALL,
        "rows-rotated",
        "a",
        (Edit("a-lane", "and.b32 %row, %lane, 15", _ROTATE),),
        ("a-lane", "a-load"),
        make=Factors(SMALL_TILING, ones=True),
        shows=False,
    ),
    PlantedBug(
        "a-rows-off-by-one",
        MIDDLE,
        "rows-shifted",
        "a",
        (Edit("a-row", "%row, %row, 0", "%row, %row, 1"), Edit("a-row", "%row, %row, 16", "%row, %row, 17")),
        ("a-row", "a-load"),
    ),
    PlantedBug(
        "a-global-rows-off-by-one",
        PADDED,
        "rows-shifted",
        "a",
        (
            Edit(
                "a-global-row",
                "%row, %block_m;",
                "%row, %block_m; sub.u32 %g_row, %g_row, 1; max.s32 %g_row, %g_row, 0;",
            ),
        ),
        ("a-global-row", "a-copy", "a-load"),
    ),
    PlantedBug(
        "a-matrices-1-and-2",
        SMALL,
        "matrices-exchanged",
        "a",
        (Edit("a-load", "%a_0_1, %a_0_2", "%a_0_2, %a_0_1"),),
        ("a-load", "mma"),
        ("registers-exchanged",),
    ),
    PlantedBug(
        "a-registers-1-and-2",
        MIDDLE,
        "registers-exchanged",
        "a",
        (
            Edit("mma", "%a_0_1, %a_0_2", "%a_0_2, %a_0_1"),
            Edit("mma", "%a_1_1, %a_1_2", "%a_1_2, %a_1_1"),
        ),
        ("mma", "a-load"),
        ("matrices-exchanged",),
    ),
    PlantedBug(
        "b-registers",
        SMALL,
        "registers-exchanged",
        "b",
        (Edit("mma", "{%b_0_0, %b_0_1}", "{%b_0_1, %b_0_0}"),),
        ("mma", "b-load"),
        ("matrices-exchanged",),
    ),
    PlantedBug(
        "b-matrices-by-columns-first",
        MIDDLE,
        "matrices-exchanged",
        "b",
        (
            Edit(
                "b-lane",
                "and.b32 %row, %lane, 15",
                "and.b32 %row, %lane, 7; bfe.u32 %at, %lane, 4, 1; mad.lo.u32 %row, %at, 8, %row",
            ),
            Edit("b-lane-chunk", "shr.u32 %chunk, %lane, 4", "bfe.u32 %chunk, %lane, 3, 1"),
        ),
        ("b-lane", "b-lane-chunk", "b-load"),
    ),
    PlantedBug(
        "b-matrices-by-rows-first",
        BYTES,
        "matrices-exchanged",
        "b",
        (Edit("b-lane-high", "%lane, 4", "%lane, 3"), Edit("b-lane-chunk", "%lane, 3", "%lane, 4")),
        ("b-lane-high", "b-lane-chunk", "b-load"),
    ),
    PlantedBug(
        "a-matrices-1-and-2-s8",
        BYTES,
        "matrices-exchanged",
        "a",
        (
            Edit(
                "a-lane",
                "and.b32 %row, %lane, 15",
                "and.b32 %row, %lane, 7; bfe.u32 %at, %lane, 4, 1; mad.lo.u32 %row, %at, 8, %row",
            ),
            Edit("a-lane-chunk", "shr.u32 %chunk, %lane, 4", "bfe.u32 %chunk, %lane, 3, 1"),
        ),
        ("a-lane", "a-lane-chunk", "a-load"),
        ("registers-exchanged",),
    ),
    PlantedBug(
        "a-lane-and-7",
        PADDED,
        "rows-repeated",
        "a",
        (Edit("a-lane", "%lane, 15", "%lane, 7"),),
        ("a-lane", "a-load"),
    ),
    PlantedBug(
        "b-lane-and-7",
        MIDDLE,
        "rows-repeated",
        "b",
        (Edit("b-lane", "%lane, 15", "%lane, 7"),),
        ("b-lane", "b-load"),
    ),
    PlantedBug(
        "a-trans-on-tf32",
        WORDS,
        "trans-extra",
        "a",
        _TRANS,
        ("a-load",),
    ),
    PlantedBug(
        "b-trans-on-s8", BYTES, "trans-extra", "b", (Edit("b-load", ".x4.shared", ".x4.trans.shared"),), ("b-load",)
    ),
    PlantedBug(
        "b-trans-too-much-bf16",
        PADDED,
        "trans-extra",
        "b",
        (Edit("b-load", ".x4.shared", ".x4.trans.shared"),),
        ("b-load",),
    ),
    PlantedBug("b-trans-forgotten-128", LARGE, "trans-missing", "b", (Edit("b-load", ".trans", ""),), ("b-load",)),
    PlantedBug(
        "a-registers-2-and-3-tf32",
        WORDS,
        "registers-exchanged",
        "a",
        (Edit("mma", "%a_0_2, %a_0_3", "%a_0_3, %a_0_2"),),
        ("mma", "a-load"),
        ("matrices-exchanged",),
    ),
    PlantedBug(
        "b-registers-e4m3",
        EIGHTS,
        "matrices-exchanged",
        "b",
        (Edit("b-load", "%b_0_0, %b_0_1, %b_1_0, %b_1_1", "%b_0_1, %b_0_0, %b_1_1, %b_1_0"),),
        ("b-load", "mma"),
        ("registers-exchanged",),
    ),
)
