"""NVIDIA's CuTe DSL judges the atoms that it prints; it runs in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.atoms import CopyAtom, MmaAtom, copy_atoms, gmma_atoms, mma_atoms
from ptxloom.layout import Layout, recast

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.oracle, pytest.mark.sweep]

MMA = [atom for atom in mma_atoms() if atom.operation]
GMMA = [atom for atom in gmma_atoms() if atom.operation and atom.instruction.n in {8, 40, 64, 256}]

_PROGRAM = """
import json, sys
import cutlass, cutlass.cute as cute
from cutlass import *
from cutlass.cute.nvgpu import OperandMajorMode
if sys.argv[2] == "warpgroup":
    from cutlass.cute.nvgpu.warpgroup import *
    from cutlass.cute.nvgpu.warpgroup.mma import MmaI8Op  # not among the names that warpgroup exports
else:
    from cutlass.cute.nvgpu.warp import *
    from cutlass.cute.nvgpu.warp.copy import LdMatrix8x16x8bOp  # not among the names that warp exports

found = {}
operations = [(text, eval(text)) for text in json.loads(sys.argv[1])]

def look(text, op):
    if "Matrix" in text:
        atom = cute.make_copy_atom(op, cutlass.Float16 if "16bOp" in text else cutlass.Uint8)
        found[text] = [str(atom.layout_src_tv), str(atom.layout_dst_tv)]
    else:
        atom = cute.make_mma_atom(op)
        found[text] = [str(atom.tv_layout_A), str(atom.tv_layout_B), str(atom.tv_layout_C)]

@cute.jit
def ask():
    for text, op in cutlass.const_expr(operations):
        look(text, op)

ask()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The (thread, value) layouts of each operation as the DSL gives them."""
    operations = [atom.operation for atom in (*copy_atoms(), *mma_atoms()) if atom.operation]
    folder = tmp_path_factory.mktemp("dsl")
    warpgroup = answers(folder, [atom.operation for atom in GMMA], "warpgroup", "sm_90a")
    return answers(folder, operations, "warp", "sm_120a") | warpgroup


def answers(folder: Path, operations: list[str], level: str, arch: str) -> dict[str, list[str]]:
    """What the DSL says for an architecture of the operations of a warp or a warpgroup."""
    if importlib.util.find_spec("cutlass") is None:
        pytest.skip("the CuTe DSL is absent: pip install nvidia-cutlass-dsl")
    program = folder / "ask.py"  # the DSL reads the source of what it compiles
    program.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(operations), level],
        capture_output=True,
        text=True,
        check=False,
        env={"CUTE_DSL_ARCH": arch, "PATH": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: Any = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("atom", [atom for atom in copy_atoms() if atom.operation], ids=lambda atom: atom.operation)
def test_copy_atoms_agree(atom: CopyAtom, asked: dict[str, list[str]]) -> None:
    width = atom.instruction.destination.bits
    ours = [recast(layout, 1, width) for layout in (atom.src_layout, atom.dst_layout)]
    assert [str(layout) for layout in ours] == asked[atom.operation]


@pytest.mark.parametrize("atom", [*MMA, *GMMA], ids=lambda atom: atom.operation)
def test_mma_atoms_agree(atom: MmaAtom, asked: dict[str, list[str]]) -> None:
    ours = [atom.a_layout, atom.b_layout, atom.c_layout]
    assert ours == [Layout.parse(text) for text in asked[atom.operation]]
