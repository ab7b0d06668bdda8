"""The suffix of `-o` chooses the format, and what a verb does not write is refused in a sentence."""

from pathlib import Path

import pytest

from ptxloom.cli.arguments.picture_arguments import PICTURES
from ptxloom.cli.command_line import VERBS, build_parser
from unit.cli.conftest import Run

EXAMPLES = Path(__file__).parents[3] / "examples"
MAGIC = {"svg": b"<svg ", "html": b"<!doctype html>", "tex": b"% ", "png": b"\x89PNG", "pdf": b"%PDF-"}
X4 = "ldmatrix.m8n8.x4.b16"
DRAWN = (
    ("map", X4),
    ("map", "mma.m16n8k8.row.col.f32.f16.f16.f32"),
    ("map", "mma.m16n8k8.row.col.f32.f16.f16.f32", "--operand", "a"),
    ("where", X4, "--lane", "3"),
    ("where", X4, "--row", "3", "--matrix", "1"),
    ("banks", X4, "--pitch", "128", "--swizzle", "3,3,3"),
    ("swizzle", "64x64", "f16", "ldmatrix.x4"),
    ("atom", "SM75_U16x8_LDSM_T"),
    ("atom", "--mma", "m16n8k16.row.col.f32.f16.f16.f32", "--operand", "a", "--major", "k"),
    ("descriptor", "--tile", "64x64"),
    ("graph", str(EXAMPLES / "reduce.ptx")),
)


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("form", PICTURES)
@pytest.mark.parametrize("words", DRAWN, ids=" ".join)
def test_a_suffix_draws_in_its_format(words: tuple[str, ...], form: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / f"x.{form}"
    ran = run(*words, "-o", str(file))
    assert ran.code in {0, 1}, ran.err
    assert file.read_bytes().startswith(MAGIC[form])
    assert run(*words, "-o", str(tmp_path / "again"), "--output-format", form).code == ran.code
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("words", "suffix", "said"),
    [
        (("map", X4), ".dot", "`map` cannot write .dot: it writes .svg, .html, .tex, .png, .pdf, .csv, "),
        (("check", "x.ptx"), ".svg", "`check` cannot write .svg: it writes .json, .sarif, .xml, or text under any"),
        (("emit", "SM75_U16x8_LDSM_T"), ".pdf", "`emit` cannot write .pdf: it writes text, under any other name"),
        (("fmt", "x.ptx"), ".html", "`fmt` cannot write .html: it writes text"),
        (("swizzle", "64x64", "f16", "tma"), ".csv", "`swizzle` cannot write .csv: it writes .svg, "),
    ],
)
def test_what_a_verb_does_not_write_is_refused(
    words: tuple[str, ...], suffix: str, said: str, run: Run, tmp_path: Path
) -> None:
    ran = run(*words, "-o", str(tmp_path / f"x{suffix}"))
    assert ran.code == 2
    assert said in ran.err
    assert not [*tmp_path.iterdir()]


def test_other_suffixes_choose_too_and_words_win(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "X.JSON"
    assert run("map", X4, "-o", str(file)).code == 0
    assert file.read_text(encoding="utf-8").startswith("{")
    assert run("map", X4, "-o", str(file), "--output-format", "csv").code == 0
    assert file.read_text(encoding="utf-8").startswith("matrix,")
    assert run("map", X4, "-o", str(tmp_path / "map.v1")).code == 0
    assert (tmp_path / "map.v1").read_text(encoding="utf-8").startswith("ldmatrix")


def test_a_picture_is_of_one_thing(run: Run) -> None:
    for words, said in (
        (("atom",), "name it"),
        (("atom", "--mma", "m16n8k16.row.col.f32.f16.f16.f32", "--blas", "TN"), "this names 2"),
        (("graph", str(EXAMPLES)), "choose it with --function"),
        (("map", "wgmma.mma_async.m64n96k16.f32.f16.f16"), "several of its operands"),
    ):
        ran = run(*words, "--output-format", "svg")
        assert ran.code == 2
        assert said in ran.err


def test_dark_and_transparent_and_colours_are_asked_for(run: Run) -> None:
    plain, *others = (
        run("map", X4, "--output-format", "svg", *more).out
        for more in ((), ("--dark",), ("--transparent",), ("--colour-by", "register"), ("--colour-by", "bank"))
    )
    assert len({plain, *others}) == 5


def test_every_verb_that_draws_draws_in_every_format() -> None:
    for verb in VERBS:
        parser = build_parser(verb)
        (verbs,) = (action for action in parser._actions if action.dest == "verb")
        own = dict(verbs.choices or {})[verb]  # pyright: ignore[reportArgumentType] - a mapping of parsers
        formats = next((a.choices for a in own._actions if a.dest == "output_format"), None)
        drawn = {*(formats or ())} & {*PICTURES}
        assert drawn in ({*PICTURES}, set()), verb
