"""A file may have been named by anybody: no name begins a line of what is printed, whatever the verb and the format."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PLANTED = "PLANTED: 0 errors"
BREAKS = {"line feed": "\n", "carriage return": "\r", "next line": "\x85", "separator": "\u2028", "form feed": "\x0c"}
WRONG = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { bar.sinc 0; ret; }\n"
RIGHT = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n\tret;\n}\n"
TEXTS = {
    "wrong.ptx": WRONG,
    "right.ptx": RIGHT,
    "untidy.ptx": RIGHT.replace("\t", "   "),
    "empty.ptx": "",
    "binary.ptx": "a\0b",
    "elf.ptx": "\x7fELF",
    "bad.toml": "[",
    "key.toml": "what = 1",
    "wrong.npy": "no array",
}
FORMATS = ("full", "concise", "github", "gitlab", "junit", "json", "sarif")
COMMANDS = (
    *(("check", "--output-format", one) for one in FORMATS),
    ("check", "--statistics"),
    ("check", "--fix"),
    ("check", "--diff", "--unsafe-fixes"),
    ("check", "-v"),
    ("check", "--config"),
    ("fmt",),
    ("fmt", "--check"),
    ("fmt", "--diff"),
    ("parse",),
    ("parse", "--tree"),
    ("inspect",),
    ("graph",),
    ("query", "--opcode", "ret"),
    ("run", "--grid", "1"),
    ("run", "--init"),
    ("run",),
    ("why",),
    ("shared",),
    ("banks",),
    ("examples",),
    ("tensormap",),
    ("debug",),
    ("nonsense",),
    ("exec", "--"),
)


@pytest.mark.parametrize("kind", BREAKS)
@pytest.mark.parametrize("name", [*TEXTS, "absent.ptx", "folder"])
def test_no_name_begins_a_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(f"a{BREAKS[kind]}{PLANTED} {name}")
    for command in COMMANDS:
        if name in TEXTS:
            path.write_bytes(TEXTS[name].encode("latin-1"))
        elif name == "folder":
            path.mkdir(exist_ok=True)
        ran = run(*command, str(path))
        lines = itertools.chain(ran.out.splitlines(), ran.err.splitlines())
        assert not [line for line in lines if line.lstrip().startswith("PLANTED")], (command, ran)


def test_what_a_launch_file_names_begins_no_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(RIGHT)
    named = f"a\\n{PLANTED}"
    array = '[[args]]\nname = "A"\nzeros = { shape = [1] }'
    for text in (
        f'ptx = "{named}"\nkernel = "k"',
        f'ptx = "k.ptx"\nkernel = "{named}"',
        f'ptx = "k.ptx"\nkernel = "k"\n[[args]]\nnpy = "{named}"',
        f'ptx = "k.ptx"\nkernel = "k"\n[[args]]\nzeros = {{ shape = [1] }}\nsave = "{named}"',
        f'ptx = "k.ptx"\nkernel = "k"\n[[args]]\nzeros = {{ shape = [1] }}\nsave = "{named}/b.npy"',
        f'ptx = "k.ptx"\nkernel = "k"\n{array}\n[[compare]]\narray = "A"\nequals = "{named}"',
        f'ptx = "k.ptx"\nkernel = "k"\n"{named}" = 1',
    ):
        Path("l.toml").write_text(text)
        ran = run("run", "l.toml")
        assert ran.code == 2
        assert "\nPLANTED" not in ran.err
