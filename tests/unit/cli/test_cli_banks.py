"""`banks` says what `pl.bank_conflicts` says, and draws who meets whom."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.banks import bank_conflicts

Run = Callable[..., Any]

X4 = "ldmatrix.m8n8.x4.b16"


@pytest.mark.parametrize(("pitch", "wavefronts"), [(16, 1), (32, 2), (64, 4), (80, 1), (128, 8), (144, 1), (256, 8)])
def test_the_pitches_of_the_measurements(run: Run, pitch: int, wavefronts: int) -> None:
    ran = run("banks", X4, "--pitch", str(pitch), "--output-format", "json")
    found = json.loads(ran.out)
    assert [p["wavefronts"] for p in found["phases"]] == [wavefronts] * 4
    assert (found["wavefronts"], found["conflicts"]) == (4 * wavefronts, 4 * wavefronts - 4)
    assert ran.code == (wavefronts > 1)


@pytest.mark.parametrize(("swizzle", "wavefronts"), [("1,3,3", 4), ("2,3,3", 2), ("3,3,3", 1)])
def test_a_swizzle_spreads_the_rows(run: Run, swizzle: str, wavefronts: int) -> None:
    ran = run("banks", X4, "--pitch", "128", "--swizzle", swizzle, "--output-format", "json")
    assert json.loads(ran.out)["wavefronts"] == 4 * wavefronts


def test_a_swizzle_leaves_the_byte_within_the_element(run: Run) -> None:
    listed = ",".join(str(128 * (lane // 4) + lane % 4) for lane in range(32))
    ran = run("banks", "ld.shared.b8", "--addresses", listed, "--swizzle", "3,3,3", "--output-format", "json")
    words = [w for use in json.loads(ran.out)["phases"][0]["banks"] for w in use["words"]]
    assert sorted(words) == [128 * row + 16 * row for row in range(8)]
    assert "conflict" in run("banks", "ld.shared.b8", "--addresses", listed, "--output-format", "concise").out


def test_the_picture_holds_every_lane_of_every_bank(run: Run) -> None:
    out = run("banks", "ldmatrix.m8n8.x1.b16", "--pitch", "64").out
    rows = [line.split() for line in out.splitlines() if re.match(r"\d ", line)]
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    report = bank_conflicts("m8n8.x1.b16", [64 * lane for lane in range(32)])
    for use in report.phases[0].banks:
        drawn = [row[1 + use.bank] for row in rows if row[1 + use.bank] != "."]
        assert drawn == [str(lanes[0]) for lanes in use.lanes]


def test_shared_words_are_marked(run: Run) -> None:
    out = run("banks", "ld.shared.b32", "--stride", "0").out
    assert "1 wavefront\n" in out
    assert re.search(r"(?m)^1 +0\+( +\.){31}$", out)


def test_addresses_from_the_line_a_file_and_short(run: Run, tmp_path: Path) -> None:
    listed = ",".join(hex(128 * lane) for lane in range(32))
    file = tmp_path / "addresses.txt"
    file.write_text(listed.replace(",", "\n"), encoding="utf-8")
    short = ",".join(str(128 * lane) for lane in range(8))
    by_pitch = run("banks", "ldmatrix.m8n8.x1.b16", "--pitch", "128").out
    for given in (listed, str(file), short):
        assert run("banks", "ldmatrix.m8n8.x1.b16", "--addresses", given).out == by_pitch


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([X4], "--pitch, --stride or --addresses is missing"),
        ([X4, "--pitch", "8"], "a multiple of 16"),
        ([X4, "--addresses", "1,2,x"], "holds 'x'"),
        ([X4, "--addresses", "0,16"], "holds 2 addresses"),
        ([X4, "--addresses", "no/such/file"], "nor a file"),
        (
            [X4, "--pitch", "128", "--swizzle", "3,3"],
            "--swizzle is '3,3'; it must be three whole numbers, such as 3,3,3",
        ),
        ([X4, "--pitch", "128", "--swizzle", "-3,3,3"], "--swizzle has no value; a value must follow it"),
        (["mma.m16n8k16", "--pitch", "128"], "mma"),
        (["ld.global.b32", "--stride", "4"], "only shared memory has banks"),
        (["movmatrix.m8n8.trans.b16", "--stride", "16"], "does not access memory"),
    ],
)
def test_what_cannot_be_counted_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    ran = run("banks", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert "Traceback" not in ran.err
