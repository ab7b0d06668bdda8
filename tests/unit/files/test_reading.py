"""Whatever holds PTX is read as it is, by `pl.load` and by every verb; what holds none says so in a sentence."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.files import fatbins
from unit.files.fatbin_writer import PTX, entry, fatbin, lz4, ptx

if TYPE_CHECKING:
    from pathlib import Path

CUBIN = b"\x7fELF\2\1\1" + bytes(57)


@pytest.mark.parametrize("head", [b"", CUBIN, b"!<arch>\n", b"MZ" + bytes(62)])
def test_ptx_in_compiled_files(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "a.out"
    path.write_bytes(head + fatbin(entry(CUBIN, kind=2), entry(ptx(80))) + b"rest")
    module = pl.load(path)
    assert (module.source.text, module.source.name) == (PTX.format(80), f"{path}:1.sm_80.ptx")
    assert pl.load(f"{path}:1.sm_80.ptx") == module


def test_several_texts_are_told_apart_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a.fatbin"
    path.write_bytes(fatbin(entry(ptx(80)), entry(ptx(90), 90)) + fatbin(entry(ptx(75), 75)))
    assert [m.target for m in pl.syntax.load_all(path)] == [("sm_80",), ("sm_90",), ("sm_75",)]
    with pytest.raises(pl.syntax.UnreadableFile, match=r"holds 3 PTX texts: name one of .*:1\.sm_80\.ptx, .*:2\.sm_90"):
        pl.load(path)
    assert pl.load(f"{path}:2.sm_90.ptx").target == ("sm_90",)
    with pytest.raises(pl.syntax.UnreadableFile, match=r"there is no such text; .*holds 3 PTX texts"):
        pl.load(f"{path}:4.sm_90.ptx")


def test_packed_by_lz4(tmp_path: Path) -> None:
    path = tmp_path / "a.fatbin"
    text = ptx(80)
    path.write_bytes(fatbin(entry(lz4(text), flags=0x2011, whole=len(text))))
    assert pl.load(path).source.text.encode() == text
    path.write_bytes(fatbin(entry(lz4(text), flags=0x2011, whole=len(text) - 1)))
    with pytest.raises(pl.syntax.UnreadableFile, match="is damaged, and cannot be unpacked"):
        pl.load(path)


def test_packed_by_zstandard(tmp_path: Path) -> None:
    path = tmp_path / "a.fatbin"
    packed = b"(\xb5/\xfd\x20\x04\x21\0\0ret;"  # one raw block
    path.write_bytes(fatbin(entry(packed, flags=0x8011, whole=4)))
    assert pl.load(path).source.text == "ret;"
    for damaged in (packed[:-1], b"?" + packed[1:]):
        path.write_bytes(fatbin(entry(damaged, flags=0x8011, whole=4)))
        with pytest.raises(pl.syntax.UnreadableFile, match="is damaged, and cannot be unpacked"):
            pl.load(path)


def test_a_text_of_more_bytes_than_any_has(tmp_path: Path) -> None:
    path = tmp_path / "a.fatbin"
    path.write_bytes(fatbin(entry(b"x", flags=0x8011, whole=1 << 60)))
    with pytest.raises(pl.syntax.UnreadableFile, match="would have 1,152,921,504,606,846,976 bytes"):
        pl.load(path)


def test_a_cubin_is_read_from_the_ptx_beside_it(tmp_path: Path) -> None:
    (tmp_path / "kernel.cubin").write_bytes(CUBIN)
    with pytest.raises(pl.syntax.UnreadableFile, match="holds no PTX, only machine code, if any"):
        pl.load(tmp_path / "kernel.cubin")
    (tmp_path / "kernel.ptx").write_bytes(ptx(80))
    assert pl.load(tmp_path / "kernel.cubin").source.name == str(tmp_path / "kernel.ptx")
    assert pl.load(tmp_path).target == ("sm_80",)


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_are_too_wrong(noise: bytes, at: int) -> None:
    whole = bytearray(fatbin(entry(lz4(ptx(80)), flags=0x2011, whole=len(ptx(80))), entry(ptx(90), 90)))
    whole[at : at + len(noise)] = noise
    try:
        found = fatbins.ptx_in(bytes(whole), "x")
    except pl.PtxloomError:
        return
    assert len(found) <= 10


class Compiled:
    """What a package keeps of a kernel."""

    def __init__(self, **held: object) -> None:
        self.__dict__ |= held


@pytest.mark.parametrize(
    "kernel",
    [
        Compiled(asm={"ptx": ptx(80).decode(), "cubin": b""}),
        Compiled(inspect_asm=lambda: {("float32",): ptx(80).decode()}),
        Compiled(inspect_asm=lambda: ptx(80).decode() + "\0"),
        Compiled(code_type="ptx", code=ptx(80), name="add"),
        Compiled(__ptx__=ptx(80).decode()),
    ],
)
def test_kernels_of_other_packages(kernel: Compiled) -> None:
    module = pl.load(kernel)
    assert list(module.functions) == ["add"]
    assert module.source.name.startswith(f"<{__name__.partition('.')[0]} ")


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (3, "path is 3; it must be a path, or hold PTX: `.asm"),
        (Compiled(asm={"cubin": b""}), "or hold PTX"),
        (Compiled(code_type="cubin", code=b"x"), "or hold PTX"),
        (Compiled(inspect_asm=lambda: {1: "a", 2: "b"}), "was compiled for 2 signatures; give one of them"),
        (SimpleNamespace(asm=None, name="k"), "path is namespace.*; it must be a path"),
    ],
)
def test_what_holds_no_ptx(kernel: object, says: str) -> None:
    with pytest.raises(pl.PtxloomError, match=says):
        pl.load(kernel)


@pytest.mark.parametrize("verb", ["inspect", "check", "parse", "graph", "fmt", "debug plan", "query ret"])
def test_every_verb_takes_compiled_files(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.so"
    path.write_bytes(CUBIN + fatbin(entry(ptx(80))))
    assert main([*verb.split(), str(path)]) == 0
    assert capsys.readouterr().out or verb == "check"


def test_standard_input_may_be_compiled(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(fatbin(entry(ptx(80))))))
    assert main(["query", "ret", "-", "--output-format", "concise"]) == 0
    assert capsys.readouterr().out.startswith("<stdin>:1.sm_80.ptx:4:")


def test_a_launch_file_may_name_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.so").write_bytes(CUBIN + fatbin(entry(ptx(80)), entry(ptx(90), 90)))
    launch = tmp_path / "launch.toml"
    launch.write_text('ptx = "a.so:2.sm_90.ptx"\nkernel = "add"\ngrid = 1\nblock = 32\n', encoding="utf-8")
    assert main(["run", str(launch)]) == 0
    launch.write_text('ptx = "a.so"\nkernel = "add"\ngrid = 1\nblock = 32\n', encoding="utf-8")
    assert main(["run", str(launch)]) == 2
    assert "holds 2 PTX texts: name one of" in capsys.readouterr().err


def test_no_compiled_file_is_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.so"
    data = CUBIN + fatbin(entry(ptx(80)))
    path.write_bytes(data)
    assert main(["fmt", "--write", str(path)]) == 2
    assert path.read_bytes() == data
    assert "only PTX files are rewritten" in capsys.readouterr().err


def test_a_name_that_no_file_can_have_is_a_sentence(tmp_path: Path) -> None:
    for name in ("x" * 300, "x" * 300 + ":1.ptx", "a\0b"):
        with pytest.raises(pl.PtxloomError, match=r"x: |cannot be read"):
            pl.load(tmp_path / name)
    (tmp_path / "folder.ptx").mkdir()
    with pytest.raises(pl.PtxloomError, match="folder"):
        pl.load(tmp_path)
