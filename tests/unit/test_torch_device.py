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


@pytest.mark.parametrize(("cuda", "hip", "built"), [("13.0", None, "CUDA 13.0"), (None, "7.0", "HIP 7.0")])
def test_a_build_for_a_gpu_is_told_which_one_is_needed(
    cuda: str | None, hip: str | None, built: str, tmp_path: Path
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("from torch import version\n", encoding="utf-8")
    stated = f"__version__ = '2.13.0+gpu'\ncuda = {cuda!r}\nhip = {hip!r}\n"
    (tmp_path / "torch" / "version.py").write_text(stated, encoding="utf-8")
    program = (
        f"import sys; sys.path[:0] = {[str(tmp_path), str(ROOT / 'src')]}\n"
        "from ptxloom.triton import awaited\n"
        "awaited.follow_torch()\n"
        "import torch\n"
        "print(sorted(one for one in sys.modules if one.startswith('ptxloom.triton.torch_')))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PTXLOOM_TORCH_CUDA": "1"}, capture_output=True, text=True, check=False)
    assert done.stdout == "['ptxloom.triton.torch_build']\n"
    assert done.stderr == (
        f"ptxloom: PyTorch 2.13.0+gpu is built with {built} and needs a GPU's own driver; ptxloom provides a device "
        "for its CPU build: pip install torch==2.13.0+cpu --index-url https://download.pytorch.org/whl/cpu\n"
    )
