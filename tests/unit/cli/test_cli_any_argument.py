"""Whatever stands on a command line or in a launch file, a command ends with 0, 1 or 2 and says why in a sentence.

Each verb is called as it should be, then with every word left out in turn, and with every word replaced by each of many
that mean nothing there (or something else than is wanted).
"""

import io
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ptxloom.campaigns import Workers
from ptxloom.cli.command_line import VERBS

Run = Callable[..., Any]

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	st.global.u32 [%rd1], %r1;
	ret;
}
"""
LAUNCH = """ptx = "a.ptx"
kernel = "copy"
shared_bytes = 64
[[args]]
zeros = { shape = [4], dtype = "int32" }
"""
REFERENCE = """
import numpy as np

shapes = [(4,)]
data = ()
updated = ("p",)


def inputs(seed, shape):
    return {"p": np.arange(4, dtype=np.int32)}


def reference(p):
    return {"p": p}
"""
MMA = "m16n8k16.row.col.f32.f16.f16.f32"

GOOD = {
    "inspect": ("a.ptx", "--profile", "l.toml", "--target", "sm_90", "--ptx-version", "8.0", "-o", "out"),
    "check": ("a.ptx", "--output-format", "json", "--target", "sm_90", "--select", "missing-*", "--ignore", "needs-*"),
    "parse": ("a.ptx", "--function", "*", "--lines", "1-9", "--pattern", "ld", "--output-format", "json"),
    "query": ("ld.*", "a.ptx", "--function", "*", "--lines", "1-50", "--output-format", "csv"),
    "graph": ("a.ptx", "--function", "*", "--output-format", "dot"),
    "fmt": ("a.ptx", "--color", "never"),
    "diff": ("a.ptx", "a.ptx", "--all", "--output-format", "json"),
    "explain": ("missing-trans",),
    "examples": ("here",),
    "schema": ("check",),
    "map": (f"mma.{MMA}", "--operand", "a", "--output-format", "concise"),
    "where": ("ldmatrix.m8n8.x4.b16", "--lane", "3", "--register", "1", "--bit", "16"),
    "where ": ("ldmatrix.m8n8.x4.b16", "--row", "3", "--column", "1", "--matrix", "0"),
    "banks": ("ldmatrix.m8n8.x4.b16", "--pitch", "128", "--swizzle", "3,3,3"),
    "banks ": ("ld.shared.v4.b32", "--stride", "16"),
    "banks  ": ("ld.shared.b32", "--addresses", ",".join(str(4 * lane) for lane in range(32))),
    "swizzle": ("16x16", "f16", "cp.async", "--pitch", "64"),
    "atom": ("SM75_U16x8_LDSM_T", "--output-format", "concise"),
    "atom ": ("--mma", MMA, "--operand", "a", "--major", "m", "--element", "f16", "--target", "sm_90"),
    "atom  ": ("--mma", MMA, "--blas", "TN"),
    "descriptor": ("0x4000004000010040", "--tile", "64x16", "--type", "f16", "--major", "k", "--generation", "wgmma"),
    "descriptor ": ("--tile", "64x64", "--swizzle", "128B", "--start-address", "0x400", "--output-format", "json"),
    "tensormap": ("00" * 8 + "10" + "03" + "00" * 118, "--coordinate", "0,0", "--shared-address", "128"),
    "tensormap ": (
        "--data-type",
        "FLOAT16",
        "--global-address",
        "0",
        "--global-dim",
        "64,8",
        "--global-strides",
        "128",
        "--box-dim",
        "64,8",
        "--element-strides",
        "1,1",
        "--oob-fill",
        "nan",
        "--swizzle",
        "128B",
    ),
    "tensormap  ": (
        "--data-type",
        "INT32",
        "--global-dim",
        "8,8,8",
        "--channels-per-pixel",
        "8",
        "--offsets",
        "0",
        "--pixels-per-column",
        "4",
        "--pixel-box-lower-corner",
        "-1",
        "--pixel-box-upper-corner",
        "0",
    ),
    "emit": ("SM75_U16x8_LDSM_T", "--language", "cuda", "--swizzle", "3,3,3"),
    "web": (),
    "run": ("l.toml", "--checks", "memcheck", "--threads", "1", "--timeout", "9", "--seed", "1"),
    "run ": ("l.toml", "--trace", "8", "--trace-blocks", "0", "--trace-warps", "0", "--trace-first", "0"),
    "run  ": ("l.toml", "--trace", "ld", "--trace-limit", "1", "--trace-type", "f16", "--trace-operand", "a"),
    "run   ": ("l.toml", "--trace", "ld", "--lanes", "0-7,16", "--when", "%r1 > 5 and %tid.x == 0"),
    "shared": ("l.toml", "--at", "8", "--cta", "0", "--type", "f16", "--rows", "3", "--offset", "0"),
    "shared ": ("l.toml", "--values", "--colour-by", "chunk", "--output-format", "svg"),
    "conform": ("abs.s*", "--list", "--full", "--target", "sm_90a", "--ptx-version", "9.0", "--cases", "32"),
    "fuzz": ("add.*", "--case", "7", "--programs", "1", "--jobs", "1", "--size", "2", "--against", "order"),
    "judge": ("a.ptx", "--against", "r.py", "--seeds", "1", "--first-seed", "5"),
    "judge ": ("a.ptx", "--against", "r.py", "--kernel", "copy", "--grid", "1", "--target", "sm_90", "--seeds", "1"),
    "sweep": ("l.toml", "--over", "shared_bytes=64,0", "--checks", "memcheck", "--timeout", "9", "--jobs", "1"),
    "why": ("l.toml", "--try", "--threads", "1", "--timeout", "9"),
    "debug": ("plan", "a.ptx", "--function", "*", "--target", "sm_90", "--checks", "racecheck"),
    "debug ": ("asm", "a.ptx", "--part"),
    "doctor": ("--output-format", "json"),
    "exec": ("--device", "sm_80", "--checks", "memcheck", "--on-hazard", "end", "--", "true"),
    "mcp": ("folder", "--trust", "--timeout", "5", "--memory-limit", "1G"),
    "lsp": ("--stdio", "--target", "sm_90", "--ptx-version", "8.0", "--select", "missing-*"),
}
BAD = (
    *("", "-", "--", " ", "-1", "0", "99", "nan", "1e999", "9" * 30, "1" * 5000, "a" * 5000, "3-1", "３", "1_0"),
    *("3,3", "3,3,3,3", "-3,3,3", "9,,9", ",", "64x", "1000000x1000000", "1,2,3,4", f"k.cu:{'1' * 5000}"),
    *("ä", "\0", "\ud800", "\x1b[31m", "%s", "(", "[", "*", "\\", "'", "sm_", "sm_-1", "9.", "...."),
    *("m8n8", "ldmatrix", "add.s32", "tcgen05.mma", "f16", "all", "nope", "--nope", "-z", "--output-format=x"),
    *(".", "/nope/x", "folder", "binary", "empty", "a.ptx", "l.toml", "/dev/null"),
)


def serve_nobody(settings: object) -> int:
    """In place of the language server, which would wait for an editor."""
    return 0


def of_threads(count: int) -> Workers:
    """In place of processes, which take a second to start."""
    return Workers(lambda: ThreadPoolExecutor(min(count, 2)), min(count, 2))


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.ptx").write_text(PTX, encoding="utf-8")
    (tmp_path / "l.toml").write_text(LAUNCH, encoding="utf-8")
    (tmp_path / "r.py").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ptxloom.lsp.features.serve", serve_nobody)
    monkeypatch.setattr("ptxloom.cli.verbs.tooling.mcp.serve", serve_nobody)
    monkeypatch.setattr("ptxloom.cli.spreading.of_processes", of_threads)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PTX.encode())))
    return tmp_path


def spoiled(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words with one left out, doubled, or replaced."""
    for place, word in enumerate(words):
        yield (*words[:place], *words[place + 1 :])
        if not word.startswith("--"):
            yield from ((*words[:place], bad, *words[place + 1 :]) for bad in BAD)
        else:
            yield (*words, word)
            yield (*words, f"{word}=nope")
    yield from ((*words, bad) for bad in ("extra", "--nope", "-z", "-o", "--color", "--color=pink", "--target=sm_90"))


