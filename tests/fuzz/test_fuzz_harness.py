"""The fuzz harness itself works; a short run where atheris is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tool_modules import loaded

HARNESS = Path(__file__).with_name("fuzz_parse.py")


@pytest.mark.parametrize("data", [b"", b"ret;", b"\xff\0{", b"/*", b".entry k() { mov.b32 a, 1; // c\n}"])
def test_judges_one_input(data: bytes) -> None:
    judge = loaded(HARNESS).one_input
    judge(data)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
def test_a_short_run() -> None:
    done = subprocess.run([sys.executable, str(HARNESS), "-runs=2000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
