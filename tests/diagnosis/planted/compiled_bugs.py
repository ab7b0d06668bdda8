"""Mistakes in what nvcc and Triton compiled."""

from __future__ import annotations

import numpy as np

from diagnosis.planted.compiled import Factors
from diagnosis.planted.kernels import HGEMM, STMATRIX, TRITON, TRITON_S8
from diagnosis.planted.model import Edit, PlantedBug

_A_TRANS = (Edit("a-load", ".x4.shared", ".x4.trans.shared"),)

BUGS = (
    PlantedBug("b-trans-forgotten", HGEMM, "trans-missing", "b", (Edit("b-load", ".trans", ""),), ("b-load",)),
    PlantedBug("a-trans-too-much", HGEMM, "trans-extra", "a", _A_TRANS, ("a-load",)),
    PlantedBug(
        "a-trans-too-much-a-is-1",
        HGEMM,
        "trans-extra",
        "a",
        _A_TRANS,
        ("a-load",),
        make=Factors(np.float16, ones=True),
        shows=False,
    ),
    PlantedBug(
        "a-rows-cyclic",
        HGEMM,
        "rows-rotated",
        "a",
        (
            Edit("a-read-row", "%r86, %r1, 15;", "%r86, %r1, 1; and.b32 %r86, %r86, 15;"),
            Edit("a-read-row", "and.b32  	%r86, %r1, 1;", "add.s32 %r86, %r1, 1;"),
        ),
        ("a-read-row", "a-load"),
    ),
    PlantedBug(
        "b-matrices-1-and-2",
        HGEMM,
        "matrices-exchanged",
        "b",
        tuple(
            Edit("b-load", f"%r{n}, %r{n + 1}, %r{n + 2}, ", f"%r{n}, %r{n + 2}, %r{n + 1}, ")
            for n in (131, 136, 199, 204)
        ),
        ("b-load", "mma"),
    ),
    PlantedBug(
        "a-read-without-swizzle",
        HGEMM,
        "swizzle-mismatch",
        "a",
        (Edit("a-read-swizzle", "%r90, %r84", "%r84, 0"),),
        ("a-read-swizzle", "a-load", "a-write-swizzle"),
    ),
    PlantedBug(
        "stages-exchanged",
        HGEMM,
        "k-twice",
        "",
        (Edit("stage-read", "%r42, %r257", "%r42, %r257; xor.b32 %r257, %r257, 8192; add.s32 %r259, %r42, %r257"),),
        ("stage-read", "a-load", "b-load", "mma", "stage-write"),
        ("k-missing", "not-copied"),
    ),
    PlantedBug("b-trans-forgotten", TRITON, "trans-missing", "b", (Edit("b-load", ".trans", ""),), ("b-load",)),
    PlantedBug(
        "a-without-swizzle",
        TRITON,
        "swizzle-mismatch",
        "a",
        (Edit("a-swizzle", "%r68, %r9", "%r65, %r9"),),
        ("a-swizzle", "a-load", "a-write-swizzle"),
    ),
    PlantedBug(
        "b-registers-of-the-first-step",
        TRITON,
        "registers-exchanged",
        "b",
        (
            Edit("b-pack", "mov.b32 	%r89, {%rs16, %rs15}", "mov.b32 	%r89, {%rs14, %rs13}"),
            Edit("b-pack", "mov.b32 	%r90, {%rs14, %rs13}", "mov.b32 	%r90, {%rs16, %rs15}"),
        ),
        ("b-pack", "mma", "b-load"),
        ("matrices-exchanged",),
    ),
    PlantedBug(
        "b-packed-the-wrong-way-round",
        TRITON,
        "halves-exchanged",
        "b",
        (Edit("b-pack", "{%rs16, %rs15}", "{%rs15, %rs16}"), Edit("b-pack", "{%rs14, %rs13}", "{%rs13, %rs14}")),
        ("b-pack", "b-unpack"),
    ),
    PlantedBug("a-trans-too-much", TRITON_S8, "trans-extra", "a", _A_TRANS, ("a-load",)),
    PlantedBug(
        "d-packed-the-wrong-way-round",
        STMATRIX,
        "halves-exchanged",
        "d",
        (
            Edit("d-pack", "%f195, %f196", "%f196, %f195"),
            Edit("d-pack", "%f193, %f194", "%f194, %f193"),
            Edit("d-pack", "%f199, %f200", "%f200, %f199"),
            Edit("d-pack", "%f197, %f198", "%f198, %f197"),
        ),
        ("d-pack",),
    ),
    PlantedBug(
        "stmatrix-trans-too-much",
        STMATRIX,
        "trans-extra",
        "d",
        (Edit("d-stmatrix", ".x4.shared", ".x4.trans.shared"),),
        ("d-stmatrix",),
    ),
)
