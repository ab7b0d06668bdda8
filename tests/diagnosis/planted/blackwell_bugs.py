"""Mistakes around `tcgen05.mma`: descriptors, copies, tensor memory, stages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from diagnosis.planted.kernels import (
    BLACKWELL,
    BLACKWELL_64,
    BLACKWELL_64B,
    BLACKWELL_ACROSS,
    BLACKWELL_B_ACROSS,
    BLACKWELL_E4M3,
    BLACKWELL_FACTORS,
    BLACKWELL_PLAIN,
    BLACKWELL_TENSOR_A,
    BLACKWELL_TF32,
)
from diagnosis.planted.model import Edit, PlantedBug

if TYPE_CHECKING:
    from diagnosis.planted.model import RightKernel


def _words(kernel: RightKernel, name: str, operand: str, old: str, new: str) -> PlantedBug:
    """A descriptor with other words."""
    mark = f"{operand}-words"
    return PlantedBug(name, kernel, "descriptor", operand, (Edit(mark, old, new),), (mark,))


def _steps(operand: str, *steps: tuple[int, int]) -> tuple[Edit, ...]:
    """Other distances from one product to the next."""
    register = {"a": "d10", "b": "d11"}[operand]
    return tuple(Edit(f"{operand}-step", f"{register}, {old};", f"{register}, {new};") for old, new in steps)


def _moved(name: str, cause: str, operand: str, mark: str, by: int) -> PlantedBug:
    """A coordinate of a copy that is so many elements off."""
    return PlantedBug(name, BLACKWELL, cause, operand, (Edit(mark, ", 0;", f", {by};"),), (mark,))


BUGS = (
    _words(BLACKWELL, "a-stride-512", "a", "0x4000404000010000", "0x4000402000010000"),
    _words(BLACKWELL, "b-stride-64", "b", "0x4000404000010000", "0x4000400400010000"),
    _words(BLACKWELL, "b-mode-64B", "b", "0x4000404000010000", "0x8000404000010000"),
    _words(BLACKWELL, "a-mode-none", "a", "0x4000404000010000", "0x0000404000010000"),
    PlantedBug("a-steps-doubled", BLACKWELL, "descriptor", "a", _steps("a", (2, 4), (6, 12)), ("a-step",)),
    PlantedBug("b-steps-left-out", BLACKWELL, "descriptor", "b", _steps("b", (2, 0), (4, 0), (6, 0)), ("b-step",)),
    PlantedBug("b-starts-late", BLACKWELL, "descriptor", "b", (Edit("b-base", "16384", "17408"),), ("b-base",)),
    PlantedBug(
        "b-of-a",
        BLACKWELL,
        "operands-exchanged",
        "b",
        (Edit("b-base", "16384", "0"),),
        ("b-base", "b-start", "product"),
    ),
    PlantedBug(
        "stage-of-the-next",
        BLACKWELL,
        "descriptor",
        "a",
        (Edit("a-start", "cvt", "xor.b32 r24, r24, 2048; cvt"),),
        ("a-start",),
    ),
    PlantedBug(
        "one-stage-read",
        BLACKWELL,
        "k-twice",
        "",
        (Edit("stage-bytes", "shl.b32 r21, r20, 15", "mov.u32 r21, 0"),),
        ("stage-bytes", "stage-start", "read-stage"),
    ),
    PlantedBug(
        "tile-copied-twice",
        BLACKWELL,
        "k-twice",
        "",
        (Edit("copy-k", "r7, 6", "r10, 6"),),
        ("copy-k", "a-copy", "b-copy"),
    ),
    PlantedBug(
        "a-map-not-swizzled",
        BLACKWELL,
        "swizzle-mismatch",
        "a",
        (),
        ("a-copy",),
        make=replace(BLACKWELL_FACTORS, map_swizzle=("none", "128B")),
    ),
    PlantedBug(
        "b-map-swizzled-by-128",
        BLACKWELL_64B,
        "swizzle-mismatch",
        "b",
        (),
        ("b-copy",),
        make=replace(BLACKWELL_FACTORS, swizzle="64B", map_swizzle=("64B", "128B")),
    ),
    PlantedBug(
        "a-box-too-narrow",
        BLACKWELL,
        "not-copied",
        "a",
        (Edit("bytes", "24576", "22528"),),
        ("a-copy",),
        make=replace(BLACKWELL_FACTORS, less=((8, 0), (0, 0))),
    ),
    _moved("a-rows-of-the-next", "rows-shifted", "a", "a-row", 8),
    _moved("b-rows-of-the-next", "columns-shifted", "b", "b-row", 64),
    _moved("b-tile-of-the-next", "k-tile-mismatch", "b", "b-coordinate", 64),
    PlantedBug(
        "b-tiles-of-the-first", BLACKWELL, "tile-exchanged", "b", (Edit("b-row", "r6", "0"),), ("b-row", "b-copy")
    ),
    PlantedBug("never-added", BLACKWELL, "k-missing", "", (Edit("adding", "r8, 0", "r8, r8"),), ("adding", "product")),
    PlantedBug(
        "lanes-of-the-next-warp",
        BLACKWELL,
        "rows-rotated",
        "d",
        (Edit("d-row", "r0, r5", "r0, r5; xor.b32 r50, r50, 32"),),
        ("d-row", "d-store"),
        other_causes=("rows-permuted",),
    ),
    PlantedBug(
        "columns-by-the-row",
        BLACKWELL,
        "stored-twice",
        "d",
        (Edit("b-index", "%ctaid.x", "%ctaid.y"),),
        ("b-index", "a-tile", "b-tile"),
    ),
    PlantedBug(
        "d-load-eight-columns-on",
        BLACKWELL,
        "columns-shifted",
        "d",
        (Edit("d-load", "[r43]", "[r43+8]"),),
        ("d-load", "d-store"),
        other_causes=("columns-rotated",),
    ),
    PlantedBug(
        "a-told-across",
        BLACKWELL,
        "descriptor",
        "a",
        (Edit("told", "0x08100010", "0x08108010"),),
        ("told", "product"),
    ),
    _words(BLACKWELL_PLAIN, "a-leading-and-stride-exchanged", "a", "0x0000400800800000", "0x0000408000080000"),
    _words(BLACKWELL_PLAIN, "b-leading-128", "b", "0x0000400800400000", "0x0000400800080000"),
    PlantedBug(
        "b-told-along-k",
        BLACKWELL_B_ACROSS,
        "descriptor",
        "b",
        (Edit("told", "0x08110010", "0x08100010"),),
        ("told", "product"),
    ),
    _words(BLACKWELL_B_ACROSS, "b-stride-512", "b", "0x4000404002000000", "0x4000402002000000"),
    _words(BLACKWELL_ACROSS, "a-leading-1024", "a", "0x8000402000800000", "0x8000402000400000"),
    _words(BLACKWELL_E4M3, "b-stride-2048", "b", "0x4000404000010000", "0x4000408000010000"),
    PlantedBug("a-steps-of-f16", BLACKWELL_TF32, "descriptor", "a", _steps("a", (2, 1), (4, 2), (6, 3)), ("a-step",)),
    _words(BLACKWELL_64, "a-stride-2048", "a", "0x4000404000010000", "0x4000408000010000"),
    PlantedBug(
        "rows-of-four-warps-by-32",
        BLACKWELL_64,
        "rows-permuted",
        "d",
        (Edit("d-warp", "r40, 4", "r40, 3"),),
        ("d-warp", "d-row", "d-store"),
        other_causes=("stored-twice",),
    ),
    PlantedBug(
        "rows-not-unswizzled",
        BLACKWELL_TENSOR_A,
        "swizzle-mismatch",
        "a",
        (Edit("row-turn", "r0, 7", "r0, 0"),),
        ("row-turn", "row-chunk", "row-load"),
        other_causes=("k-tiles-mixed",),
    ),
    PlantedBug(
        "columns-of-the-first-step",
        BLACKWELL_TENSOR_A,
        "k-tile-mismatch",
        "a",
        tuple(Edit("a-step", f"r44, {8 * n};", "r44, 0;") for n in (1, 2, 3)),
        ("a-step", "product"),
        other_causes=("k-twice",),
    ),
    PlantedBug(
        "a-place-four-columns-on",
        BLACKWELL_TENSOR_A,
        "columns-shifted",
        "a",
        (Edit("a-place", "r42, 64", "r42, 68"),),
        ("a-place", "a-step", "product"),
        other_causes=("k-tile-mismatch",),
    ),
    PlantedBug(
        "rows-of-the-next-warp",
        BLACKWELL_TENSOR_A,
        "rows-permuted",
        "a",
        (Edit("row-of", "r0, 7", "r0, 7; xor.b32 r30, r30, 4096"),),
        ("row-of", "row-bytes", "row-load", "row-store"),
        other_causes=("rows-rotated", "rows-shifted", "tile-exchanged"),
    ),
)
