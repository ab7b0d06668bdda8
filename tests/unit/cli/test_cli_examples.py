from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

Run = Callable[..., Any]
ROOT = Path(__file__).parents[3]


def test_every_example_is_written_as_it_is(run: Run, tmp_path: Path) -> None:
    ran = run("examples", str(tmp_path / "here"))
    assert ran.code == 0
    written = {path.relative_to(tmp_path / "here"): path.read_bytes() for path in map(Path, ran.out.split())}
    own = {path.relative_to(ROOT / "examples"): path.read_bytes() for path in (ROOT / "examples").rglob("*.ptx")}
    assert own.items() <= written.items()
    assert run("examples", str(tmp_path / "here")).code == 0  # the same again is no harm


def test_nothing_is_overwritten(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/why.toml").write_text("mine")
    ran = run("examples")
    assert (ran.code, ran.out) == (2, "")
    assert "examples/why.toml exists already and holds something else" in ran.err
    assert [path.name for path in (tmp_path / "examples").iterdir()] == ["why.toml"]


def test_where_no_folder_can_be(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run("examples", str(tmp_path / "file"))
    assert ran.code == 2
    assert "cannot write" in ran.err
