from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ptxloom.diagnostics import PtxloomError
from ptxloom.syntax import UnreadableFile, load

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(b"\xef\xbb\xbf// \xc3\xa9\nret;\n\0")
    module = load(path)
    assert module.diagnostics == ()
    assert module.source.name == str(path)
    assert str(module) == "ret;\n"
    assert module == load(str(path))


def test_an_empty_file_is_an_empty_module(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").touch()
    assert load(tmp_path / "k.ptx").statements == ()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ret;\0ret;", "this is a binary file, not PTX text (byte 4 is zero)"),
        (b"ret;\n ret\xff", "this is not UTF-8 text (byte 0xff in line 2)"),
    ],
)
def test_no_text(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {why}"
    assert isinstance(caught.value, PtxloomError)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="there is no such file"):
        load(tmp_path / "none.ptx")
    with pytest.raises(UnreadableFile, match="this is a directory, not a PTX file"):
        load(tmp_path)
    with pytest.raises(UnreadableFile, match="the file cannot be read"):
        load(f"{tmp_path}/a\0b")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("ret;")
    path.chmod(0)
    with pytest.raises(UnreadableFile, match="the file cannot be read"):
        load(path)
