"""Mistakes in what descriptors and tensor copies say of factors in shared memory."""

from __future__ import annotations

from dataclasses import replace

from diagnosis.planted.descriptor_edits import moved, steps, words
from diagnosis.planted.kernels import (
    HOPPER,
    HOPPER_32B,
    HOPPER_64B,
    HOPPER_ACROSS,
    HOPPER_ACROSS_PLAIN,
    HOPPER_B_ACROSS,
    HOPPER_E4M3,
    HOPPER_FACTORS,
    HOPPER_PLAIN,
    HOPPER_TF32,
)
from diagnosis.planted.model import Edit, PlantedBug

_WORDS = "0x4000004000010000"


BUGS = (
    words(HOPPER, "a-stride-512", "a", _WORDS, "0x4000002000010000"),
    words(HOPPER, "b-stride-64", "b", _WORDS, "0x4000000400010000"),
    words(HOPPER, "a-mode-64B", "a", _WORDS, "0x8000004000010000"),
    words(HOPPER, "b-mode-none", "b", _WORDS, "0x0000004000010000"),
    words(HOPPER, "b-base-offset", "b", _WORDS, "0x4002004000010000"),
    PlantedBug(
        "both-strides-512",
        HOPPER,
        "descriptor",
        "a",
        (Edit("a-words", _WORDS, "0x4000002000010000"), Edit("b-words", _WORDS, "0x4000002000010000")),
        ("a-words", "b-words"),
    ),
    PlantedBug("a-steps-doubled", HOPPER, "descriptor", "a", steps("a", (2, 4), (6, 12)), ("a-step",)),
    PlantedBug("b-steps-left-out", HOPPER, "descriptor", "b", steps("b", (2, 0), (4, 0), (6, 0)), ("b-step",)),
    PlantedBug(
        "all-steps-left-out",
        HOPPER,
        "k-twice",
        "",
        steps("a", (2, 0), (4, 0), (6, 0)) + steps("b", (2, 0), (4, 0), (6, 0)),
        ("a-step", "b-step"),
    ),
    PlantedBug("b-starts-late", HOPPER, "descriptor", "b", (Edit("b-base", "8192", "9216"),), ("b-base",)),
    PlantedBug(
        "b-of-a", HOPPER, "operands-exchanged", "b", (Edit("b-base", "8192", "0"),), ("b-base", "b-start", "product")
    ),
    PlantedBug(
        "stage-of-the-next",
        HOPPER,
        "descriptor",
        "a",
        (Edit("a-start", "cvt", "xor.b32 r24, r24, 1024; cvt"),),
        ("a-start",),
    ),
    PlantedBug(
        "one-stage-read",
        HOPPER,
        "k-twice",
        "",
        (Edit("stage-bytes", "shl.b32 r21, r20, 14", "mov.u32 r21, 0"),),
        ("stage-bytes", "stage-start", "read-stage"),
    ),
    PlantedBug(
        "tile-copied-twice", HOPPER, "k-twice", "", (Edit("copy-k", "r7, 6", "r10, 6"),), ("copy-k", "a-copy", "b-copy")
    ),
    words(HOPPER_PLAIN, "a-leading-128", "a", "0x0000000800400000", "0x0000000800080000"),
    words(HOPPER_PLAIN, "b-leading-and-stride-exchanged", "b", "0x0000000800400000", "0x0000004000080000"),
    PlantedBug(
        "b-major-forgotten",
        HOPPER_B_ACROSS,
        "descriptor",
        "b",
        (Edit("product", "1, 1, 0, 1;", "1, 1, 0, 0;"),),
        ("product",),
    ),
    words(HOPPER_B_ACROSS, "b-stride-512", "b", "0x4000004002000000", "0x4000002002000000"),
    words(HOPPER_ACROSS_PLAIN, "b-offsets-exchanged", "b", "0x0000004000080000", "0x0000000800400000"),
    words(HOPPER_ACROSS, "b-leading-1024", "b", "0x8000002000800000", "0x8000002000400000"),
    words(HOPPER_32B, "a-mode-64B", "a", "0xc000001000010000", "0x8000001000010000"),
    words(HOPPER_E4M3, "b-stride-2048", "b", _WORDS, "0x4000008000010000"),
    PlantedBug("a-steps-of-f16", HOPPER_TF32, "descriptor", "a", steps("a", (2, 1), (4, 2), (6, 3)), ("a-step",)),
    PlantedBug(
        "a-map-not-swizzled",
        HOPPER,
        "swizzle-mismatch",
        "a",
        (),
        ("a-copy",),
        make=replace(HOPPER_FACTORS, map_swizzle=("none", "128B")),
    ),
    PlantedBug(
        "b-map-swizzled-by-128",
        HOPPER_64B,
        "swizzle-mismatch",
        "b",
        (),
        ("b-copy",),
        make=replace(HOPPER_FACTORS, swizzle="64B", map_swizzle=("64B", "128B")),
    ),
    PlantedBug(
        "a-box-too-narrow",
        HOPPER,
        "not-copied",
        "a",
        (Edit("bytes", "16384", "15360"),),
        ("a-copy",),
        make=replace(HOPPER_FACTORS, less=((8, 0), (0, 0))),
    ),
    moved(HOPPER, "a-rows-of-the-next", "rows-shifted", "a-row", 8),
    moved(HOPPER, "b-rows-of-the-next", "columns-shifted", "b-row", 64),
    moved(HOPPER, "b-tile-of-the-next", "k-tile-mismatch", "b-coordinate", 64),
    moved(HOPPER, "a-columns-of-the-next", "k-tile-mismatch", "a-coordinate", 16),
    PlantedBug("b-tiles-of-the-first", HOPPER, "tile-exchanged", "b", (Edit("b-row", "r6", "0"),), ("b-row", "b-copy")),
    PlantedBug(
        "columns-by-the-row", HOPPER, "stored-twice", "d", (Edit("b-tile", "r6, 6", "r5, 0"),), ("a-tile", "b-tile")
    ),
    PlantedBug(
        "a-copied-eight-rows-later",
        HOPPER,
        "rows-shifted",
        "a",
        (Edit("a-into", ", 0;", ", 1024;"),),
        ("a-into", "a-copy"),
    ),
)
