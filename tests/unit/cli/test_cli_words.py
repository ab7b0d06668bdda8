"""The words that people type: short names, other tools' names, and what is there without being said."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.cli import command_line, verbs
from ptxloom.cli.arguments.type_names import type_name
from ptxloom.cli.results import progress
from ptxloom.cli.usage import meant
from ptxloom.files.kinds import other_than_ptx

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Any]

LEGAL = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n) { ret; }\n"
VERBS = {verb: summary for verb, (summary, _) in command_line.VERBS.items()}


def test_a_misspelt_opcode_of_a_query_names_the_one_that_is_meant(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(LEGAL)
    assert run("query", "ldmatrx.*.trans", str(file)).err.endswith("ldmatrx is not an opcode: did you mean ldmatrix?\n")
    assert run("query", "ldmatrix.*.trans", str(file)).err == "0 instructions in 1 file\n"
    assert "is not an opcode" not in run("query", "ldm*", str(file)).err


@pytest.mark.parametrize("word", ["race", "hazard"])
def test_words_of_the_tools_have_pages(run: Run, word: str) -> None:
    ran = run("explain", word)
    assert (ran.code, ran.out.partition("\n")[0]) == (0, f"# {word}")
    assert "--checks all" in ran.out


def test_a_run_says_where_source_lines_are_shown(run: Run) -> None:
    said = "ptxloom: to see source lines: `ptxloom inspect examples/vector_add.ptx --profile LAUNCH --source`\n"
    words = ("run", "examples/vector_add.ptx", "--grid", "1", "--block", "32", "--profile", "--source")
    arrays = ("--arg", "A=ones:f32:32", "--arg", "B=ones:f32:32", "--arg", "C=zeros:f32:32", "--arg", "32")
    assert said in run(*words, *arrays).err
    assert said not in run(*words, *arrays, "--quiet").err


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("disasm", "inspect"),
        ("lint", "check"),
        ("linter", "check"),
        ("sass", "inspect"),
        ("layout", "map"),
        ("bank", "banks"),
        ("chek", "check"),
        ("race", "run --checks all"),
        ("profile", "run --profile"),
        ("grep", "query"),
        ("resources", "inspect"),
        ("xyzzy", ""),
    ],
)
def test_verbs_by_other_names(word: str, command: str) -> None:
    assert meant.meant_command(word, VERBS) == command


def test_other_names_lead_to_verbs_and_are_none() -> None:
    for command, others in meant._COMMANDS.items():
        assert command.partition(" ")[0] in VERBS
        assert not set(others.split()) & set(VERBS)
    every = [word for others in meant._COMMANDS.values() for word in others.split()]
    assert len(every) == len(set(every))


def test_other_names_of_options_lead_to_options() -> None:
    known: set[str] = set()
    for verb in VERBS:
        parser = command_line.build_parser(verb)
        (below,) = (one for one in parser._actions if one.dest == "verb")
        known |= set(below.choices[verb]._option_string_actions)  # pyright: ignore[reportIndexIssue, reportOptionalSubscript, reportUnknownMemberType, reportUnknownArgumentType, reportAttributeAccessIssue]
    assert set(meant._OPTIONS) <= known
    assert meant.meant_option("--arch", ["--target"]) == "--target"
    assert meant.meant_option("--smem", ["--pitch"]) == ""


def test_a_verb_that_is_not_there_names_the_one_that_is_meant(run: Run) -> None:
    ran = run("disasm", "a.ptx")
    assert ran.code == 2
    assert "did you mean `ptxloom inspect` (the contents of PTX files" in ran.err


def test_every_verb_stands_in_one_group() -> None:
    grouped = [verb for _, named in command_line.GROUPS.values() for verb in named]
    assert sorted(grouped) == sorted(command_line.VERBS)


def test_the_modules_of_verbs_are_in_the_folders_of_their_groups() -> None:
    folders = Path(verbs.__file__).parent
    found = {one.name: {m.stem for m in one.glob("[!_]*.py")} for one in folders.iterdir() if one.name[0] != "_"}
    assert found == {folder: set(named) for folder, (_, named) in command_line.GROUPS.items()}


def test_help_shows_the_groups_in_their_order() -> None:
    text = command_line.build_parser("--help").format_help()
    heads = [text.index(f"\n  {head}:\n") for head, _ in command_line.GROUPS.values()]
    assert heads == sorted(heads)
    assert all(f"\n    {verb} " in text for verb in VERBS)


@pytest.mark.parametrize("name", ["map.jpg", "map.jpeg", "a/b.GIF", "map.webp"])
def test_pictures_that_nothing_draws_are_refused(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    ran = run("map", "ldmatrix.x4", "-o", str(path))
    assert ran.code == 2
    assert ".svg, .html, .tex, .png, .pdf" in ran.err
    assert not path.exists()


@pytest.mark.parametrize("words", [(), ("--grid", "1")])
def test_a_kernel_that_is_not_there(run: Run, words: tuple[str, ...]) -> None:
    ran = run("run", "gone.ptx", *words)
    assert (ran.code, ran.err) == (2, "ptxloom: gone.ptx: there is no such file\n")


@pytest.mark.parametrize("pattern", ["ldmatrix[", "ld.[gs", "ld.[]", "ld.[!]"])
def test_a_bracket_that_is_not_closed_is_named(run: Run, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.ptx").write_text(LEGAL)
    ran = run("query", pattern, str(tmp_path / "a.ptx"))
    assert ran.code == 2
    assert "the bracket `[` that is not closed" in ran.err


@pytest.mark.parametrize("pattern", ["re[st]", "[r]et", "[!a]et", "[]r]et"])
def test_brackets_that_are_closed_hold_characters(run: Run, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.ptx").write_text(LEGAL)
    assert run("query", pattern, str(tmp_path / "a.ptx"), "--count").code in (0, 1)
    assert run("query", pattern.replace("st", "t"), str(tmp_path / "a.ptx")).code in (0, 1)


def test_check_without_a_file_takes_the_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.ptx").write_text(LEGAL)
    monkeypatch.chdir(tmp_path)
    ran = run("check")
    assert (ran.code, ran.out, ran.err) == (0, "", "no findings in 1 file\n")
    assert run("check", "-q").err == ""


@pytest.mark.parametrize("verb", ["check", "inspect", "fmt", "parse"])
def test_what_tools_have_installed_or_built_is_left_out(run: Run, tmp_path: Path, verb: str) -> None:
    (tmp_path / "a.ptx").write_text(LEGAL)
    for folder in (".venv/lib", "x/site-packages/y", "node_modules/z", "build", "mine", "own"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "other.ptx").write_text(LEGAL)
    (tmp_path / "mine" / "pyvenv.cfg").touch()
    (tmp_path / "own" / "CMakeCache.txt").touch()
    assert "1 file" in run("check", str(tmp_path)).err
    assert "other.ptx" not in run(verb, str(tmp_path)).out
    assert run("check", str(tmp_path / "build")).code == 0


def test_a_folder_that_is_left_out_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.ptx").write_text(LEGAL)
    assert "(1 is; -v tells why)" in run("check", str(tmp_path)).err
    assert "build (a build folder)" in run("check", "-v", str(tmp_path)).err
    assert "(1 is; name them to have them read)" in run("inspect", str(tmp_path)).err


def test_columns_say_how_wide_an_inspection_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = run("inspect", "examples/hgemm.ptx").out
    monkeypatch.setenv("COLUMNS", "90")
    narrow = run("inspect", "examples/hgemm.ptx").out
    assert max(map(len, wide.splitlines())) > 90 >= max(map(len, narrow.splitlines()))
    monkeypatch.setenv("COLUMNS", "60")
    assert len(run("inspect", "examples/hgemm.ptx").out.splitlines()) > len(wide.splitlines())  # lists take more lines
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in narrow


@pytest.mark.parametrize(("name", "means"), [("fp16", "f16"), ("bf16", "bf16"), ("BFloat16", "bf16"), ("e4m3", "e4m3")])
def test_types_by_other_names(name: str, means: str) -> None:
    assert type_name(name) == means


def test_the_swizzles_of_a_tile_take_them(run: Run) -> None:
    said, meant_ = (run("swizzle", "64x64", name, "cp.async", "ldmatrix.x4").out for name in ("fp16", "f16"))
    assert said == meant_


def test_a_column_may_be_called_col(run: Run) -> None:
    said, meant_ = (run("where", "stmatrix.x1", "--row", "3", name, "1").out for name in ("--col", "--column"))
    assert said == meant_
    assert "lane 12" in said


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("main.cpp", "int main() { return 0; }", "C++"),
        ("launch.toml", 'ptx = "a.ptx"', "launch files"),
        ("kernel.py", "import triton", "Python"),
        ("kernel.ptx", "__global__ void k() {}", "CUDA C++"),
        ("notes.txt", "to do", "not PTX"),
        ("kernel.txt", LEGAL, ""),
        ("kernel.cpp", LEGAL, ""),
        ("snippet.ptx", "add.s32 a, b, c;", ""),
        ("snippet", "add.s32 a, b, c;", ""),
        ("<stdin>", "add.s32 a, b, c;", ""),
        ("empty.txt", " \n", ""),
    ],
)
def test_what_a_file_is(name: str, text: str, says: str) -> None:
    told = other_than_ptx(text, name)
    assert (says in told) if says else told == ""


def test_a_launch_file_that_is_ptx_is_told_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text(LEGAL)
    assert "k.txt: this is PTX, not a launch file" in run("run", str(tmp_path / "k.txt")).err
    (tmp_path / "k.cu").write_text("__global__ void k() {}")
    assert "k.cu: this is CUDA C++; describe how" in run("run", str(tmp_path / "k.cu")).err


def test_sizes_that_are_left_open_are_no_clean_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(LEGAL)
    launch = tmp_path / "l.toml"
    run("run", "--init", str(tmp_path / "a.ptx"), "-o", str(launch))
    ran = run("run", str(launch))
    assert "no verdict: " in ran.out
    assert "is a size left open" in ran.out
    assert "no hazards" not in ran.out
    name = launch.read_text().split('name = "')[1].split('"')[0]
    assert "no hazards" in run("run", str(launch), "--arg", f"{name}=5").out
    launch.write_text(launch.read_text().replace("value = 0    # ?", "value = 0"))
    assert "no hazards" in run("run", str(launch)).out


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_many_files_and_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, total, says in ((_Terminal(), 300, True), (_Terminal(), 9, False), (io.StringIO(), 300, False)):
        monkeypatch.setattr("sys.stderr", stream)
        assert list(progress.counted(range(total), total, "files read")) == list(range(total))
        assert ("40 of 300 files read" in stream.getvalue()) is says
        assert not says or stream.getvalue().endswith("\r\x1b[K")
