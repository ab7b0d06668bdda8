"""TOML is read in time that grows with it, wherever it is read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from fuzz.counted import assert_linear
from ptxloom.cli import main
from ptxloom.files.toml import read_toml
from ptxloom.tool_server.folder import Folder, OutOfFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARTS: Final = ("a", '"b"', "'c'", '""', "a-b", "7")
DOTTED: Final[dict[str, Callable[[str], str]]] = {
    "key": lambda key: f"{key} = 1",
    "key of a table": lambda key: f"[x]\n{key} = 1",
    "heading": lambda key: f"[{key}]",
    "heading of tables": lambda key: f"[[ {key} ]]",
    "key in braces": lambda key: f"[[t]]\nx = {{ y = 1, {key} = 1 }}",
}


@pytest.mark.parametrize("dot", [".", " . "])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("form", DOTTED)
def test_a_key_has_so_many_parts_at_most(form: str, part: str, dot: str) -> None:
    assert read_toml(DOTTED[form](dot.join([part] * 64)))
    with pytest.raises(ValueError, match="more than 64 parts"):
        read_toml(DOTTED[form](dot.join([part] * 66)))


@pytest.mark.parametrize(
    "text", ["# " + "." * 500, "x = [" + "0.5, " * 500 + "]", 'x = "' + "../" * 500 + '"', "x = '" + "..." * 500 + "'"]
)
def test_dots_elsewhere_are_none_of_a_key(text: str) -> None:
    read_toml(text)


def refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\(at (line|end)"):
        read_toml(text)


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("form", DOTTED)
def test_it_is_looked_through_in_time(form: str) -> None:
    def make(count: int) -> Callable[[], Any]:
        text = "\n".join(DOTTED[form](".".join(["a"] * 60 + [f"b{number}"])) for number in range(count // 20))
        text = text.replace("[x]", "") if form == "key of a table" else text
        return lambda: refused(text + "\n=")

    assert_linear(make)


def test_what_is_nested_too_deeply_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        read_toml("x = " + "[" * 100_000)


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, ".".join("a" * 50_000) + " = 1", "#" * (2 << 20)])
def test_every_reader_says_so(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "launch.toml").write_text(text)
    (tmp_path / "ptxloom.toml").write_text(text)
    (tmp_path / "k.ptx").write_text(".version 8.0\n")
    for words in (("run", str(tmp_path / "launch.toml")), ("check", str(tmp_path / "k.ptx"))):
        assert main(words) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(OutOfFolder, match="launch"):
        Folder(tmp_path.resolve(), trusted=False).launch("launch.toml")
