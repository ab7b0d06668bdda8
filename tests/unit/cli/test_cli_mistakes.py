"""What is wrong with a command line is said in the words that were typed, and what to write instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

EXAMPLES = Path(__file__).parents[3] / "examples"
HGEMM = str(EXAMPLES / "hgemm.ptx")
LAUNCH = str(EXAMPLES / "hgemm.toml")
X1 = "ldmatrix.m8n8.x1.b16"
MMA = "m16n8k16.row.col.f32.f16.f16.f32"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", HGEMM, "--target", "h100"], "--target is 'h100'; it must be a target"),
        (["check", HGEMM, "--ptx-version", "9"], "--ptx-version is '9'; it must be a version"),
        (["check", HGEMM, "--select", "nope"], "--select is 'nope'; it must be a rule's id"),
        (["where", X1, "--lane", "32"], "--lane is 32; it must be from 0 to 31"),
        (["where", X1, "--lane", "3", "--row", "2"], "give either `--lane`"),
        (["where", X1, "--register", "0", "--row", "2", "--column", "2"], "give either `--lane`"),
        (["banks", X1, "--pitch", "7"], "--pitch is 7; it must be a multiple of 16"),
        (["banks", X1, "--stride", "7"], "--stride is 7; it must be a multiple of 16"),
        (["banks", "add.s32", "--stride", "4"], "`add.s32` is neither an ldmatrix nor a stmatrix"),
        (["map", "ldmatrix"], "`ldmatrix` requires `.m8n8.x1.b16`"),
        (["swizzle", "4096x4096", "f16", "ldmatrix.x4"], "tile is '4096x4096 f16'; it must be no larger"),
        (["swizzle", "64x64", "f16", "ldmatrix.x4", "--pitch", "3"], "--pitch is 3; it must be a multiple of 16"),
        (["atom", "foo"], "CuTe has no atom called `foo`"),
        (["atom", "--operand", "a"], "name the mma for"),
        (["atom", "--mma", MMA, "--blas", "XX"], "--blas is 'XX'; it must be TN"),
        (["run", HGEMM], "describe how to run it: --kernel, --grid, --block, --arg"),
        (["run", LAUNCH, "--threads", "0"], "--threads is 0; it must be 1 to 1024"),
        (["run", LAUNCH, "--trace-warps", "0"], "`--trace-warps` goes with `--trace`"),
        (["run", LAUNCH, "--trace", "ldmatrix", "--trace-type", "f99"], "--trace-type is 'f99'"),
        (["run", LAUNCH, "--trace", "ldmatrix", "--trace-operand", "q"], "--trace-operand is 'q'"),
        (
            ["query", "add", HGEMM, "--lines", "5-2"],
            "--lines is '5-2'; it must be a line or several, such as 12 or 12-40",
        ),
        (["parse"], "FILE is missing"),
        (["graph", HGEMM, "--function", "x"], "--function is 'x'; it must be one of hgemm"),
        (["fmt", HGEMM, "--write", "-o", "x"], "leaves nothing for `--output`"),
        (["lsp", "--target", "h100"], "--target is 'h100'; it must be a target"),
        (["lsp", "-o", "x"], "ptxloom lsp: there is no option `-o` here"),
        ([], "usage: ptxloom"),
    ],
)
def test_a_mistake_is_told_in_the_words_that_were_typed(run: Run, arguments: list[str], said: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_text_without_functions_has_no_graph(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "none.ptx"
    file.write_text(".version 9.0\n.target sm_90\n", encoding="utf-8")
    ran = run("graph", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"ptxloom: {file}: no function here has a body\n"


def test_open_ended_options_may_be_mistyped_and_that_is_remarked(run: Run) -> None:
    ran = run("check", HGEMM, "--target", "sm_9000", "--ptx-version", "99.9")
    assert ran.code == 0
    assert "`--target sm_9000` is not a target" in ran.err
    assert "`--ptx-version 99.9` is not a version" in ran.err
    assert "--" not in run("check", HGEMM, "--target", "sm_90a", "--ptx-version", "9.0").err


def test_a_filter_that_fits_nothing_says_so(run: Run) -> None:
    said = "ptxloom: no statement matches --function, --lines and --pattern\n"
    assert run("parse", HGEMM, "--function", "nope").err == said
    assert run("parse", HGEMM, "--function", "hgemm", "--lines", "372").err == ""


def test_a_short_spelling_names_an_atom(run: Run) -> None:
    short, full = run("atom", X1), run("atom", "ldmatrix.sync.aligned.m8n8.x1.b16")
    assert short.out == full.out != ""
