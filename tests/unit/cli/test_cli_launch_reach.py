"""A launch file may come from anybody: it writes arrays below its own folder, and reads regular files only."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxloom.cli.launch_files import arrays
from ptxloom.cli.launch_files.reach import Saved
from ptxloom.cli.results.output import CannotWrite

Run = Callable[..., Any]

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 out) { ret; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A launch file's folder, with others beside it that somebody's files are in."""
    (tmp_path / "home").mkdir()
    np.save(tmp_path / "home" / "train.npy", np.arange(4))
    made = tmp_path / "from anybody"
    made.mkdir()
    (made / "k.ptx").write_text(PTX)
    return made


def launch(folder: Path, save: str = "", ptx: str = "k.ptx", source: str = "zeros = { shape = [4] }") -> str:
    save = f"save = '{save}'" if save else ""
    path = folder / "l.toml"
    path.write_text(f"ptx = '{ptx}'\nkernel = 'nothing'\n[[args]]\nname = 'out'\n{source}\n{save}\n")
    return str(path)


@pytest.mark.parametrize(
    "name", ["../home/keys", "../home/new.npy", "../home/train.npy", "sub/../../home/train.npy", "out/train.npy", "k"]
)
def test_a_launch_file_saves_arrays_below_its_folder_alone(run: Run, folder: Path, name: str) -> None:
    home = folder.parent / "home"
    before = {path.name: path.read_bytes() for path in home.iterdir()}
    (folder / "sub").mkdir()
    (folder / "out").symlink_to(home)
    ran = run("run", launch(folder, name))
    assert ran.code == 2
    assert "a launch file saves only " in ran.err
    assert "`--save NAME=FILE.npy`" in ran.err
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before
    ran = run("run", launch(folder, str((folder / name).absolute())))
    assert ran.code == 2
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before


def test_it_saves_in_folders_and_through_links_that_stay_below(run: Run, folder: Path) -> None:
    (folder / "results").mkdir()
    (folder / "latest").symlink_to("results")
    assert run("run", launch(folder, "latest/out.npy")).code == 0
    assert np.load(folder / "results" / "out.npy").shape == (4,)
    (folder.parent / "elsewhere").symlink_to(folder)
    (folder / "results" / "out.npy").unlink()
    launch(folder, "results/out.npy")
    assert run("run", str(folder.parent / "elsewhere" / "l.toml")).code == 0
    assert (folder / "results" / "out.npy").exists()


def test_the_command_line_saves_anywhere(run: Run, folder: Path) -> None:
    train = folder.parent / "home" / "train.npy"
    assert run("run", launch(folder, "../home/other.npy"), "--save", f"out={train}").code == 0
    assert np.load(train).dtype == np.float32
    assert not train.with_name("other.npy").exists()


def test_links_are_resolved_when_an_array_is_written(folder: Path) -> None:
    (folder / "results").mkdir()
    saved = Saved(folder / "results" / "train.npy", folder)
    saved.place()
    (folder / "results").rmdir()
    (folder / "results").symlink_to(folder.parent / "home")
    with pytest.raises(CannotWrite, match="saves only below its own folder"):
        arrays.save(saved, np.zeros(4))
    assert np.array_equal(np.load(folder.parent / "home" / "train.npy"), np.arange(4))


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/dev/stdin", "sub", "link"])
@pytest.mark.parametrize("key", ["ptx", "npy", "equals"])
def test_only_regular_files_are_read(run: Run, folder: Path, key: str, name: str) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("/dev/zero")
    match key:
        case "ptx":
            path = launch(folder, ptx=name)
        case "npy":
            path = launch(folder, source=f"npy = '{name}'")
        case _:
            path = launch(folder, source=f"zeros = {{ shape = [4] }}\n[[compare]]\narray = 'out'\nequals = '{name}'")
    ran = run("run", path)
    assert ran.code == 2
    assert "which is not a file" in ran.err


def test_standard_input_is_named_by_the_command_line_only(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    launch(folder, ptx="-")
    ran = run("run", "l.toml")
    assert ran.code == 2
    assert "ptx names standard input" in ran.err


def test_files_elsewhere_are_read(run: Run, folder: Path) -> None:
    (folder / "k.ptx").rename(folder.parent / "home" / "k.ptx")
    assert run("run", launch(folder, ptx="../home/k.ptx", source="npy = '../home/train.npy'")).code == 0
