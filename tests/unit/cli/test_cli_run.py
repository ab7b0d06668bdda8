"""`ptxloom run`: right results are said to be right, wrong ones wrong, and a bad launch file is one sentence."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 by, .param .u32 n)
{
\t.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
\tmov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p bra END;
\tmul.wide.u32 %rd1, %r1, 4;
\tld.param.u64 %rd2, [in]; add.u64 %rd3, %rd2, %rd1; ld.global.f32 %f1, [%rd3];
\tld.param.f32 %f2, [by]; mul.f32 %f3, %f1, %f2;
\tld.param.u64 %rd4, [out]; add.u64 %rd5, %rd4, %rd1; st.global.f32 [%rd5], %f3;
END:
\tret;
}
"""
LAUNCH = """ptx = "scale.ptx"
kernel = "scale"
grid = 1
block = 64
[[args]]
name = "out"
zeros = { shape = [48], dtype = "float32" }
save = "out.npy"
[[args]]
name = "in"
npy = "in.npy"
[[args]]
value = 2.0
[[args]]
value = 48
[[compare]]
array = "out"
equals = "wanted.npy"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = np.random.default_rng(3).standard_normal(48).astype(np.float32)
    np.save(tmp_path / "in.npy", values)
    np.save(tmp_path / "wanted.npy", 2 * values)
    (tmp_path / "scale.ptx").write_text(PTX)
    (tmp_path / "launch.toml").write_text(LAUNCH)
    return tmp_path


def test_a_right_result_is_clean_and_saved(run: Run, folder: Path) -> None:
    ran = run("run", str(folder / "launch.toml"))
    assert ran.code == 0, ran
    assert "no element differs" in ran.out
    assert "no hazards" in ran.out
    np.testing.assert_array_equal(np.load(folder / "out.npy"), np.load(folder / "wanted.npy"))


def test_an_empty_array_is_one_that_nobody_may_read(run: Run, folder: Path) -> None:
    path = folder / "launch.toml"
    path.write_text(LAUNCH.replace("zeros", "empty"))
    clean = run("run", str(path), "--checks", "initcheck:global")
    assert clean.code == 0, clean
    path.write_text(LAUNCH.replace('npy = "in.npy"', 'empty = { shape = 48, dtype = "float32" }'))
    ran = run("run", str(path), "--checks", "initcheck:global", "--output-format", "json")
    assert ran.code == 1
    assert [h["rule"] for h in json.loads(ran.out)["hazards"]] == ["initcheck.uninitialised"]


def test_a_wrong_result_is_a_finding(run: Run, folder: Path) -> None:
    wanted = np.load(folder / "wanted.npy")
    wanted[7] += 1
    np.save(folder / "wanted.npy", wanted)
    ran = run("run", str(folder / "launch.toml"), "--output-format", "json")
    assert ran.code == 1
    (comparison,) = json.loads(ran.out)["comparisons"]
    assert not comparison["passed"]
    assert (comparison["wrong"], comparison["total"]) == (1, 48)
    assert comparison["first"]["index"] == [7]
    assert comparison["first"]["wanted"] == wanted[7]


def test_a_fault_is_a_finding_and_the_process_lives(run: Run, folder: Path) -> None:
    (folder / "launch.toml").write_text(LAUNCH.replace("value = 48", "value = 64"))
    ran = run("run", str(folder / "launch.toml"))
    assert ran.code == 1
    assert "out of bounds" in ran.out
    assert "scale.ptx:9:" in ran.out


def test_a_product_is_compared_within_its_tolerance(run: Run, folder: Path) -> None:
    shapes = {"in": (1, 48), "factor": (48, 48)}
    np.save(folder / "in.npy", np.ones(shapes["in"], np.float32))
    np.save(folder / "factor.npy", 2 * np.eye(48, dtype=np.float32))
    text = LAUNCH.replace("shape = [48]", "shape = [1, 48]")
    text = text.replace('array = "out"\nequals = "wanted.npy"', 'expect = "out = in_ @ factor"')
    # the second factor is not a parameter of the kernel, so the array that is compared with stands in for it
    ran = run("run", _write(folder, text))
    assert ran.code == 2
    assert "`in_` is no argument" in ran.err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('ptx = "scale.ptx"', 'ptx = "absent.ptx"', "absent.ptx: there is no such file"),
        ('kernel = "scale"', 'kernel = "scal"', "scal"),
        ('kernel = "scale"', "", "needs kernel"),
        ("grid = 1", "grid = 0", "grid is 0"),
        ("block = 64", "block = 4096", "block"),
        ("block = 64", "blok = 64", "'blok'"),
        ("value = 48", 'value = "48"', "must be a number"),
        ("value = 48", "", "exactly one of"),
        ('npy = "in.npy"', 'npy = "none.npy"', "none.npy"),
        ('dtype = "float32"', 'dtype = "float33"', "'float33'"),
        ("shape = [48]", "shape = [-1]", "whole numbers"),
        ("shape = [48]", "shape = [999999999999999]", "3,999,999,999,999,996 for args[0].zeros of the launch file"),
        ("shape = [48]", "shape = [0, 1180591620717411303424]", "args[0]"),
        ("shape = [48]", "shape = [1024, 1180591620717411303424]", "args[0].zeros has shape = [1024, "),
        ('array = "out"', 'array = "outt"', "'outt'"),
        ('equals = "wanted.npy"', "", "either expect"),
        ('equals = "wanted.npy"', 'product = ["in", "in"]', 'is written expect = "C = A @ B" now'),
        ('equals = "wanted.npy"', 'equals = "wanted.npy"\nrelative = 0.1', "is rtol now"),
        ('equals = "wanted.npy"', 'equals = "wanted.npy"\nrtol = -1', "rtol = -1"),
        ('array = "out"\nequals = "wanted.npy"', 'expect = "out = A @"', "does not name the array"),
        ('array = "out"\nequals = "wanted.npy"', 'expect = "out = 2 * A[0]"', "means nothing here"),
        ("[[args]]\nvalue = 48", "", "it must be 4, one for each parameter"),
        ("kernel =", "kernel ==", "not TOML"),
    ],
)
def test_a_bad_launch_file_is_one_sentence(run: Run, folder: Path, old: str, new: str, says: str) -> None:
    assert old in LAUNCH
    ran = run("run", _write(folder, LAUNCH.replace(old, new)))
    assert ran.code == 2, ran
    (line,) = ran.err.splitlines()
    assert says in line


def test_ptx_that_does_not_check_is_refused(run: Run, folder: Path) -> None:
    (folder / "scale.ptx").write_text(
        PTX.replace("ret;", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%rd1]; ret;")
    )
    ran = run("run", str(folder / "launch.toml"))
    assert ran.code == 2
    assert "vector-length" in ran.out
    assert "--unchecked" in ran.err


def _write(folder: Path, text: str) -> str:
    path = folder / "launch.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["hgemm", "triton_matmul"])
def test_the_examples_are_right(run: Run, name: str) -> None:
    ran = run("run", str(Path(__file__).parents[3] / "examples" / f"{name}.toml"))
    assert ran.code == 0, ran
    assert "right: C, 192 x 128 float32" in ran.out


BROKEN = str(Path(__file__).parents[3] / "examples/broken/missing_barrier.toml")


def test_checks_choose_the_tools_and_findings_give_one(run: Run) -> None:
    assert run("run", BROKEN).code == 0
    ran = run("run", BROKEN, "--checks", "memcheck,racecheck")
    assert ran.code == 1
    assert ran.out.count("[racecheck.read-after-write]") == 1
    assert re.search(r"missing_barrier\.cu:8, inlined at \S*missing_barrier\.cu:17\n", ran.out)
    every = json.loads(run("run", BROKEN, "--checks", "all", "--output-format", "json").out)
    assert {h["tool"] for h in every["hazards"]} == {"racecheck", "initcheck"}


def test_a_tool_that_is_none_cannot_run(run: Run) -> None:
    ran = run("run", BROKEN, "--checks", "memcheck,lint")
    assert (ran.code, ran.out) == (2, "")
    assert "--checks is 'lint'; it must be a list of memcheck, " in ran.err


def test_findings_of_a_run_come_in_every_format(run: Run) -> None:
    checks = ("run", BROKEN, "--checks", "racecheck")
    assert run(*checks, "--output-format", "concise").out.endswith("[racecheck.read-after-write]\n")
    assert run(*checks, "--output-format", "github").out.startswith(
        "::error title=ptxloom (racecheck.read-after-write)"
    )
    log = json.loads(run(*checks, "--output-format", "sarif").out)
    assert [r["ruleId"] for r in log["runs"][0]["results"]] == ["racecheck.read-after-write"]


PRINTING = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 form[12] = {27, 91, 51, 49, 109, 9, 37, 53, 100, 13, 10, 0};
.visible .entry scale(.param .u64 out)
{
\t.reg .b64 %rd<3>; .local .align 8 .b8 room[8]; .reg .b32 %r;
\tmov.u32 %r, %tid.x; st.local.u32 [room], %r; mov.u64 %rd1, room; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, form;
\t{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd2; st.param.b64 [v], %rd1;
\tcall (r), vprintf, (f, v); }
\tret;
}
"""


