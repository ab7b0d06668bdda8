"""The fuzz harness itself works; a short run where atheris is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).with_name("fuzz_parse.py")


def load_harness() -> object:
    spec = importlib.util.spec_from_file_location("fuzz_parse", HARNESS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("data", [b"", b"ret;", b"\xff\0{", b"/*", b".entry k() { mov.b32 a, 1; // c\n}"])
def test_judges_one_input(data: bytes) -> None:
    judge = vars(load_harness())["one_input"]
    judge(data)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
def test_a_short_run() -> None:
    done = subprocess.run([sys.executable, str(HARNESS), "-runs=2000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
