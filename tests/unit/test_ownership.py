"""Files that are run, or steer reports, are trusted if no other user can have written them; otherwise one sentence."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptxloom import disk_cache
from ptxloom.cli import main
from ptxloom.diagnostics import DistrustWarning
from ptxloom.ownership import doubt

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
STRANGER = 54321


@pytest.fixture
def forgotten() -> Iterator[None]:
    disk_cache._believed.cache_clear()
    yield
    disk_cache._believed.cache_clear()


def open_to_all(path: Path) -> None:
    path.chmod(0o777)


def given_away(path: Path) -> None:
    os.chown(path, STRANGER, STRANGER)


def open_to_a_group(path: Path) -> None:
    os.chown(path, -1, STRANGER)
    path.chmod(0o775)


SPOILS = [open_to_all, pytest.param(given_away, marks=as_root), pytest.param(open_to_a_group, marks=as_root)]


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("which", ["file", "folder", "above"])
def test_a_file_is_doubted_if_others_can_have_written_it(
    tmp_path: Path, which: str, spoil: Callable[[Path], None]
) -> None:
    places = {"above": tmp_path / "a", "folder": tmp_path / "a" / "b", "file": tmp_path / "a" / "b" / "c"}
    places["folder"].mkdir(parents=True)
    places["file"].touch()
    assert doubt(places["file"]) == ""
    spoil(places[which])
    assert doubt(places["file"]).startswith(str(places[which]))
    (tmp_path / "link").symlink_to(places["file"])
    assert doubt(tmp_path / "link").startswith(str(places[which]))


def test_what_is_not_there_and_what_lies_in_a_sticky_folder_is_not_doubted(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "shared" / "mine").mkdir()
    assert doubt(tmp_path / "shared" / "mine") == ""
    assert doubt(tmp_path / "shared" / "none") == ""
    (tmp_path / "round").symlink_to("round")
    assert doubt(tmp_path / "round").endswith("cannot be looked at")


@pytest.mark.usefixtures("forgotten")
def test_a_cache_is_made_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "new" / "cache"))
    before = os.umask(0)
    try:
        disk_cache.keep("key", b"content")
    finally:
        os.umask(before)
    made = [tmp_path / "new" / "cache", *(tmp_path / "new" / "cache").iterdir()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 2


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("spoil", SPOILS)
def test_a_cache_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    disk_cache.keep("key", b"planted")
    spoil(tmp_path / "cache")
    disk_cache._believed.cache_clear()
    with pytest.warns(DistrustWarning, match=r"because its files are executed and .*cache .*: name a folder"):
        assert disk_cache.cached("key", lambda: b"made") == b"made"
    assert disk_cache.cached("key", lambda: b"made again") == b"made again"  # and without a warning


@as_root
@pytest.mark.usefixtures("forgotten")
def test_an_entry_of_somebody_else_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    disk_cache.keep("key", b"planted")
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    given_away(entry)
    assert disk_cache.kept("key") is None
    assert disk_cache.cached("key", lambda: b"made") == b"made"
    assert disk_cache.kept("key") == b"made"


@pytest.mark.usefixtures("forgotten")
def test_the_command_line_says_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    for name in ("a", "b"):
        text = f".version 8.0\n.target sm_80\n.address_size 64\n// {name}\n"
        (tmp_path / f"{name}.ptx").write_text(text)
    (tmp_path / "cache").mkdir()
    open_to_all(tmp_path / "cache")
    assert main(["check", "-j", "2", *(str(tmp_path / f"{name}.ptx") for name in ("a", "b"))]) == 0
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith("ptxloom: the cache is off, because its files are executed and ")
    assert rest == ["no findings in 2 files"]
