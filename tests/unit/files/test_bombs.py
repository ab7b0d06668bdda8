"""Compiled files that are small and claim to hold much: refused in a sentence, in little memory and time."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import ptxloom as pl
from ptxloom.files.cubins import ptx_of
from ptxloom.files.packed import lz4
from unit.files.fatbin_writer import cubin, entry, fatbin, ptx

if TYPE_CHECKING:
    from types import FrameType

LIMITED: Final = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from ptxloom.cli import main
sys.exit(main(sys.argv[1:]))
"""
LIMIT: Final = 1 << 28
BLOCK: Final = 1 << 17


def said(path: Path, *words: str) -> str:
    """What a command says of a file that it cannot read: one line."""
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    command = [sys.executable, "-c", LIMITED, *(words or ("check",)), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), (done.returncode, done.stderr[-2000:])
    return done.stderr


def many_sections(content: bytes, count: int, name: bytes = b".nv_debug_ptx_txt") -> bytes:
    """A cubin in which many headings name one section."""
    spelled = name + b"\0"
    body = spelled + content
    heading = struct.pack("<IIQQQQIIQQ", 0, 1, 0, 0, 64 + len(spelled), len(content), 0, 0, 1, 0)
    names = struct.pack("<IIQQQQIIQQ", len(name), 1, 0, 0, 64, len(spelled), 0, 0, 1, 0)
    sizes = (64, 0, 0, 64, count + 1, count)
    head = struct.pack("<4s4B8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, 190, 1, 0, 0, 64 + len(body), 0, *sizes)
    return head + body + heading * count + names


def zeros_by_zstandard(size: int) -> bytes:
    """A frame of blocks of one byte that is repeated."""
    count, rest = divmod(size, BLOCK)
    assert rest == 0
    block = (BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b"a"
    last = (BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    return b"(\xb5/\xfd" + b"\x20\0" + block * (count - 1) + last


def test_many_headings_of_one_section(tmp_path: Path) -> None:
    path = tmp_path / "a.cubin"
    path.write_bytes(many_sections(ptx(80) + b" " * (2 << 20), 60_000))
    assert "holds no PTX" in said(path)


def test_many_headings_with_long_names(tmp_path: Path) -> None:
    path = tmp_path / "a.cubin"
    path.write_bytes(many_sections(b"", 60_000, b"a" * (2 << 20)))
    assert "holds no PTX" in said(path)


def test_one_section_that_is_named_once_is_read() -> None:
    assert ptx_of(many_sections(ptx(80), 1)) == ("sm_80", ptx(80))
    assert ptx_of(many_sections(ptx(80), 60)) is None


@pytest.mark.parametrize("letter", [b"\0", b"\n", b" ", b"\n "])
def test_a_section_of_blanks(tmp_path: Path, letter: bytes) -> None:
    path = tmp_path / "a.cubin"
    path.write_bytes(cubin(letter * (1 << 19)))
    assert "holds no PTX" in said(path)


@pytest.mark.parametrize("kind", [1, 2], ids=["PTX", "machine code"])
@pytest.mark.parametrize("by", ["zstandard", "lz4"])
def test_many_images_that_unpack_to_the_limit(tmp_path: Path, kind: int, by: str) -> None:
    if by == "lz4":
        packed = b"\x1fa\x01\0" + b"\xff" * ((LIMIT - 20) // 255) + b"\0"
        image = entry(packed, kind=kind, flags=0x2011, whole=LIMIT)
    else:
        image = entry(zeros_by_zstandard(LIMIT), kind=kind, flags=0x8011, whole=LIMIT)
    path = tmp_path / "a.fatbin"
    path.write_bytes(fatbin(*[image] * 40))
    assert "more than 536,870,912 bytes" in said(path)


def test_what_overlaps_what_it_makes_is_unpacked_in_few_steps() -> None:
    steps = 0

    def note(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal steps
        steps += 1
        return note

    packed = b"\x1fa\x01\0" + b"\xff" * 1000 + b"\0"
    sys.settrace(note)
    try:
        made = lz4.decompress(packed, 1 << 20)
    finally:
        sys.settrace(None)
    assert made == b"a" * (1 + 15 + 4 + 255_000)
    assert steps < 20_000


def test_an_array_that_does_not_fit_into_memory(tmp_path: Path) -> None:
    """A file of a terabyte that takes no room on the disk."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({1 << 40},), }}"
    with (tmp_path / "a.npy").open("wb") as file:
        start = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
        file.write(start)
        file.truncate(len(start) + (1 << 40))
    (tmp_path / "k.ptx").write_bytes(ptx(80))
    launch = tmp_path / "launch.toml"
    launch.write_text('ptx = "k.ptx"\nkernel = "add"\n[[args]]\nnpy = "a.npy"\n', encoding="utf-8")
    assert "memory" in said(launch, "run")