def test_every_verb_is_tried() -> None:
    assert {verb.strip() for verb in GOOD} == set(VERBS)


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("verb", GOOD)
def test_no_argument_brings_a_verb_down(run: Run, work: Path, verb: str) -> None:
    assert run(verb.strip(), *GOOD[verb]).code in ({2} if verb == "why" else {0, 1})  # nothing there can be judged
    for words in spoiled(GOOD[verb]):
        ran = run(verb.strip(), *words)
        if verb == "exec" and ran.code and not ran.err:
            continue  # the exit status of a program that there is, such as `[`
        assert ran.code in {0, 1, 2}, words
        assert ran.code != 2 or says_why(ran.err) or (verb == "why" and "judged" in ran.out), (words, ran.err)
        assert ran.out or ran.err or "-o" in words or verb in {"exec", "fmt", "lsp", "mcp"}, words
        assert "\x1b" not in ran.out + ran.err, words


def says_why(talk: str) -> bool:
    """Whether a line that starts with the program's name says something that is not an exception of Python's."""
    said = [line for line in talk.splitlines() if re.match(r"ptxloom( \w+)?: .", line)]
    return bool(said) and not re.search(r"Error\b|Traceback|Errno|object at 0x", talk)


VALUES = (
    *("true", "-1", "0", "7", "1.5", "nan", "1e999", "9" * 25, '""', '"x"', '"../x"', '"\\u0000"', '"a.ptx"'),
    *("[]", "[[]]", "[0]", "[1, 2, 3, 4]", "[-1]", '["x"]', "{}", "{ shape = [4] }", "[{}]", "2020-01-01"),
    *('{ shape = [-1], dtype = "f" }', '{ shape = ["x"] }', '{ shape = [1e9], dtype = "float32" }', "{ seed = -1 }"),
    *('{ shape = [4], dtype = "object" }', '{ shape = 4, seed = "x" }', "{ shape = 4, seed = -1 }", "{ what = 1 }"),
    *('{ shape = [99999999, 99999999], dtype = "float64" }', '{ shape = [4], dtype = "float4_e2m1fn" }'),
)
KEYS = ("ptx", "kernel", "grid", "block", "cluster", "shared_bytes", "target", "args", "compare", "what")
ENTRIES = ("random", "zeros", "npy", "value", "name", "save")
COMPARED = ("array", "equals", "expect", "rtol", "atol")


