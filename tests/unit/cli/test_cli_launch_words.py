"""A launch in words: the same as in a launch file; types by either name, fills, templates; anything else a sentence."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import ml_dtypes
import numpy as np
import pytest

from ptxloom.cli.arguments.launch_keys import FILLS
from ptxloom.cli.launch_files import arrays
from ptxloom.cli.launch_files.fills import NoFill, filled
from ptxloom.cli.launch_files.launch_file import read_launch

Run = Callable[..., Any]

ROOT = Path(__file__).parents[3]
HGEMM = str(ROOT / "examples" / "hgemm.ptx")
SHAPES = ("--grid", "2,3", "--block", "128")
ARRAYS = ("--arg", "A=normal:f16:192x96", "--arg", "B=normal:f16:96x128", "--arg", "C=zeros:f32:192x128")
NUMBERS = ("--arg", "192", "--arg", "128", "--arg", "96")
PRODUCT = ("--expect", "C = A @ B")


def test_words_say_what_the_launch_file_says(run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "c.npy"
    words = run("run", HGEMM, "--kernel", "hgemm", *SHAPES, *ARRAYS, *NUMBERS, *PRODUCT, "--save", f"C={saved}")
    assert words.code == 0, words
    assert words.out == run("run", str(ROOT / "examples" / "hgemm.toml")).out
    assert np.load(saved).shape == (192, 128)


def test_an_array_may_be_expected_to_equal_a_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("run", HGEMM, *SHAPES, *ARRAYS, *NUMBERS)
    assert run(*words, "--save", "C=right.npy").code == 0
    right = np.load("right.npy")
    same = run(*words, "--expect", "C = right.npy", "--rtol", "0", "--atol", "0")
    assert (same.code, "right.npy: equal in every bit" in same.out) == (0, True), same
    right[3, 5] += 1
    np.save("other.npy", right)
    other = run(*words, "--expect", "C=other.npy")
    assert (other.code, "1 of 24,576 elements" in other.out) == (1, True), other
    assert other.out.splitlines()[-1].endswith("--expect C=other.npy")
    lacking = run(*words, "--expect", "C=none.npy")
    assert (lacking.code, "none.npy" in lacking.err) == (2, True), lacking


@pytest.mark.parametrize("shape", ["f16[192,96]", "f16[192x96]", "f16[192, 96]:seed=1", "float16[ 192,96 ]"])
def test_a_shape_may_stand_in_brackets(run: Run, shape: str) -> None:
    others = ("--arg", f"A=normal:{shape}", *ARRAYS[2:])
    plain = run("run", HGEMM, "--kernel", "hgemm", *SHAPES, *ARRAYS, *NUMBERS, *PRODUCT)
    assert run("run", HGEMM, "--kernel", "hgemm", *SHAPES, *others, *NUMBERS, *PRODUCT).out == plain.out


def test_words_change_a_launch_file(run: Run) -> None:
    ran = run("run", str(ROOT / "examples" / "hgemm.toml"), "--arg", "B=zeros:float16:96x128", "--expect", "A = A * 1")
    assert ran.code == 0, ran
    assert "largest difference 0" not in ran.out
    assert ran.out.count("right: ") == 2
    narrow = run("run", str(ROOT / "examples" / "hgemm.toml"), "--grid", "1,3")
    assert narrow.code == 1
    assert "  pattern  columns 64 to 127\n" in narrow.out
    assert "zero, as where nothing was stored" in narrow.out
    record = json.loads(run("run", str(ROOT / "examples" / "hgemm.toml"), "--grid", "1", "--output-format", "json").out)
    assert record["comparisons"][0]["wrong"] > 20000


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "describe how to run it"),
        (("--block", "128"), "the number of args is 0; it must be 6, one for each parameter"),
        (("--kernel", "hgem", *NUMBERS), "--kernel is 'hgem'"),
        (("--grid", "2;3"), "'2;3' is not of the form 2,3 or 2x3"),
        (("--grid", "1,1,1,1", *ARRAYS, *NUMBERS), "whole numbers in brackets, 3 at most"),
        (("--grid", "0", *ARRAYS, *NUMBERS), "grid is 0"),
        (("--grid", "9" * 18, *ARRAYS, *NUMBERS), "grid"),
        (("--arg", "A=normal"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16:"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16:4x"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16:-4"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16[]"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16[4"), "lacks its type or its shape"),
        (("--arg", "A=normal:f16[4]x"), "lacks its type or its shape"),
        (("--arg", "A=norml:f16:4"), "is not an argument: it must be"),
        (("--arg", ""), "is not an argument: it must be"),
        (("--arg", "A="), "is not an argument: it must be"),
        (("--arg", "nothing.npy", *NUMBERS), "nothing.npy: no such file"),
        (("--arg", "normal:f17:4"), "has dtype = 'f17', which neither PTX nor NumPy"),
        (("--arg", "normal:f32:4:sede=1"), "holds 'sede', which means nothing; did you mean seed?"),
        (("--arg", "normal:f32:4:seed=x"), "where :seed=1, :low=-4"),
        (("--arg", "normal:f32:4:seed=-1"), "it must be a whole number from 0 up"),
        (("--arg", "integers:s8:4:low=5:high=2"), "the first must be the smaller"),
        (("--arg", "integers:s8:4:high=200"), "it must be from -128 to 127"),
        (("--arg", "uniform:f32:4:low=nan"), "the first must be the smaller"),
        (("--arg", "zeros:f32:1000000x1000000"), "4,000,000,000,000 for args[0].zeros of the launch file"),
        (("--arg", "zeros:f32:" + "x".join(["9" * 18] * 9)), "memory_limit"),
        (("--arg", "zeros:f32:0x" + "9" * 18), "memory_limit"),
        (("--arg", f"zeros:f32:{'x'.join('1' * 33)}"), "32 at most"),
        (("--arg", "A=1", "--arg", "A=2"), "args[1] has the name 'A', as args[0] has"),
        (("--arg", "x=" + "9" * 20), "it must be a number"),
        (("--arg", "C=zeros:f32:4", "--expect", "D = C"), "names 'D'; the arrays are C"),
        (("--arg", "C=zeros:f32:4", "--expect", "C = "), "does not name the array"),
        ((*ARRAYS, *NUMBERS, "--expect", "C = A @ A"), "cannot multiply matrices of shapes [192, 96] and [192, 96]"),
        ((*ARRAYS, *NUMBERS, "--expect", "C = C @ Z"), "`Z` is no argument"),
        ((*ARRAYS, *NUMBERS, *PRODUCT, *PRODUCT), "has the name 'C'"),
        ((*ARRAYS, *NUMBERS, *PRODUCT, "--rtol", "-1"), "it must be a number from 0 up"),
        ((*ARRAYS, *NUMBERS, *PRODUCT, "--atol", "nan"), "it must be a number from 0 up"),
        ((*ARRAYS, *NUMBERS, "--save", "D=d.npy"), "the arguments with a name are A, B, C"),
        ((*ARRAYS, *NUMBERS, "--save", "C"), "write NAME=FILE.npy"),
        (("--shared-bytes", "-1", *ARRAYS, *NUMBERS), "shared_bytes is -1"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(run: Run, words: tuple[str, ...], says: str) -> None:
    ran = run("run", HGEMM, *words)
    assert ran.code == 2, ran
    assert says.replace("--", "").replace("_", "-") in ran.err.replace("--", "").replace("_", "-"), ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("f16", np.float16), ("float16", np.float16), ("half", np.float16), ("f32", np.float32), ("tf32", np.float32),
        ("f64", np.float64), ("double", np.float64), ("bf16", ml_dtypes.bfloat16), ("bfloat16", ml_dtypes.bfloat16),
        ("e4m3", ml_dtypes.float8_e4m3fn), ("float8_e4m3fn", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2),
        ("e2m1", ml_dtypes.float4_e2m1fn), ("s8", np.int8), ("int8", np.int8), ("u8", np.uint8), ("b8", np.uint8),
        ("s32", np.int32), ("int32", np.int32), ("u64", np.uint64), ("b16", np.uint16), ("uint16", np.uint16),
        ("bool", np.bool_), ("complex64", np.complex64),
    ],
)  # fmt: skip
def test_types_have_the_names_of_ptx_and_of_numpy(name: str, dtype: Any) -> None:
    assert arrays.dtype_of(name) == np.dtype(dtype)


@pytest.mark.parametrize("name", ["f4", "f8", "i8", "u4", "s4", "b1", "pred", "texref", "f16x2", "object", "", "F16"])
def test_what_counts_bytes_or_is_no_number_is_no_type(name: Any) -> None:
    with pytest.raises(arrays.NoArray, match="neither PTX nor NumPy"):
        arrays.dtype_of(name)


@pytest.mark.parametrize("name", ["f16", "f64", "bf16", "e5m2", "e2m1", "s8", "u64", "bool", "int4", "complex64"])
@pytest.mark.parametrize("source", FILLS)
def test_every_fill_fills_every_type(name: str, source: str) -> None:
    dtype = arrays.dtype_of(name)
    for shape in ((8, 16), (), (0, 3)):
        made = filled(source, shape, dtype, {})
        assert (made.shape, made.dtype) == (shape, dtype)
        assert made.flags.c_contiguous
        same = filled(source, shape, dtype, {})
        assert made.tobytes() == same.tobytes()
    if source in {"random", "integers"} or (source == "normal" and dtype != np.bool_):
        other = filled(source, (64, 64), dtype, {"seed": 1})
        assert other.tobytes() != filled(source, (64, 64), dtype, {}).tobytes()


def test_fills_hold_what_they_say() -> None:
    f32 = np.dtype(np.float32)
    assert filled("arange", (2, 3), f32, {}).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert filled("ones", (2,), np.dtype(np.int8), {}).tolist() == [1, 1]
    for dtype in (f32, np.dtype(np.int64), np.dtype(np.uint8)):
        drawn = filled("integers", (1000,), dtype, {"low": 3, "high": 6})
        assert set(drawn.tolist()) == {3, 4, 5, 6}
    uniform = filled("uniform", (1000,), f32, {"low": -2, "high": 2})
    assert -2 <= uniform.min() < -1 < 1 < uniform.max() <= 2
    assert filled("random", (1000,), np.dtype(np.uint8), {}).max() > 250
    for wrong in ({"low": 0.5}, {"high": float("inf")}, {"low": 1 << 63, "high": 1 << 64}):
        with pytest.raises(NoFill):
            filled("integers", (2,), f32, wrong)


LIMITS = (
    -1,
    0,
    1,
    99999999,
    10**18 - 1,
    1 << 62,
    -1.5,
    -0.0,
    1e300,
    float("nan"),
    float("inf"),
    (1 << 64) - 1,
    -(1 << 63),
)


@pytest.mark.parametrize("source", ["uniform", "integers"])
@pytest.mark.parametrize("name", ["f16", "f64", "bf16", "s8", "u64", "s64", "bool", "complex64", "e2m1", "int4"])
def test_any_limits_are_kept_or_refused(source: str, name: str) -> None:
    dtype = arrays.dtype_of(name)
    kept = 0
    for low in LIMITS:
        for high in LIMITS:
            try:
                made = filled(source, (4,), dtype, {"low": low, "high": high})
            except NoFill:
                continue
            kept += 1
            if name in {"f64", "s8", "u64", "s64"}:
                ends = (float(low), float(high)) if name == "f64" else (low, high)
                assert all(ends[0] <= one <= ends[1] for one in made.tolist())
    assert 0 < kept < len(LIMITS) ** 2


KERNELS = sorted((ROOT / "tests" / "kernels" / "ptx").glob("*.ptx")) + sorted((ROOT / "examples").glob("*.ptx"))


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_template_is_a_launch_file_of_every_kernel(run: Run, tmp_path: Path, path: Path) -> None:
    """It parses, agrees with the schema, and holds an argument a parameter, of a size that is made at once."""
    schema = json.loads((ROOT / "docs" / "launch-file.schema.json").read_text(encoding="utf-8"))
    names = [line.split("(")[0].split()[-1] for line in path.read_text().splitlines() if ".entry" in line]
    for number, name in enumerate(names):
        target = tmp_path / f"{number}.toml"
        ran = run("run", "--init", str(path), "--kernel", name, "-o", str(target))
        assert ran.code == 0, ran
        jsonschema.validate(tomllib.loads(target.read_text(encoding="utf-8")), schema)
        launch = read_launch(str(target))
        assert (launch.kernel, launch.ptx.resolve()) == (name, path.resolve())


@pytest.mark.parametrize("name", ["reduce", "vector_add", "hgemm", "sgemm", "triton_matmul"])
def test_a_template_runs_where_its_numbers_stay_0(run: Run, tmp_path: Path, name: str) -> None:
    target = tmp_path / "launch.toml"
    assert run("run", "--init", str(ROOT / "examples" / f"{name}.ptx"), "-o", str(target)).code == 0
    ran = run("run", str(target))
    assert ran.code in {0, 1}, ran
    assert "warp instructions" in ran.out


def test_a_template_of_no_kernel_or_of_several_is_refused(run: Run, tmp_path: Path) -> None:
    several = tmp_path / "several.ptx"
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    several.write_text(head + ".visible .entry a() { ret; }\n.visible .entry b() { ret; }\n")
    assert "name one with --kernel: a, b" in run("run", "--init", str(several)).err
    assert run("run", "--init", str(several), "--kernel", "b").out.count('kernel = "b"') == 1
    assert "several kernels" in run("run", str(several), "--block", "32").err
    assert run("run", str(several), "--kernel", "a", "--block", "32").code == 0
    several.write_text(head)
    assert "holds no kernel" in run("run", "--init", str(several)).err


def test_the_schema_is_printed(run: Run) -> None:
    ran = run("run", "--schema")
    assert ran.code == 0
    assert ran.out == (ROOT / "docs" / "launch-file.schema.json").read_text(encoding="utf-8")


def test_a_folder_stands_for_the_ptx_in_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "cache" / "KV2"
    kept.mkdir(parents=True)
    (kept / "hgemm.ptx").write_text(Path(HGEMM).read_text(encoding="utf-8"), encoding="utf-8")
    for folder in ("cache", "cache/KV2"):
        assert "hgemm: grid 2 x 3" in run("run", folder, *SHAPES, *ARRAYS, *NUMBERS).out
        assert 'ptx = "cache/KV2/hgemm.ptx"' in run("run", "--init", folder).out
    (kept / "other.ptx").write_text("", encoding="utf-8")
    assert "holds several PTX files, such as cache/KV2/hgemm.ptx; name one" in run("run", "cache", *SHAPES).err
    (tmp_path / "empty").mkdir()
    assert "empty: this folder holds no PTX file" in run("run", "empty", *SHAPES).err
