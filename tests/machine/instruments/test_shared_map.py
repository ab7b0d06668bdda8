"""Shared memory drawn bank by bank: each cell its element, and the bytes that the element has."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.machine import Provenance, kernel
from ptxloom.machine.results.provenance import TracedArray
from ptxloom.machine.results.provenance_tags import ORIGIN, Kind
from ptxloom.machine.results.shared_map import LINE_BYTES, SharedMap, interesting
from ptxloom.syntax import parse
from ptxloom.views.core.style import Style
from ptxloom.views.drawing.formats import as_bytes, as_svg
from ptxloom.views.runs import shared_maps
from ptxloom.views.runs.shared_maps import Shown

EXAMPLES = Path(__file__).parents[3] / "examples"
TILE = TracedArray(0, "tile", 0, np.dtype(np.float16), (64, 64), (128, 2), 8192)
FLAT = TracedArray(1, "flat", 1, np.dtype(np.float32), (256,), (4,), 1024)


def swizzled(*, wrong: bool = False) -> SharedMap:
    """Eight rows of a tile of halves, their chunks exchanged by the row; in the last line something else."""
    origins = np.zeros(1280, ORIGIN)
    origins["array"] = origins["node"] = -1
    contents = np.zeros(1280, np.uint8)
    held = np.arange(64 * 64, dtype=np.float16).reshape(64, 64)
    for row in range(8):
        for chunk in range(8):
            at = 128 * row + 16 * (chunk ^ (row + (wrong and row == 5)) % 8)
            elements = 64 * row + 8 * chunk + np.arange(8)
            there = origins[at : at + 16]
            there["kind"], there["array"] = Kind.EXACT, 0
            there["element"], there["byte"] = np.repeat(elements, 2), np.tile([0, 1], 8)
            contents[at : at + 16] = held.ravel()[elements].view(np.uint8)
    for at, (kind, array, element) in {
        1024: (Kind.CONVERTED, 1, 40), 1028: (Kind.EXACT, 1, 3), 1032: (Kind.EXACT, 1, 200),
        1036: (Kind.COMPUTED, -1, 0), 1040: (Kind.PRODUCT, -1, 0), 1044: (Kind.MIXED, -1, 0),
    }.items():  # fmt: skip
        there = origins[at : at + 4]
        there["kind"], there["array"], there["element"] = kind, array, element
    return SharedMap(
        "k", "line 7: ldmatrix", (1, 0, 0), contents, origins, (TILE, FLAT), {0: "A", 1: "B"}, "f16", 0, 1048
    )


def test_a_line_is_told_in_pieces() -> None:
    found = swizzled()
    labels = [shared_maps.label(piece.elements) for piece in found.pieces(3 * LINE_BYTES, 16)]
    assert labels == ["3,24-31", "3,16-23", "3,8-15", "3,0-7", "3,56-63", "3,48-55", "3,40-47", "3,32-39"]
    words = found.pieces(3 * LINE_BYTES, 4)
    assert [word.bank for word in words] == list(range(32))
    assert words[12].elements.first == (3, 0)
    assert words[12].values == (192.0, 193.0)
    last = [shared_maps.label(piece.elements) for piece in found.pieces(1024, 4)]
    assert last == ["~40", "3", "200", "computed", "product", "mixed"]
    assert shared_maps.label(found.pieces(1024, 16)[0].elements) == "~40|200"


def test_columns_and_runs_and_jumps_are_told_apart() -> None:
    found = swizzled()
    origins = found.origins
    origins["element"][0:16] = np.repeat(64 * np.arange(8) + 5, 2)  # down a column
    origins["element"][16:32] = np.repeat([0, 1, 2, 3, 5, 6, 7, 8], 2)  # one left out
    origins["element"][32:48] = np.repeat(np.arange(60, 68), 2)  # over the end of a row
    first, second, third = (piece.elements for piece in found.pieces(0, 16)[:3])
    assert (shared_maps.label(first), first.regular) == ("0-7,5", True)
    assert (shared_maps.label(second), second.regular) == ("0,0|0,8", False)
    assert (shared_maps.label(third), third.regular) == ("0,60|1,3", False)


def test_a_wrong_swizzle_shows() -> None:
    right, wrong = (shared_maps.full(swizzled(wrong=w), Shown()).splitlines() for w in (False, True))
    assert [n for n, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b] == [3 + 5]


@pytest.mark.parametrize("shown", [Shown(), Shown(values=True), Shown(rows=2, by_chunk=True)])
def test_the_picture_is_well_formed_and_has_a_cell_a_bank(shown: Shown) -> None:
    root = ET.fromstring(as_svg(shared_maps.figure(swizzled(), shown)))  # noqa: S314 - our own text
    lines = min(shown.rows, 9)
    boxes = root.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == 1 + min(lines, 8) * 32 + (6 if lines == 9 else 0)
    width, height = int(root.get("width", "0")), int(root.get("height", "0"))
    for box in boxes:
        assert int(box.get("x", "0")) + int(box.get("width", "0")) <= width
        assert int(box.get("y", "0")) + int(box.get("height", "0")) <= height
    fills = [box.get("fill") for box in boxes[1:33]]
    assert len(set(fills)) == (8 if shown.by_chunk else 1)


def test_json_holds_every_bank() -> None:
    words = json.loads(shared_maps.as_json(swizzled()))["words"]
    assert len(words) == 8 * 32 + 6
    assert words[32 * 3 + 12]["first"] == [3, 0]
    assert words[-1]["kind"] == "mixed"


def test_no_name_steers_a_terminal_or_a_page() -> None:
    found = swizzled()
    found = SharedMap(
        "k\x1b[31m", "line 1: <script>\u202e", found.cta, found.contents, found.origins, found.arrays,
        {0: "<b>\x1b", 1: "&"}, "f16", 0, 1048,
    )  # fmt: skip
    for text in (
        shared_maps.full(found, Shown()),
        as_svg(shared_maps.figure(found, Shown())),
        as_bytes(shared_maps.figure(found, Shown()), "html").decode(),
        shared_maps.as_json(found),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
    page = as_bytes(shared_maps.figure(found, Shown()), "html").decode()
    assert "<script" not in page
    assert "<b>" not in page
    HTMLParser().feed(page)
    assert "\x1b[38;5;" in shared_maps.full(found, Shown(), Style(colour=True))


def test_what_is_of_interest() -> None:
    found = swizzled()
    variables = [("s", 128, 256), ("t", 384, 10)]
    everything = interesting(found.origins, variables, found.names, None)
    assert (everything.start, everything.end) == (0, 1048)
    one = interesting(found.origins, variables, found.names, "s")
    assert (one.start, one.end, one.of) == (128, 384, "s")
    array = interesting(found.origins, variables, found.names, "B")
    assert (array.start, array.end, array.only) == (1024, 1036, 1)
    with pytest.raises(UsageError, match="s, t, A, B"):
        interesting(found.origins, variables, found.names, "q")
    nothing = np.zeros(64, ORIGIN)
    assert interesting(nothing, variables, {}, None).start == 128
    assert interesting(nothing, [], {}, None).end == 64


def hgemm(**followed: Any) -> tuple[Any, tuple[Any, ...]]:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((64, 64)).astype(np.float16) for _ in range(2))
    compiled = kernel(parse((EXAMPLES / "hgemm.ptx").read_text(), "hgemm"), "hgemm")
    arguments = [a, b, np.zeros((64, 64), np.float32), 64, 64, 64]
    return compiled.launch((1, 1), 128, arguments, provenance=Provenance(**followed)).provenance, (a, b)


def test_bytes_are_those_of_the_elements_they_are_said_to_be() -> None:
    record, arrays = hgemm(shared_at=[372])
    (site,) = record.raw.moments
    origins, contents = record.shared(0, site), record.shared_bytes(0, site)
    exact = np.flatnonzero(origins["kind"] == Kind.EXACT)
    assert len(exact) >= 8192
    for number, array in enumerate(arrays):
        of = exact[origins["array"][exact] == number]
        assert len(of)
        held = array.view(np.uint8).reshape(-1, 2)
        assert (contents[of] == held[origins["element"][of], origins["byte"][of]]).all()
    early, _ = hgemm(shared_at=["mov"])
    first = early.raw.moments[0]
    assert not (early.shared(0, first)["kind"] == Kind.EXACT).any()  # nothing has come yet


def test_the_swizzle_of_hgemm_is_what_its_source_says() -> None:
    record, _ = hgemm(shared_at=[372])
    (site,) = record.raw.moments
    found = SharedMap(
        "hgemm", "", (0, 0, 0), record.shared_bytes(0, site), record.shared(0, site), record.arrays, {0: "A", 1: "B"},
        "f16", 0, 4096,
    )  # fmt: skip
    for line in found.lines:
        for place, piece in enumerate(found.pieces(line, 16)):
            row, chunk = line // 128 * 2 + place // 4, place % 4 ^ line // 128 % 4
            assert piece.elements.first == (row, 8 * chunk)
            assert piece.elements.last == (row, 8 * chunk + 7)
