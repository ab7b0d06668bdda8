"""How Vim colours PTX by our files, asked of Vim itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ptxloom.isa.load import instruction_classes
from ptxloom.isa.pages.words import directives, special_names

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parents[3] / "editors" / "vim"
TEXT = """\
.version 9.0 // to the end
.visible .entry k(.param .u64 out) /* over
lines */
{ .reg .b32 %r<4>; .reg .v2 .f32 add2;
$L__BB0_1: @!%p1 ld.shared::cta.v2.u32 {%r1, %r2}, [%rd1+0x10];
mov.u32 %r1, %tid.x; mov.b32 %r2, 0f3F800000; mov.f64 d, 1.5e3; add.s32 %r1, %r1, WARP_SZ;
.file 1 "a \\" // .reg", 5
red.global.add.u32 [a], 12U;
mma.sync.aligned.m8n8k4.row.col.f32.bf16x2.e4m3.f32 a; .shared .align 16 .b8 b[4];
"""
SCRIPT = """
let lines = []
for at in range(1, line('$'))
  call add(lines, map(range(1, col([at, '$']) - 1), 'synIDattr(synID(at, v:val, 1), "name")'))
endfor
call writefile([&filetype, json_encode(lines)], 'found')
qall!
"""


@pytest.fixture
def vim() -> str:
    """Vim, with all that colours need."""
    found = shutil.which("vim")
    if found is None:
        pytest.skip("Vim is not installed")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if "+syntax" not in told or "+eval" not in told:
        pytest.skip("this Vim has no syntax files")
    return found


def coloured(vim: str, folder: Path, text: str) -> list[list[str]]:
    """The group of each character, line by line."""
    (folder / "k.ptx").write_text(text, encoding="utf-8")
    (folder / "ask.vim").write_text(SCRIPT, encoding="utf-8")
    start = f"set nocompatible runtimepath^={FOLDER} | filetype on | syntax on"
    command = [vim, "-u", "NONE", "-i", "NONE", "-n", "-es", "--cmd", start, "k.ptx", "-S", "ask.vim"]
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    filetype, groups = (folder / "found").read_text(encoding="utf-8").splitlines()
    assert filetype == "ptx"
    found: list[list[str]] = json.loads(groups)
    return found


def test_every_word_has_its_colour(vim: str, tmp_path: Path) -> None:
    groups = coloured(vim, tmp_path, TEXT)
    lines = TEXT.splitlines()

    def group(line: int, piece: str) -> str:
        start = lines[line].index(piece)
        [found] = {one.removeprefix("ptx") for one in groups[line][start : start + len(piece)]}
        return found

    expected = {
        0: {".version": "Directive", "9.0": "Float", "// to the end": "Comment"},
        1: {".visible": "Directive", ".entry": "Directive", "k": "Function", ".param": "Directive", ".u64": "Type"},
        2: {"lines */": "Comment"},
        3: {".reg": "Directive", "%r": "Register", "4": "Number", ".v2": "Qualifier", ".f32": "Type", "add2": ""},
        4: {"$L__BB0_1:": "Label", "@!": "Guard", "%p1": "Register", "ld": "Opcode", ".shared::cta": "Qualifier"},
        5: {"%tid": "Special", "0f3F800000": "Float", "1.5e3": "Float", "add": "Opcode", "WARP_SZ": "Constant"},
        6: {".file": "Directive", '"a \\" // .reg"': "String", "5": "Number"},
        7: {"red": "Opcode", ".global": "Qualifier", ".add": "Qualifier", ".u32": "Type", "12U": "Number"},
        8: {".m8n8k4": "Qualifier", ".bf16x2": "Type", ".e4m3": "Type", ".shared": "Directive", ".b8": "Type"},
    }
    found = {line: {piece: group(line, piece) for piece in pieces} for line, pieces in expected.items()}
    assert found == expected
    assert group(4, "0x10") == "Number"


def test_every_word_of_the_data_is_known(vim: str, tmp_path: Path) -> None:
    kinds: dict[str, Iterable[str]] = {
        "ptxOpcode": sorted(instruction_classes()),
        "ptxDirective": [f".{word}" for word in sorted(directives())],
        "ptxSpecial": sorted(special_names()),
    }
    wanted = [(word, kind) for kind, words in kinds.items() for word in words]
    groups = coloured(vim, tmp_path, "".join(f"{word} x\n" for word, _ in wanted))
    assert [(word, {*line[: len(word)]}) for (word, _), line in zip(wanted, groups, strict=True)] == [
        (word, {kind}) for word, kind in wanted
    ]
