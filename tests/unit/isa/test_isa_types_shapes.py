from __future__ import annotations

import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.isa.shapes import MatrixShape, MmaShape, is_shape
from ptxloom.isa.spelling import edits, near_misses
from ptxloom.isa.types import ElementType, Kind, element_type, is_type

WIDTHS = {
    "b8": (8, 8), "b16": (16, 16), "u64": (64, 64), "s4": (4, 4), "u2": (2, 2), "b1": (1, 1), "f16": (16, 16),
    "bf16": (16, 16), "tf32": (19, 32), "f64": (64, 64), "e4m3": (8, 8), "e5m2": (8, 8), "e2m1": (4, 8), "e2m3": (6, 8),
    "e3m2": (6, 8), "ue8m0": (8, 8), "ue4m3": (7, 8), "b128": (128, 128), "pred": (1, 1), "f16x2": (16, 16),
}  # fmt: skip


@pytest.mark.parametrize("name", WIDTHS)
def test_widths(name: str) -> None:
    found = element_type(name)
    assert (found.bits, found.container_bits) == WIDTHS[name]
    assert str(found) == name
    assert is_type(name)


@pytest.mark.parametrize(("name", "bits"), [("b6x16_p32", 6), ("b4x16_p64", 4), ("b8x16", 8)])
def test_packed_rows_are_16_bytes(name: str, bits: int) -> None:
    packed = element_type(name)
    assert (packed.bits, packed.count, packed.storage_bits) == (bits, 16, 128)


def test_kinds() -> None:
    assert element_type("s8").signed
    assert not element_type("u8").signed
    assert element_type("bf16x2") == ElementType("bf16x2", Kind.FLOAT, 16, 16, 2)
    assert element_type("e2m1x2").count == 2


@pytest.mark.parametrize("name", ["", "b3", "f8", "u1", "x2", "b8x1", "b8x", "e9m9", "e1m1", "q32", ".b32", "b32 "])
def test_no_type(name: str) -> None:
    assert not is_type(name)
    with pytest.raises(UsageError, match="type"):
        element_type(name)


def test_shapes() -> None:
    assert MatrixShape.parse("m16n8") == MatrixShape(rows=16, columns=8)
    shape = MmaShape.parse("m16n8k32")
    assert (shape.a, shape.b, shape.d) == (MatrixShape(16, 32), MatrixShape(32, 8), MatrixShape(16, 8))
    assert [str(MatrixShape(8, 16)), str(shape)] == ["m8n16", "m16n8k32"]
    for bad in ("m8", "m8n8k4", "m0n8", "8x8", "m8n8 "):
        with pytest.raises(UsageError):
            MatrixShape.parse(bad)
    with pytest.raises(UsageError):
        MmaShape.parse("m8n8")
    assert is_shape("m8n8")
    assert not is_shape("m8n")


def test_edits_is_a_distance() -> None:
    words = ["", "x4", "x2", "trans", "trnas", "shared", "shared::cta", "m8n8"]
    for first in words:
        assert edits(first, first) == 0
        assert edits(first, "") == len(first)
        for second in words:
            assert edits(first, second) == edits(second, first)
    assert edits("trans", "trnas") == 1
    assert edits("kitten", "sitting") == 3


def test_near_misses() -> None:
    assert near_misses("shard", ("share", "shared", "trans")) == ("share", "shared")
    assert near_misses("zzz", ("m8n8", "x4")) == ()
    assert near_misses("x" * 1000, ("x" * 999,)) == ()
