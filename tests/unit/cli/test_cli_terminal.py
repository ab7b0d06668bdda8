"""What a file says never steers a terminal: no verb prints a control character that came from outside."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]

EVIL: Final = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e\x7f"
BYTES: Final = (104, *EVIL.encode(), *b"\nx\ty\n\0")
PTX: Final = f"""//{EVIL}
.version 8.0
.target sm_90
.address_size 64
.file 1 "src/{EVIL}.cu"
.pragma "{EVIL}";
.extern .func (.param .b32 done) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[{len(BYTES)}] = {{{", ".join(map(str, BYTES))}}};
.visible .entry k(.param .u64 out, .param .u64 in) .pragma "{EVIL}";
{{
\t.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
\t.shared .align 4 .b8 tile[512];
\t.loc 1 7 3
\tld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
\tmov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3;
\t.loc 1 8 3
\tmov.u32 %r2, tile; mad.lo.u32 %r2, %r1, 8, %r2;
\tst.shared.u32 [%r2], %r1; ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3;
\tst.shared.u32 [tile], %r1;
\t{{ .param .b64 a; .param .b64 b; .param .b32 c;
\tmov.u64 %rd4, text; cvta.global.u64 %rd4, %rd4;
\tst.param.b64 [a], %rd4; st.param.b64 [b], 0; call (c), vprintf, (a, b); }}
\tst.global.u32 [%rd1+4096], %r3; //{EVIL}
\tret;
}}
"""
WRONG: Final = (
    f'.version 9{EVIL}.0\n.target "{EVIL}"\n'
    f'.entry k{EVIL}() {{ add.f32 {EVIL}, b;\n.file 1 "{EVIL}"\n@{EVIL} ret{EVIL}; }}\n'
)
LAUNCH: Final = """ptx = "hostile.ptx"
kernel = "k"
block = 64
[[args]]
name = "\\u001b[31mout"
zeros = { shape = [64], dtype = "uint32" }
[[args]]
name = "in"
zeros = { shape = [64], dtype = "uint32" }
"""


def steering(text: str) -> list[str]:
    """The characters of a text that steer a terminal, each once."""
    return sorted({c for c in text if c not in "\n\t" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hostile.ptx").write_text(PTX, encoding="utf-8")
    (tmp_path / "wrong.ptx").write_text(WRONG, encoding="utf-8")
    (tmp_path / f"named{EVIL.replace('/', '')}.ptx").write_text(WRONG, encoding="utf-8")
    (tmp_path / "launch.toml").write_text(LAUNCH)
    np.save(tmp_path / "in.npy", np.zeros(64, np.uint32))
    return tmp_path


COMMANDS: Final = (
    *("check FILE", "check --select all FILE", "check --output-format concise FILE", "check --output-format json FILE"),
    *("check --output-format sarif FILE", "check --output-format github FILE", "inspect FILE", "parse FILE"),
    *("inspect --output-format json FILE", "parse --output-format json FILE", "parse --tree FILE", "query * FILE"),
    *("query --count * FILE", "query --output-format json * FILE", "graph FILE", "graph --output-format dot FILE"),
    *("graph --output-format json FILE", "graph --output-format svg FILE", "fmt --check FILE"),
    *("inspect --profile LAUNCH FILE", "explain FILE", "map FILE", "where FILE", "banks FILE", "run FILE"),
)
RUNS: Final = (
    *("run", "run --output-format json", "run --output-format concise", "run --output-format sarif"),
    *("run --output-format github", "run --profile", "run --trace st.shared", "run --trace hostile.cu:7"),
    *("run --checks racecheck,memcheck", "run --unchecked", "run --profile --output-format json"),
)


@pytest.mark.parametrize("file", ["hostile.ptx", "wrong.ptx", "named"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_verb_lets_it_through(run: Run, folder: Path, command: str, file: str) -> None:
    path = next(path for path in sorted(folder.iterdir()) if path.name.startswith(file))
    words = {"FILE": str(path), "LAUNCH": str(folder / "launch.toml")}
    ran = run(*(words.get(word, word) for word in command.split()))
    assert steering(ran.out) == steering(ran.err) == []


@pytest.mark.parametrize("command", RUNS)
@pytest.mark.parametrize("threads", [64, 32])
def test_no_run_lets_it_through(run: Run, folder: Path, command: str, threads: int) -> None:
    (folder / "launch.toml").write_text(LAUNCH.replace("64\n", f"{threads}\n", 1))
    ran = run(*command.split(), str(folder / "launch.toml"))
    assert ran.out + ran.err
    assert steering(ran.out) == steering(ran.err) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"k"', '"\\u001b[31mk"'),
        ('"hostile.ptx"', '"\\u001b[31m.ptx"'),
        ('"uint32"', '"\\u001b[31m"'),
        ("block", '"\\u001b[31m"'),
        ("64", '"\\u001b[31m"'),
    ],
)
def test_no_mistake_lets_it_through(run: Run, folder: Path, old: str, new: str) -> None:
    (folder / "launch.toml").write_text(LAUNCH.replace(old, new, 1))
    ran = run("run", str(folder / "launch.toml"))
    assert ran.code == 2
    assert steering(ran.out) == steering(ran.err) == []


def test_what_a_kernel_prints_keeps_its_lines_and_tabs(run: Run, folder: Path) -> None:
    text = PTX.replace("st.global.u32 [%rd1+4096], %r3;", "")
    (folder / "hostile.ptx").write_text(text, encoding="utf-8")
    ran = run("run", str(folder / "launch.toml"))
    assert "  x\ty\n" in ran.out
    assert "h␛]0;owned␇␛[2J␍" in ran.out


@pytest.mark.parametrize("command", ["fmt", "fmt --diff"])
def test_a_layout_keeps_every_character_but_on_a_terminal(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    file = str(folder / "hostile.ptx")
    assert "\x1b]0;owned" in run(*command.split(), file).out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    ran = run(*command.split(), "--color", "never", file)
    assert ran.out
    assert steering(ran.out) == []
