"""Mistakes in how tiles come from global memory, lie in shared memory, and follow one another along k."""

from __future__ import annotations

from diagnosis.planted.kernels import (
    BYTES,
    EIGHTS,
    LARGE,
    LONG,
    MASKED,
    MIDDLE,
    PADDED,
    SMALL,
    WORDS,
)
from diagnosis.planted.model import Edit, PlantedBug

_SHARED = (
    PlantedBug(
        "a-read-without-swizzle",
        BYTES,
        "swizzle-mismatch",
        "a",
        (Edit("a-read-swizzle", "%place, %turn", "%place, 0"),),
        ("a-read-swizzle", "a-load", "a-write-swizzle", "a-copy-to"),
    ),
    PlantedBug(
        "b-written-without-swizzle",
        BYTES,
        "swizzle-mismatch",
        "b",
        (Edit("b-write-swizzle", "%place, %turn", "%place, 0"),),
        ("b-write-swizzle", "b-copy-to", "b-load", "b-read-swizzle"),
    ),
    PlantedBug(
        "a-swizzle-of-other-rows",
        LARGE,
        "swizzle-mismatch",
        "a",
        (Edit("a-read-swizzle-rows", "%row, 1", "%row, 0"),),
        ("a-read-swizzle-rows", "a-load", "a-write-swizzle", "a-copy"),
    ),
    PlantedBug(
        "b-swizzle-of-fewer-bits",
        MIDDLE,
        "swizzle-mismatch",
        "b",
        (Edit("b-read-swizzle-mask", "%turn, 7", "%turn, 3"),),
        ("b-read-swizzle-mask", "b-load", "b-write-swizzle", "b-copy"),
    ),
    PlantedBug(
        "a-read-without-swizzle-tf32",
        WORDS,
        "swizzle-mismatch",
        "a",
        (Edit("a-read-swizzle", "%place, %turn", "%place, 0"),),
        ("a-read-swizzle", "a-load", "a-write-swizzle", "a-copy-to"),
    ),
    PlantedBug(
        "b-read-pitch-without-pad",
        EIGHTS,
        "pitch-mismatch",
        "b",
        (Edit("b-read-pitch", ", 80,", ", 64,"),),
        ("b-read-pitch", "b-load", "b-write-pitch", "b-copy-to"),
    ),
    PlantedBug(
        "a-write-pitch-with-too-much-pad",
        PADDED,
        "pitch-mismatch",
        "a",
        (Edit("a-read-pitch", ", 80,", ", 64,"),),
        ("a-read-pitch", "a-load", "a-write-pitch", "a-copy-to"),
    ),
    PlantedBug(
        "a-pitch-f16",
        SMALL,
        "pitch-mismatch",
        "a",
        (Edit("a-write-pitch", ", 80,", ", 64,"),),
        ("a-read-pitch", "a-load", "a-write-pitch", "a-copy-to"),
    ),
    PlantedBug(
        "a-chunk-off-by-one",
        PADDED,
        "columns-shifted",
        "a",
        (
            Edit("a-step", "%chunk, %chunk, 0", "%chunk, %chunk, 1"),
            Edit("a-step", "%chunk, %chunk, 2", "%chunk, %chunk, 3"),
        ),
        ("a-step", "a-load"),
        ("k-tile-mismatch",),
    ),
)