def launches() -> Iterator[str]:
    """Launch files with one thing in them that means nothing, or something else."""
    plain = 'ptx = "a.ptx"\nkernel = "copy"\n'
    for value in VALUES:
        for key in KEYS:
            kept = "".join(line for line in plain.splitlines(keepends=True) if not line.startswith(key))
            yield f"{key} = {value}\n{kept}" + ("" if key == "args" else LAUNCH.removeprefix(plain))
        for entry in ENTRIES:
            other = "" if entry in {"random", "zeros", "npy", "value"} else "zeros = { shape = [4] }\n"
            yield f"{plain}[[args]]\n{entry} = {value}\n{other}"
        for key in COMPARED:
            yield f'{LAUNCH}name = "A"\n[[compare]]\n{key} = {value}\n' + (
                "" if key in {"expect", "array"} else 'expect = "A = A @ A"\n'
            )
    yield from ("[", "ptx", "a = " + "[" * 3000, "grid = " + "1" * 5000, "\ufeff", "ptx = 1\nptx = 2")


def test_no_launch_file_brings_run_down(run: Run, work: Path) -> None:
    (work / "l.toml").write_text(LAUNCH, encoding="utf-8")
    assert run("run", "l.toml").code == 0
    for number, text in enumerate(launches()):
        path = work / f"{number}.toml"
        path.write_text(text, encoding="utf-8")
        ran = run("run", str(path), "--timeout", "9")
        assert ran.code in {0, 1, 2}, text
        assert ran.code != 2 or says_why(ran.err), (text, ran.err)
