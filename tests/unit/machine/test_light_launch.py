"""What a process imports for the first launch of a kernel that is kept: nothing that plans, judges or translates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

LAUNCH: Final = """
import json, os, sys
import numpy as np
import ptxloom as pl
text = '''.version 9.0 .target sm_90 .entry k(.param .u64 out) {
  .shared .b32 rows[128]; .reg .b32 %x<9>; .reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [out];
  mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a;
  MOVED st.global.u32 [%a], %t; ret; }'''.replace("MOVED", os.environ["MOVED"])
out = np.zeros(int(os.environ["THREADS"]), np.uint32)
pl.kernel(pl.parse(text), "k").launch(1, out.size, [out], checks=sys.argv[1:] or None)
assert out.tolist() == list(range(out.size))
from ptxloom.machine.native.together import members
print(json.dumps([sorted(name for name in sys.modules if name.startswith("ptxloom")), list(members())]))
"""
MOVED: Final = "mov.u32 %x0, rows; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%x1, %x2}, [%x0];"
MOST: Final = 170  # modules of ours, with those that parse: this number only falls
PLANS: Final = (
    "analysis",
    "codegen.builder",
    "compile.variant",
    "contraction",
    "plan.afresh",
    "plan.legality",
    "plan.planner",
    "runtime.memory",
    "runtime.racecheck",
    "runtime.warps",
    "semantics",
)
OTHERS: Final = ("banks", "checker", "comparison", "diagnosis", "flow", "readings", "views")


def launched(cache: Path, checks: Sequence[str] = (), moved: str = "") -> tuple[list[str], list[str]]:
    """The modules of a process that launches a kernel, and what it loads together."""
    own = {
        "PTXLOOM_CACHE": str(cache),
        "PYTHONPATH": str(Path(pl.__file__).parents[1]),
        "MOVED": moved,
        "THREADS": "64" if moved else "40",
    }
    environment = {**os.environ, **own}
    command = [sys.executable, "-c", LAUNCH, *checks]
    modules, members = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    return modules, members


def test_a_launch_of_what_is_kept_imports_little(tmp_path: Path) -> None:
    first, members = launched(tmp_path)
    assert "ptxloom.machine.semantics" in first
    again, same = launched(tmp_path)
    heavy = (*(f"ptxloom.machine.{one}" for one in PLANS), *(f"ptxloom.{one}" for one in OTHERS))
    assert [name for name in again if name.startswith(heavy)] == []
    assert len(again) <= MOST
    assert members == same  # else all of it is compiled again
    assert len(members) >= 11


def test_functions_whose_code_is_kept_are_not_imported(tmp_path: Path) -> None:
    first, _ = launched(tmp_path, moved=MOVED)
    assert {"ptxloom.machine.runtime.memory.matrices", "ptxloom.fragments.derive"} <= {*first}
    again, _ = launched(tmp_path, moved=MOVED)
    assert len(again) <= MOST


@pytest.mark.parametrize("tool", ["racecheck:global", "initcheck:global"])
def test_what_a_tool_needs_is_imported_when_it_is_asked_for(tool: str, tmp_path: Path) -> None:
    for _ in range(2):
        launched(tmp_path, [tool])
