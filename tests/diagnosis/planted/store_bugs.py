"""Mistakes in how a product is stored."""

from __future__ import annotations

from diagnosis.planted.kernels import (
    HALVES,
    LARGE,
    MIDDLE,
    SMALL,
)
from diagnosis.planted.model import Edit, PlantedBug

BUGS = (
    PlantedBug(
        "row-8-forgotten",
        SMALL,
        "stored-twice",
        "d",
        (Edit("c-row-1", "8", "0"),),
        ("c-row-1", "c-store-1", "c-store-0"),
        ("rows-shifted",),
    ),
    PlantedBug(
        "rows-by-16",
        MIDDLE,
        "rows-shifted",
        "d",
        (Edit("c-row-0", "%c_row, 16", "%c_row, 24"), Edit("c-row-1", "%c_row, 24", "%c_row, 16")),
        ("c-row-0", "c-row-1", "c-store-0", "c-store-1"),
        ("rows-permuted", "registers-exchanged"),
    ),
    PlantedBug(
        "all-ctas-one-tile",
        MIDDLE,
        "stored-twice",
        "d",
        (Edit("c-cta-column", "%block_n", "0"),),
        ("c-cta-column", "c-store-0", "c-store-1"),
        ("tile-exchanged", "columns-shifted"),
    ),
    PlantedBug(
        "warps-one-tile",
        LARGE,
        "stored-twice",
        "d",
        (Edit("c-warp-row", "%warp_m", "0"),),
        ("c-warp-row", "c-store-0", "c-store-1"),
        ("tile-exchanged", "rows-shifted"),
    ),
    PlantedBug(
        "stmatrix-trans-too-much",
        HALVES,
        "trans-extra",
        "d",
        (Edit("c-stmatrix", ".x4.shared", ".x4.trans.shared"),),
        ("c-stmatrix",),
    ),
    PlantedBug(
        "stmatrix-matrices",
        HALVES,
        "matrices-exchanged",
        "d",
        (Edit("c-stmatrix", "%packed1, %packed2", "%packed2, %packed1"),),
        ("c-stmatrix", "c-pack"),
        ("registers-exchanged",),
    ),
    PlantedBug(
        "packed-the-wrong-way-round",
        HALVES,
        "halves-exchanged",
        "d",
        tuple(
            Edit("c-pack", f"%d_{i}_{j}_{e + 1}, %d_{i}_{j}_{e}", f"%d_{i}_{j}_{e}, %d_{i}_{j}_{e + 1}")
            for i in range(1)
            for j in range(4)
            for e in (0, 2)
        ),
        ("c-pack",),
    ),
    PlantedBug(
        "epilogue-pitch",
        HALVES,
        "pitch-mismatch",
        "d",
        (Edit("c-read-pitch", ", 144,", ", 128,"),),
        ("c-read-pitch", "c-read", "c-write-pitch", "c-stmatrix"),
    ),
    PlantedBug(
        "st-shared-where-stmatrix",
        HALVES,
        "other-layout",
        "d",
        (Edit("c-stmatrix", "stmatrix.sync.aligned.m8n8.x4.shared.b16", "st.shared.v4.b32"),),
        ("c-stmatrix",),
    ),
    PlantedBug(
        "stmatrix-lane-and-7",
        HALVES,
        "stored-twice",
        "d",
        (Edit("c-lane-row", "%lane, 15", "%lane, 7"),),
        ("c-lane-row", "c-stmatrix"),
        ("rows-repeated", "not-copied", "rows-shifted"),
    ),
    PlantedBug(
        "leading-dimension-of-c",
        MIDDLE,
        "leading-dimension",
        "d",
        (Edit("c-leading-dimension", "%n", "%k"),),
        ("c-leading-dimension", "c-store-0", "c-store-1"),
        ("stored-twice",),
    ),
)