_TILES_OF_K = (
    PlantedBug(
        "a-second-step-forgotten",
        SMALL,
        "k-tile-mismatch",
        "a",
        (Edit("a-step", "%chunk, 2", "%chunk, 0"),),
        ("a-step", "a-load"),
        ("columns-shifted",),
    ),
    PlantedBug(
        "second-step-forgotten",
        PADDED,
        "k-twice",
        "",
        (Edit("a-step", "%chunk, 2", "%chunk, 0"), Edit("b-step", "%chunk, 2", "%chunk, 0")),
        ("a-step", "b-step", "a-load", "b-load", "mma"),
        ("k-missing",),
    ),
    PlantedBug(
        "a-of-the-other-stage",
        MIDDLE,
        "k-tile-mismatch",
        "a",
        (Edit("a-read-pitch", "%from", "%into"),),
        ("a-read-pitch", "a-load", "a-copy"),
        ("columns-shifted",),
    ),
    PlantedBug(
        "b-of-this-tile-again",
        MIDDLE,
        "k-tile-mismatch",
        "b",
        (Edit("b-k", "%following", "%start"),),
        ("b-k", "b-copy", "b-load"),
        ("rows-shifted",),
    ),
    PlantedBug(
        "both-of-the-other-stage",
        LARGE,
        "k-twice",
        "",
        (Edit("stage-read", "add.u32 %from, %stage, %tiles", "mov.u32 %from, %into"),),
        ("stage-read", "a-load", "b-load", "mma", "stage-write"),
        ("k-missing",),
    ),
    PlantedBug(
        "every-second-tile",
        SMALL,
        "k-missing",
        "",
        (Edit("k-next", "64", "128"),),
        ("k-next", "mma", "a-load", "b-load", "a-copy", "b-copy"),
    ),
    PlantedBug(
        "last-tile-left-out",
        PADDED,
        "k-missing",
        "",
        (Edit("k-next", "%start, 64;", "%start, 64; add.u32 %at, %start, 64;"), Edit("k-end", "%start", "%at")),
        ("k-end", "k-next", "mma", "a-load", "b-load", "a-copy", "b-copy"),
    ),
    PlantedBug(
        "tail-not-masked",
        MASKED,
        "tail-not-masked",
        "a",
        tuple(
            Edit(f"{operand}-{what}", old, new)
            for operand in "ab"
            for what, old, new in (
                ("tail", "selp.u32 %filled, 16, 0, %p_in", "mov.u32 %filled, 16"),
                (
                    "tail-address",
                    f"selp.b64 %rd_from, %rd_from, %rd_{operand.upper()}, %p_in",
                    "mov.b64 %rd_from, %rd_from",
                ),
            )
        ),
        ("a-tail", "a-copy", "b-tail", "b-copy"),
    ),
)

_GLOBAL = (
    PlantedBug(
        "a-leading-dimension-of-b",
        PADDED,
        "leading-dimension",
        "a",
        (Edit("a-leading-dimension", "%k_bytes", "%n_bytes"),),
        ("a-leading-dimension", "a-copy"),
    ),
    PlantedBug(
        "b-leading-dimension-of-a",
        MIDDLE,
        "leading-dimension",
        "b",
        (Edit("b-leading-dimension", "%n_bytes", "%k_bytes"),),
        ("b-leading-dimension", "b-copy"),
    ),
    PlantedBug(
        "index-of-16-bits",
        LONG,
        "index-overflow",
        "a",
        (
            Edit(
                "a-leading-dimension",
                "mul.wide.u32 %rd_row, %g_row, %k_bytes",
                "mul.lo.u32 %at, %g_row, %k_bytes; and.b32 %at, %at, 65535; cvt.u64.u32 %rd_row, %at",
            ),
        ),
        ("a-leading-dimension", "a-copy"),
    ),
    PlantedBug(
        "columns-of-the-first-cta",
        MIDDLE,
        "tile-exchanged",
        "b",
        (Edit("b-global-column", "%block_n", "0"),),
        ("b-global-column", "b-copy", "b-load"),
        ("columns-shifted",),
    ),
    PlantedBug(
        "b-is-a",
        PADDED,
        "operands-exchanged",
        "b",
        (Edit("b-base", "%rd_B", "%rd_A"),),
        ("b-base", "b-copy"),
    ),
    PlantedBug(
        "warp-rows-for-columns",
        BYTES,
        "tile-exchanged",
        "b",
        (Edit("b-warp", "%warp_n", "%warp_m"),),
        ("b-warp", "b-load"),
        ("columns-shifted", "rows-shifted"),
    ),
)

BUGS = (*_SHARED, *_TILES_OF_K, *_GLOBAL)