def test_what_a_kernel_prints_cannot_steer_the_terminal(run: Run, folder: Path) -> None:
    (folder / "scale.ptx").write_text(PRINTING)
    path = _write(folder, LAUNCH[: LAUNCH.index('[[args]]\nname = "in"')].replace("block = 64", "block = 2"))
    ran = run("run", path)
    assert "\x1b" not in ran.out
    assert "  \N{SYMBOL FOR ESCAPE}[31m\t    0\N{SYMBOL FOR CARRIAGE RETURN}\n" in ran.out
    assert json.loads(run("run", path, "--output-format", "json").out)["output"].startswith("\x1b[31m\t    0\r\n")
    cut = run("run", path, "--printf-bytes", "5")
    assert "\n  ... and more: the output of 2 calls of printf is cut (--printf-bytes)\n" in cut.out


def test_limits_are_sizes_and_named_as_they_were_typed(run: Run, folder: Path) -> None:
    path = str(folder / "launch.toml")
    assert run("run", path, "--memory-limit", "64M", "--heap-bytes", "1k", "--stack-bytes", "0").code == 0
    ran = run("run", path, "--memory-limit", "0K")
    assert ran.code == 2
    said = "--memory-limit is 0; it must be at least 192 bytes: 192 for args[0].zeros of the launch file"
    assert ran.err == f"ptxloom: {said}\n"
    assert "--threads is 1000000; it must be 1 to 1024" in run("run", path, "--threads", "1000000").err
    assert "is not a size; write bytes, or 64K, 8M, 2G" in run("run", path, "--memory-limit", "much").err


def test_hazards_have_pages(run: Run) -> None:
    assert run("explain", "synccheck.divergent").out.startswith("# synccheck.divergent\n")
    listed = run("explain", "racecheck").out.splitlines()
    assert any(line.startswith("racecheck.read-after-write ") for line in listed)
    assert "did you mean `memcheck.misaligned`?" in run("explain", "memcheck.missaligned").err
