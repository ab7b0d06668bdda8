"""Snapshots of profiles lie in a checkout, which may hold anything under their names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import ptxloom as pl
from ptxloom.snapshots import FOLDER, held_against

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KERNEL = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"


@pytest.fixture(scope="module")
def profile() -> pl.LaunchResult:
    return pl.kernel(pl.parse(KERNEL)).launch(1, 1, [], profile=True)


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def odd(path: Path) -> None:
    path.write_bytes(b"\xff")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, device, deep, large, odd])
def test_what_is_no_snapshot_is_said(profile: pl.LaunchResult, tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / FOLDER / "test_k" / "test.json"
    path.parent.mkdir(parents=True)
    make(path)
    assert "this is no snapshot" in held_against(profile, str(tmp_path / "test_k.py"), "test", update=False)


@pytest.mark.parametrize("given", [5, None, "profile"])
def test_what_is_no_profile_is_refused(given: Any, tmp_path: Path) -> None:
    with pytest.raises(pl.UsageError, match="that of a launch with"):
        held_against(given, str(tmp_path / "test_k.py"), "test", update=False)


def test_a_snapshot_that_cannot_be_written_is_said(profile: pl.LaunchResult, tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file, where a folder should be")
    said = held_against(profile, str(tmp_path / "test_k.py"), "test", update=True)
    assert "it cannot be written" in said
    (tmp_path / FOLDER).unlink()
    (tmp_path / FOLDER / "test_k" / "test.json").mkdir(parents=True)
    assert "it cannot be written" in held_against(profile, str(tmp_path / "test_k.py"), "test", update=True)


def test_long_names_have_files_of_their_own(profile: pl.LaunchResult, tmp_path: Path) -> None:
    file = str(tmp_path / "test_k.py")
    for name in ("n" * 5000 + "a", "n" * 5000 + "b", "\ud800" * 300):
        assert not held_against(profile, file, "test", name, update=True)
        assert not held_against(profile, file, "test", name, update=False)
    made = list((tmp_path / FOLDER / "test_k").iterdir())
    assert len(made) == 3
    assert all(len(os.fsencode(path.name)) < 200 for path in made)
