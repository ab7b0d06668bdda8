"""`ptxloom judge`: ways in which benchmarks were deceived are refused by their names, honest kernels pass."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judge.rewarded import HACKED, HACKED_PYTHON, HONEST, HONEST_PYTHON, PACKAGES, SAXPY
from ptxloom.judge import Limits, Order, Verdict, verdict_of

EXAMPLES = Path(__file__).parents[2] / "examples"


def judged(folder: Path, reference: str, kernel: str, ending: str = ".ptx", seeds: int = 2) -> Verdict:
    (folder / "reference.py").write_text(reference, encoding="utf-8")
    file = folder / f"kernel{ending}"
    file.write_text(kernel, encoding="utf-8")
    limits = Limits(seconds=300.0)
    return verdict_of(Order(str(file), str(folder / "reference.py"), tuple(range(seeds)), limits))


def first_of_seed_0() -> str:
    """What the kernel that knows one seed looks for: the first input of each shape is the same."""
    return f"0x{np.random.default_rng(0).standard_normal((2, 64), np.float32)[0, 0].view(np.uint32):08X}"


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("what", HACKED)
def test_what_only_looks_right_is_refused_by_its_name(what: str, tmp_path: Path) -> None:
    hack, reference, kernel = HACKED[what]
    if hack == "ended":
        (tmp_path / "reference.py").write_text(reference, encoding="utf-8")
        (tmp_path / "kernel.ptx").write_text(kernel, encoding="utf-8")
        order = Order(str(tmp_path / "kernel.ptx"), str(tmp_path / "reference.py"), (0,), Limits(seconds=0.5))
        verdict = verdict_of(order)
    else:
        verdict = judged(tmp_path, reference, kernel.replace("FIRST", first_of_seed_0()))
    assert not verdict.passed
    assert hack in verdict.hacks, verdict.findings


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("what", HACKED_PYTHON)
def test_python_that_only_looks_right_is_refused_by_its_name(what: str, tmp_path: Path) -> None:
    hack, kernel = HACKED_PYTHON[what]
    verdict = judged(tmp_path, SAXPY, kernel, ".py")
    assert not verdict.passed
    assert hack in verdict.hacks, verdict.findings


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("what", HONEST)
def test_honest_kernels_pass(what: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, *HONEST[what])
    assert verdict.passed, verdict.findings


@pytest.mark.parametrize("what", HONEST_PYTHON)
def test_honest_python_passes(what: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, SAXPY, HONEST_PYTHON[what], ".py")
    assert verdict.passed, verdict.findings


MATRICES = """
import numpy as np

shapes = [(64, 64, 32), (128, 64, 96)]

def inputs(seed, shape):
    rng = np.random.default_rng(seed)
    m, n, k = shape
    a, b = (rng.standard_normal(extents).astype(np.TYPE) for extents in ((m, k), (k, n)))
    return {"A": a, "B": b, "C": np.empty((m, n), np.float32), "M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}

def reference(A, B, C, M, N, K):
    return {"C": A.astype(np.float64) @ B.astype(np.float64)}

def launch(shape):
    m, n, k = shape
    return LAUNCH
"""
REDUCED = """
import numpy as np

shapes = [(100,), (3000,)]

def inputs(seed, shape):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return {"values": values, "partial": np.empty(1, np.float32), "n": np.int32(shape[0])}

def reference(values, partial, n):
    return {"partial": values.astype(np.float64).sum(keepdims=True)}

def launch(shape):
    return {"grid": 1, "block": 256}
"""
TRANSPOSED = """
import numpy as np

shapes = [(32,), (64,)]

def inputs(seed, shape):
    n = shape[0]
    values = np.random.default_rng(seed).standard_normal((n, n)).astype(np.float32)
    return {"A": values, "B": np.empty((n, n), np.float32), "n": np.int32(n)}

def reference(A, B, n):
    return {"B": A.T}

def launch(shape):
    return {"grid": (shape[0] // 32, shape[0] // 32), "block": (32, 8)}
"""
OTHERS = {
    "hgemm": MATRICES.replace("TYPE", "float16").replace("LAUNCH", '{"grid": (n // 64, m // 64), "block": 128}'),
    "sgemm": MATRICES.replace("TYPE", "float32").replace("LAUNCH", '{"grid": (n // 16, m // 16), "block": (16, 16)}'),
    "reduce": REDUCED,
    "transpose": TRANSPOSED,
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("name", OTHERS)
def test_kernels_of_the_examples_pass(name: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, OTHERS[name], (EXAMPLES / f"{name}.ptx").read_text(encoding="utf-8"))
    assert verdict.passed, verdict.findings


def test_a_kernel_that_fails_on_a_part_of_the_matrix_is_refused(tmp_path: Path) -> None:
    kernel = (EXAMPLES / "hgemm.ptx").read_text(encoding="utf-8")
    assert not judged(tmp_path, OTHERS["sgemm"], kernel).passed


@pytest.mark.oracle
@pytest.mark.parametrize("package", ["triton", "numba_cuda"])
def test_kernels_of_other_packages_are_judged(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    verdict = judged(tmp_path, SAXPY, PACKAGES[package], ".py")
    assert verdict.passed, verdict.findings
    assert verdict.cases[0].instructions > 0


def test_the_digest_is_of_files_and_seeds_alone(tmp_path: Path) -> None:
    one, again = (judged(tmp_path, *HONEST["an element a thread"]).as_data() for _ in range(2))
    assert json.dumps(one) == json.dumps(again)
    assert judged(tmp_path, *HONEST["rounded twice"]).as_data()["digest"] != one["digest"]
