"""When PyTorch gets its device: as soon as it has been imported, once, and only if that is asked for.

PyTorch need not be there: a module of its name stands in.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path[:0] = {paths}
{before}
from ptxloom.triton import awaited
awaited._install = lambda _torch: print("installed", sys.modules["torch"].ready)
awaited.follow_torch()
import torch
import torch
print("then", torch.ready)
"""


@pytest.mark.parametrize("before", ["", "import torch"])
@pytest.mark.parametrize(("asked", "told"), [("1", ["installed True"]), ("0", []), ("", [])])
def test_it_comes_once_pytorch_is_there(before: str, asked: str, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("ready = True\n", encoding="utf-8")
    program = PROGRAM.format(paths=[str(tmp_path), str(ROOT / "src")], before=before)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PTXLOOM_TORCH_CUDA": asked}, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [*told, "then True"], done.stderr
