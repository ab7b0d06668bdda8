"""What tests keep on disk is made once of the same sources, and not at all where making it fails."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from kept import all_sources, kept


def _touch(folder: Path) -> None:
    (folder / "it").touch()


def test_it_is_made_once_however_many_ask(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "number").write_text(str(len(made)))

    with ThreadPoolExecutor(4) as askers:
        places = set(askers.map(partial(kept, "thing", make=make, folder=tmp_path), ["one"] * 8))
    assert [(place / "number").read_text() for place in places] == ["1"]
    assert (kept("thing", "other", make, tmp_path) / "number").read_text() == "2"


def test_what_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no room")

    for _ in range(2):
        with pytest.raises(OSError, match="no room"):
            kept("thing", "one", fail, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_older_sources_made_is_removed_when_no_run_can_read_it_any_more(tmp_path: Path) -> None:
    old, lately = (kept("thing", key, _touch, tmp_path) for key in ("a", "b"))
    long_ago = time.time() - 200_000
    os.utime(old, (long_ago, long_ago))
    kept("thing", "c", _touch, tmp_path)
    assert not old.exists()
    assert lately.exists()


def test_the_digest_is_of_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    changed, before = Path(__file__), all_sources()
    read = Path.read_bytes

    def read_changed(path: Path) -> bytes:
        return read(path) + b"#" * (path == changed)

    monkeypatch.setattr(Path, "read_bytes", read_changed)
    all_sources.cache_clear()
    assert all_sources() != before
    monkeypatch.undo()
    all_sources.cache_clear()
    assert all_sources() == before


def test_where_the_tree_is_somebody_elses_it_lies_in_ones_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").touch()
    monkeypatch.setattr("kept._FOLDER", tmp_path / "closed" / "kept")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kept("thing", "one", _touch).is_relative_to(tmp_path / ".cache")
