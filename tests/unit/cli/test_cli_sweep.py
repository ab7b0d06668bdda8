"""`ptxloom sweep`: what may vary, what comes of each point, and that a campaign goes on."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ptxloom.campaigns import Workers
from ptxloom.cli.launch_files.launch_file import table_of
from ptxloom.cli.launch_files.variations import BadVariation, axes, points, varied
from ptxloom.files.toolkits import find_nvcc

Run = Callable[..., Any]
SHOWN = Path(__file__).parents[3] / "examples"


def of_threads(count: int) -> Workers:
    """Threads in the place of processes, which would take seconds to start."""
    return Workers(lambda: ThreadPoolExecutor(count), count)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("hgemm.ptx", "hgemm.toml", "sgemm.cu"):
        shutil.copy(SHOWN / name, tmp_path)
    compiled = (SHOWN / "hgemm.toml").read_text(encoding="utf-8").replace("hgemm", "sgemm").replace(".ptx", ".cu")
    compiled = compiled.replace("float16", "float32").replace("grid = [2, 3]", "grid = [8, 12]")
    (tmp_path / "sgemm.toml").write_text(compiled.replace("block = 128", "block = [16, 16]"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ptxloom.cli.spreading.of_processes", of_threads)
    return tmp_path


def test_every_combination_is_a_point_and_some_vary_together() -> None:
    over = axes(["n/grid=64/1,128/2x2", "seed=0,7"])
    assert list(points(over)) == [
        {"n": "64", "grid": "1", "seed": "0"},
        {"n": "64", "grid": "1", "seed": "7"},
        {"n": "128", "grid": "2x2", "seed": "0"},
        {"n": "128", "grid": "2x2", "seed": "7"},
    ]
    assert list(points(axes([]))) == [{}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "write NAME=VALUE,VALUE"),
        ("n=", "write NAME=VALUE,VALUE"),
        ("=3", "write NAME=VALUE,VALUE"),
        ("n=1,,2", "is not a value for each of n"),
        ("n/m=1/2,3", "3 is not a value for each of n, m"),
        ("a b=3", "write NAME=VALUE,VALUE"),
    ],
)
def test_what_is_no_variation_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadVariation, match=says):
        axes([text])
    with pytest.raises(BadVariation, match="twice"):
        axes(["n=1", "n=2"])
    with pytest.raises(BadVariation, match="100,000 are the most"):
        axes([f"{name}={','.join(map(str, range(200)))}" for name in "abc"])


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("m", "64", ("args", 3, "value", 64)),
        ("A", "zeros:f16:192x96", ("args", 0, "zeros", {"dtype": "f16", "shape": [192, 96]})),
        ("A.seed", "9", ("args", 0, "random", {"shape": [192, 96], "dtype": "float16", "seed": 9})),
        ("A.shape", "64x96", ("args", 0, "random", {"shape": [64, 96], "dtype": "float16", "seed": 1})),
        ("A.dtype", "bf16", ("args", 0, "random", {"shape": [192, 96], "dtype": "bf16", "seed": 1})),
        ("grid", "4x5", ("grid", [4, 5])),
        ("shared_bytes", "1024", ("shared_bytes", 1024)),
        ("target", "sm_90", ("target", "sm_90")),
        ("seed", "7", ("grid", [2, 3])),
    ],
)
def test_what_may_vary(work: Path, name: str, value: str, found: tuple[Any, ...]) -> None:
    table = table_of("hgemm.toml")
    before = json.dumps(table)
    made: Any = varied("hgemm.toml", table, {name: value})
    for key in found[:-1]:
        made = made[key]
    assert made == found[-1]
    assert json.dumps(table) == before


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("BK", "32", "there is no argument or key of this name"),
        ("gridd", "32", "did you mean grid"),
        ("A.sed", "1", "the argument has no sed; it has dtype, high, low, seed, shape"),
        ("m.seed", "1", "the argument has no seed"),
        ("A.seed", "x", "x is not a number"),
        ("grid", "x", "is not of the form 2,3 or 2x3"),
        ("m", "nope", "'nope' is not an argument"),
        ("std", "c++17", "names no CUDA C"),
    ],
)
def test_names_and_values_that_mean_nothing_are_told(run: Run, work: Path, name: str, value: str, says: str) -> None:
    ran = run("sweep", "hgemm.toml", "--over", f"{name}={value}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"ptxloom: --over {name}: ")
    assert says in ran.err


def test_points_are_checked_profiled_and_kept(run: Run, work: Path) -> None:
    words = ("sweep", "hgemm.toml", "--over", "m/grid=192/2x3,64/2x1", "--over", "seed=0,7", "--campaign", "kept")
    ran = run(*words, "--jobs", "1", "--output-format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert ran.code == 1
    assert [row["outcome"] for row in rows] == ["right", "right", "wrong", "wrong"]  # C has rows that are never written
    assert int(rows[0]["instructions"]) == 3 * int(rows[2]["instructions"])
    kept = {path.name: path.read_bytes() for path in (work / "kept").iterdir()}
    again = run(*words, "--jobs", "1", "--output-format", "csv")
    assert (again.out, again.code) == (ran.out, 1)
    assert {path.name: path.read_bytes() for path in (work / "kept").iterdir()} == kept
    more = run(*words[:3], "m/grid=192/2x3", *words[4:], "--over", "A.seed=1,5", "--jobs", "1")
    assert more.code == 0
    assert "the least cost: m=192, grid=2x3, seed=0" in more.out


@pytest.mark.skipif(find_nvcc() is None, reason="nvcc is not installed")
def test_macros_and_flags_of_compilers_vary(run: Run, work: Path) -> None:
    text = (work / "sgemm.cu").read_text(encoding="utf-8")
    text = text.replace("constexpr int TILE = 16;", "#ifndef TILE\n#define TILE 16\n#endif")
    (work / "sgemm.cu").write_text(text, encoding="utf-8")
    together = "TILE/grid/block=16/8x12/16x16,8/16x24/8x8"
    ran = run(
        "sweep", "sgemm.toml", "--over", together, "--jobs", "1", "--output-format", "json", "--checks", "memcheck"
    )
    found = json.loads(ran.out)["points"]
    assert [one["outcome"] for one in found] == ["right", "right"]
    assert found[0]["costs"]["cost"] != found[1]["costs"]["cost"]
    ran = run("sweep", "sgemm.toml", "--over", "nvcc_flags=--maxrregcount=32", "--checks", "memcheck")
    assert ran.code == 0
    assert "did you mean TILE?" in run("sweep", "sgemm.toml", "--over", "TILEE=16").err
