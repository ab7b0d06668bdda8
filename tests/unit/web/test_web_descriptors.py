"""Descriptors and tensor maps in the page are Python's: any bits, any tile, any box, the same words and remarks."""

from __future__ import annotations

import random
import struct
from typing import Any

from ptxloom.descriptors import (
    Box,
    MatrixDescriptor,
    SharedOperand,
    SharedTile,
    TensorMap,
    encode_tiled,
    packed_strides,
)
from ptxloom.descriptors.remarks import of_box, of_operand
from ptxloom.diagnostics import UsageError
from web_port import ask

ELEMENTS = ("f16", "bf16", "tf32", "e4m3", "s8", "f32")
TYPES = ("FLOAT16", "UINT8", "FLOAT32", "INT64", "TFLOAT32_FTZ")


def operands() -> list[tuple[int, str, int, int, str, str]]:
    chance = random.Random(1)
    found: list[tuple[int, str, int, int, str, str]] = []
    for _ in range(400):
        generation = chance.choice(("wgmma", "tcgen05"))
        modes = {"wgmma": ("none", "128B", "64B", "32B"), "tcgen05": ("none", "128B", "64B", "32B", "128B_ATOM_32B")}
        start = chance.choice((0, 1024, 0x410, 16 * chance.randrange(1 << 14)))
        leading, stride = (16 * chance.choice((1, 8, 64, 128, chance.randrange(1 << 14))) for _ in range(2))
        base = chance.choice((0, 0, chance.randrange(8)))
        made = MatrixDescriptor(start, leading, stride, chance.choice(modes[generation]), base, generation)
        bits = made.bits if chance.random() < 0.8 else made.bits ^ 1 << chance.randrange(64)
        element = chance.choice(ELEMENTS)
        columns = {"f16": 16, "bf16": 16, "tf32": 8, "f32": 8}.get(element, 32)
        rows = chance.choice((8, 64, 128, 12))
        found.append((bits, generation, rows, columns, element, chance.choice(("k", "mn"))))
    return found


def python_operand(case: tuple[int, str, int, int, str, str]) -> Any:
    bits, generation, rows, columns, element, major = case
    try:
        made = MatrixDescriptor.from_bits(bits, generation)
    except UsageError:
        return None
    words = [[word.name, held] for word, held in made.words]
    if made.leading_is_address:
        return [str(made.bits), words]
    operand = SharedOperand(made, rows, columns, element, major)
    addresses = [operand.address(row, row * 7 % columns) for row in range(rows)]
    said = [[one.name, one.wrong, one.text, one.advice] for one in of_operand(operand)]
    return [str(made.bits), words, addresses, said]


def test_any_descriptor_is_read_placed_and_remarked_upon_as_in_python() -> None:
    some = operands()
    answers = ask([("descriptor", str(bits), *rest) for bits, *rest in some])
    for one, found in zip(some, answers, strict=True):
        assert found == python_operand(one), one
    assert sum(bool(found and found[-1]) for found in answers) > 50


def test_a_tile_s_descriptor_is_python_s() -> None:
    cases = [
        (rows, columns, element, major, swizzle, start)
        for rows in (8, 64, 128, 20)
        for columns in (16, 32, 64, 128)
        for element in ("f16", "e4m3", "tf32")
        for major in ("k", "mn")
        for swizzle in ("none", "32B", "64B", "128B")
        for start in (0, 1024, 16)
    ]
    keys = ("rows", "columns", "element", "major", "swizzle", "start")
    answers = ask([("tile", {**dict(zip(keys, case, strict=True)), "generation": "wgmma"}) for case in cases])
    for case, found in zip(cases, answers, strict=True):
        try:
            wanted = str(SharedTile(*case).descriptor.bits)
        except UsageError:
            wanted = None
        assert found == wanted, case


def boxes() -> list[tuple[dict[str, Any], list[int], int]]:
    chance = random.Random(2)
    found: list[tuple[dict[str, Any], list[int], int]] = []
    for _ in range(400):
        rank = chance.randrange(1, 5)
        kind = chance.choice(TYPES)
        dims = [chance.choice((8, 16, 60, 64, 128, 100))] + [chance.randrange(1, 40) for _ in range(rank - 1)]
        strides = list(packed_strides(kind, dims))
        if chance.random() < 0.7:
            strides = [-(-stride // 16) * 16 for stride in strides]
        box = [chance.choice((8, 16, 32, 64, 3))] + [chance.randrange(1, 20) for _ in dims[1:]]
        made = {
            "dataType": kind, "globalAddress": chance.choice((0, 0x1000, 0x7F0000000040, 8)), "globalDim": dims,
            "globalStrides": strides, "boxDim": box, "elementStrides": [chance.choice((1, 1, 1, 2)) for _ in dims],
            "interleave": chance.choice(("none", "none", "none", "16B")),
            "swizzle": chance.choice(("none", "32B", "64B", "128B")), "l2Promotion": chance.choice(("none", "128B")),
            "oobFill": chance.choice(("none", "none", "nan")),
        }  # fmt: skip
        coordinate = [chance.choice((0, 8, -8, 16, 3))] + [chance.randrange(-3, 40) for _ in dims[1:]]
        found.append((made, coordinate, chance.choice((0, 0x400, 0x80, 0x40))))
    return found


def python_map(made: dict[str, Any]) -> TensorMap:
    return encode_tiled(
        made["dataType"], made["globalAddress"], tuple(made["globalDim"]), tuple(made["globalStrides"]),
        tuple(made["boxDim"]), tuple(made["elementStrides"]), made["interleave"], made["swizzle"],
        made["l2Promotion"], made["oobFill"],
    )  # fmt: skip


def python_box(made: dict[str, Any], coordinate: list[int], shared_address: int) -> Any:
    try:
        encoded = python_map(made)
    except UsageError as error:
        return str(error)
    box = Box(encoded, tuple(coordinate), shared_address)
    last = [count - 1 for count in box.counts]
    places: list[list[object]] = []
    for index in ([0] * len(last), last, [count // 2 for count in last]):
        place = box.place(index)
        places.append([list(place.coordinate), place.inside, place.global_address, place.shared_address])
    row = [[one.shared_address, list(one.coordinate), one.elements, one.inside] for one in box.row(0)]
    said = [[one.name, one.wrong, one.text, one.advice] for one in of_box(box)]
    words = list(struct.unpack("<32I", encoded.to_bytes()))
    return [words, places, row, box.filled, encoded.transaction_bytes, said]


def test_any_box_is_encoded_placed_refused_and_remarked_upon_as_in_python() -> None:
    some = boxes()
    answers = ask([("box", *one) for one in some])
    for one, found in zip(some, answers, strict=True):
        assert found == python_box(*one), one
    refused = sum(isinstance(found, str) for found in answers)
    assert 50 < refused < 350
