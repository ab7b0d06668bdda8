"""`map` and `where` say the same in every format, and what the fragment says."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from ptxloom.fragments import fragment

Run = Callable[..., Any]

INSTRUCTIONS = [
    ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", None),
    ("stmatrix.sync.aligned.m16n8.x2.trans.b8", None),
    ("ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b6x16_p32", None),
    ("ldmatrix.sync.aligned.m8n16.x1.s8.s4", None),
    ("movmatrix.sync.aligned.m8n8.trans.b16", None),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a"),
    ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "c"),
]


@pytest.mark.parametrize(("instruction", "operand"), INSTRUCTIONS)
def test_the_table_holds_every_element_once(run: Run, instruction: str, operand: str | None) -> None:
    asked = ["map", instruction, *(["--operand", operand] if operand else [])]
    f = fragment(instruction, operand)
    full, markdown = run(*asked).out, run(*asked, "--output-format", "markdown").out
    for text in (full, markdown):
        table = text[text.index("col 0") :]
        assert sorted(re.findall(r"T\d+ V\d+:R\d+", table)) == sorted(f.label(e) for e in f.elements)
    records = list(csv.DictReader(io.StringIO(run(*asked, "--output-format", "csv").out)))
    document = json.loads(run(*asked, "--output-format", "json").out)
    assert len(records) == len(document["elements"]) == len(f.elements)
    for record, element in zip(records, document["elements"], strict=True):
        assert {k: v for k, v in record.items() if v} == {k: str(v) for k, v in element.items() if v != ""}
        held = f.holder(matrix=element["matrix"], row=element["row"], column=element["column"])
        assert (held.lane, held.register, held.bit) == (element["lane"], element["register"], element["bit"])
        assert f.value_of(held) == element["value"]


def test_the_picture_is_an_svg(run: Run) -> None:
    out = run("map", "ldmatrix.m8n8.x1.b16", "--output-format", "svg").out
    assert out.startswith("<svg ")
    assert out.count(":R0<") == 64


def test_the_address_lane_stands_beside_each_row(run: Run) -> None:
    out = run("map", "ldmatrix.m8n8.x2.b16").out
    rows = [line.split()[:2] for line in out.splitlines() if re.match(r"T\d+ +\d", line)]
    assert rows == [[f"T{8 * m + r}", str(r)] for m in range(2) for r in range(8)]


def test_the_map_says_what_it_rests_on(run: Run) -> None:
    assert "Confirmed: run on an H200." in run("map", "ldmatrix.m8n8.x1.b16").out
    assert "Not run on silicon by us" in run("map", "ldmatrix.m16n16.x1.trans.b8").out


def test_colour_marks_groups_and_changes_nothing_else(run: Run) -> None:
    plain = run("map", "ldmatrix.m8n8.x1.b16").out
    painted = run("map", "ldmatrix.m8n8.x1.b16", "--color", "always").out
    assert "\x1b[38;5;" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_where_a_lane(run: Run) -> None:
    out = run("where", "ldmatrix.m8n8.x4.b16", "--lane", "5").out
    assert re.findall(r"T5 +V(\d)", out) == list("01234567")
    assert "The address that lane 5 passes names row 5 of matrix 0." in out
    assert "is not used" in run("where", "ldmatrix.m8n8.x1.b16", "--lane", "9").out


def test_where_one_register_and_one_bit(run: Run) -> None:
    concise = ("--output-format", "concise")
    asked = ("where", "ldmatrix.m8n8.x4.b16", "--lane", "5", "--register", "2")
    assert run(*asked, *concise).out == (
        "row 1, column 2 of matrix 2: lane 5, register 2, bits [15:0] (T5 V4:R2); lane 17 passes the row's address\n"
        "row 1, column 3 of matrix 2: lane 5, register 2, bits [31:16] (T5 V5:R2); lane 17 passes the row's address\n"
    )
    assert run(*asked, "--bit", "20", *concise).out.count("\n") == 1


def test_where_an_element(run: Run) -> None:
    ran = run(
        "where", "stmatrix.m8n8.x2.b16", "--row", "3", "--column", "1", "--matrix", "1", "--output-format", "json"
    )
    (found,) = json.loads(ran.out)
    assert (found["lane"], found["register"], found["bit"], found["address_lane"]) == (12, 1, 16, 11)


def test_where_a_row(run: Run) -> None:
    asked = ("where", "ldmatrix.m8n8.x4.b16", "--matrix", "2", "--row", "5")
    found = json.loads(run(*asked, "--output-format", "json").out)
    assert [(one["column"], one["lane"]) for one in found] == [(column, 20 + column // 2) for column in range(8)]
    assert "Lane 21 passes the address of row 5 of matrix 2." in run(*asked).out
    held = run("where", "mma.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "c", "--row", "9")
    assert "address" not in held.out


@pytest.mark.parametrize("fmt", ["full", "concise", "csv", "markdown", "json"])
def test_where_answers_both_questions_alike(run: Run, fmt: str) -> None:
    by_place = run("where", "ldmatrix.m8n8.x1.b16", "--row", "0", "--column", "0", "--output-format", fmt)
    by_lane = run("where", "ldmatrix.m8n8.x1.b16", "--lane", "0", "--bit", "0", "--output-format", fmt)
    assert by_place.code == by_lane.code == 0
    if fmt != "full":
        assert by_place.out == by_lane.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["map", "ldmatrix.m8n8.x3.b16"], "takes no `.x3`"),
        (["map", "ldmatrix.m8n8.b8"], "`ldmatrix"),
        (["map", ""], "the instruction is empty"),
        (["map", "wgmma.mma_async"], "`wgmma.mma_async` is not the whole of a form: `wgmma` requires `.m64n8k16"),
        (["map", "wgmma"], "`wgmma` is not the whole of a form: `wgmma` requires `.m64n8k16"),
        (["map", "wgmma.fence"], "`wgmma.fence` is not a form of `wgmma` that multiplies"),
        (["map", "tcgen05.commit"], "holds no matrix; forms of ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma and"),
        (["map", "ldmatrx.m8n8.x4.b16"], "there is no `ldmatrx`; did you mean `ldmatrix`?"),
        (["map", "wmma.mma"], "`wmma` requires"),
        (["map", "mma.m16n8k16.row.col.f32.f16.f16.f32"], "select one with `--operand a|b|c|d`"),
        (["map", "wgmma.m64n8k16.f32.f16.f16", "--operand", "b"], "B is in shared memory"),
        (["map", "ldmatrix.m8n8.x1.b16", "--operand", "a"], "operand is 'a'; it must be left out"),
        (["where", "ldmatrix.m8n8.x1.b16"], "give either `--lane`"),
        (["where", "ldmatrix.m8n8.x1.b16", "--column", "1"], "give either `--lane`"),
        (["where", "ldmatrix.m8n8.x1.b16", "--lane", "1", "--row", "1", "--column", "1"], "give either `--lane`"),
        (["where", "ldmatrix.m8n8.x1.b16", "--lane", "32"], "lane is 32; it must be from 0 to 31"),
        (["where", "ldmatrix.m8n8.x1.b16", "--lane", "3", "--register", "1"], "register is 1; it must be 0"),
        (["where", "ldmatrix.m8n8.x1.b16", "--row", "8", "--column", "0"], "row is 8; it must be from 0 to 7"),
        (["where", "ldmatrix.m8n8.x1.b16", "--lane", "x"], "--lane is 'x'; it must be a whole number"),
        (["mpa"], "did you mean `ptxloom map`"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert sentence in ran.err
    assert "Traceback" not in ran.err
    assert len([line for line in ran.err.splitlines() if not line.startswith(("usage:", " "))]) == 1
