"""`@triton.jit` kernels run where there is no GPU: by Triton's own compiler, on NumPy arrays, for sm_80 and sm_90."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="the extra [triton] is not installed")
pytestmark = pytest.mark.oracle
PROGRAMS = Path(__file__).parent / "programs"


def run(
    name: str, tmp_path: Path, under: str = "", *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own: Triton looks for back ends once."""
    known = {key: value for key, value in os.environ.items() if not key.startswith(("TRITON_", "PTXLOOM_"))}
    known |= {"TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1", **environment}
    command = [sys.executable, str(PROGRAMS / name), *arguments]
    command = [sys.executable, "-m", "ptxloom", under, "--", *command] if under else command
    return subprocess.run(command, env=known, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("device", ["sm_80", "sm_90"])
def test_products_are_right_by_pointers_and_by_descriptors(device: str, tmp_path: Path) -> None:
    done = run("products.py", tmp_path, PTXLOOM_DEVICE=device)
    assert done.stdout.split() == ["pointers", "descriptors", "wgmma" if device == "sm_90" else "mma"], done.stderr


BLACKWELL = {
    "products": [f"{kind} right tcgen05.mma" for kind in ("f16", "bf16", "tf32", "e4m3", "s8")],
    "persistent_products": ["persistent right tcgen05.mma", "persistent right tcgen05.mma setmaxnreg"],
    "rows_by_number": ["gathered right tile::gather4", "scattered right tile::scatter4"],
    "attentions": ["attention right tcgen05.mma", "attention right tcgen05.mma setmaxnreg"],
    "scaled_products": [
        "scaled right tcgen05.cp kind::mxf8f6f4",
        "scaled right tcgen05.cp kind::mxf4.",
        "scaled right tcgen05.cp kind::mxf4nvf4",
    ],
}


ON_BLACKWELL = [
    *((what, "sm_100") for what in BLACKWELL),
    *((what, device) for device in ("sm_103", "sm_110") for what in BLACKWELL if what != "products"),  # bytes: sm_100's
]


@pytest.mark.parametrize(("what", "device"), ON_BLACKWELL)
def test_products_of_blackwell_are_right(what: str, device: str, tmp_path: Path) -> None:
    done = run("blackwell.py", tmp_path, "", what, PTXLOOM_DEVICE=device, PTXLOOM_ON_HAZARD="ignore")
    assert done.stdout.splitlines() == BLACKWELL[what], done.stderr


def test_an_access_beyond_a_tensor_is_told_with_the_line_of_the_kernel(tmp_path: Path) -> None:
    done = run("beyond.py", tmp_path)
    line = (PROGRAMS / "beyond.py").read_text(encoding="utf-8").splitlines().index("    tl.store(x + at, at)") + 1
    assert "write of 4 bytes at x+0x190 is out of bounds: x has 400 bytes" in done.stdout, done.stderr
    assert f"beyond.py:{line}:5, PTX line" in done.stdout


def test_why_names_the_line_of_a_wrong_kernel_once(tmp_path: Path) -> None:
    lines = (PROGRAMS / "wrong_kernel.py").read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith("# wrong"))
    done = run("wrong_kernel.py", tmp_path, PTXLOOM_DEVICE="sm_80", PTXLOOM_WHY="1")
    assert done.stdout == "launched\n", done.stderr
    assert done.stderr.count("ptxloom why: kernel product:\nhalves-exchanged: operand b (from b): ") == 1
    assert f"wrong_kernel.py:{number})" in done.stderr
    assert "ptxloom why" not in run("wrong_kernel.py", tmp_path, PTXLOOM_DEVICE="sm_80").stderr


def test_a_kernel_is_planned_once_whether_it_is_fused_or_not(tmp_path: Path) -> None:
    done = run("planned_once.py", tmp_path)
    assert done.stdout.splitlines() == ["fused 1", "rounded twice 2"], done.stderr


@pytest.mark.parametrize(("what", "returns", "told"), [("warn", 0, True), ("raise", 1, True), ("ignore", 0, False)])
def test_hazards_warn_end_or_are_ignored(what: str, returns: int, told: bool, tmp_path: Path) -> None:
    done = run("race.py", tmp_path, PTXLOOM_CHECKS="racecheck:global", PTXLOOM_ON_HAZARD=what)
    assert done.returncode == returns, done.stderr
    assert ("racecheck" in done.stderr) is told
    assert ("race.py:" in done.stderr) is told


def test_autotune_chooses_by_the_modelled_clock(tmp_path: Path) -> None:
    done = run("tuned.py", tmp_path)
    assert done.stdout.split() == ["1024", "right"], done.stderr


def test_autotune_takes_the_first_configuration_if_asked_to(tmp_path: Path) -> None:
    done = run("tuned.py", tmp_path, PTXLOOM_AUTOTUNE="first", PTXLOOM_CHECKS="all")
    assert done.stdout.split() == ["128", "right"], done.stderr


@pytest.mark.parametrize(
    ("variable", "program"),
    [
        ("PTXLOOM_DEVICE", "race.py"),
        ("PTXLOOM_CHECKS", "race.py"),
        ("PTXLOOM_ON_HAZARD", "race.py"),
        ("PTXLOOM_AUTOTUNE", "tuned.py"),
    ],
)
def test_wrong_settings_are_told(variable: str, program: str, tmp_path: Path) -> None:
    done = run(program, tmp_path, **{"PTXLOOM_CHECKS": "racecheck:global", variable: "nothing"})
    assert done.returncode == 1
    assert "'nothing'; it must be" in done.stderr.splitlines()[-1]


def test_memory_of_a_launch_s_own_lives_until_it_is_over(tmp_path: Path) -> None:
    done = run("scratch.py", tmp_path, PTXLOOM_DEVICE="sm_90")
    assert done.stdout == "launched given back right\n", done.stderr


needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch, its CPU build, is not there"
)


@needs_torch
@pytest.mark.parametrize("device", ["sm_80", "sm_90"])
def test_a_program_for_a_gpu_has_its_device(device: str, tmp_path: Path) -> None:
    done = run("on_cuda.py", tmp_path, PTXLOOM_DEVICE=device, PTXLOOM_TORCH_CUDA="1")
    number = device.removeprefix("sm_")
    assert done.stdout.splitlines() == [
        "moved True",
        "gradient True True",
        "a copy True cpu",
        "addresses in memory True",
        "module True cuda:0",
        f"device True ({number[0]}, {number[1]}) ptxloom {device}",
        "time True",
        f"target {number} cuda:0",
    ], done.stderr


@needs_torch
def test_what_programs_ask_of_torch_cuda_is_answered(tmp_path: Path) -> None:
    done = run("torch_cuda.py", tmp_path, PTXLOOM_TORCH_CUDA="1")
    assert done.stdout.split() == ["memory", "streams", "places", "saved", "training", "sums", "products"], done.stderr


@needs_torch
def test_a_warm_launch_calls_as_much_however_many_tensors_there_are(tmp_path: Path) -> None:
    done = run("warm_launches.py", tmp_path, PTXLOOM_TORCH_CUDA="1")
    right, few, many = done.stdout.split()
    assert right == "right", done.stderr
    assert few == many
    assert int(few) <= 160, "functions of Python, of Triton's launcher and of ours: 142 when this was written"


@needs_torch
def test_a_graph_is_done_by_replays_and_not_before(tmp_path: Path) -> None:
    done = run("graphs.py", tmp_path, PTXLOOM_TORCH_CUDA="1")
    assert done.stdout.splitlines() == [
        "captured True True True 1.0",
        "replayed [True, True, True] 1.0 True",
        "while a CUDA graph is captured, a value of the device cannot be read by the host",
        "callable True True",
        "timed True",
    ], done.stderr


@needs_torch
def test_tests_for_a_gpu_run_under_pytest(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import torch\nfound = torch.cuda.is_available()\n", encoding="utf-8")
    (tmp_path / "test_gpu.py").write_text(
        "import pytest, torch\nfrom conftest import found\n\n"
        "@pytest.mark.skipif(not found, reason='no GPU')\n"
        "def test_it():\n    assert (torch.ones(3, device='cuda') + 1).is_cuda\n",
        encoding="utf-8",
    )
    known = {key: value for key, value in os.environ.items() if not key.startswith(("TRITON_", "PTXLOOM_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--ptxloom", "test_gpu.py"]
    done = subprocess.run(command, env=known, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_what_an_argument_says_of_its_size_is_heeded(tmp_path: Path) -> None:
    done = run("pointers.py", tmp_path)
    lines = done.stdout.splitlines()
    assert lines[:6] == ["right True"] * 6, done.stderr
    told = [line for line in lines if "out of bounds" in line]
    assert len(told) == 5, done.stdout
    assert all(line.endswith("write of 4 bytes at out+0x28 is out of bounds: out has 40 bytes") for line in told[:4])
    assert "at address 0x" in told[4]


def test_lanes_that_differ_by_a_rounding_are_told_how_not_to(tmp_path: Path) -> None:
    done = run("redundant.py", tmp_path, PTXLOOM_CHECKS="racecheck")
    assert done.stdout == "right True\n"
    assert "racecheck.warp-order" in done.stderr
    assert "TRITON_DEFAULT_FP_FUSION=0" in done.stderr
    assert "__syncwarp" not in done.stderr
    done = run("redundant.py", tmp_path, PTXLOOM_CHECKS="racecheck", TRITON_DEFAULT_FP_FUSION="0")
    assert done.stdout == "right True\n"
    assert "racecheck" not in done.stderr


@needs_torch
@pytest.mark.parametrize("how", ["by a setting", "under exec"])
def test_operators_registered_for_cuda_run_for_its_tensors(how: str, tmp_path: Path) -> None:
    under = "exec" if how == "under exec" else ""
    done = run("operators.py", tmp_path, under=under, PTXLOOM_TORCH_CUDA="1")
    assert done.stdout.splitlines() == [
        "replaced add cuda:0 True",
        "on the host nothing",
        "made cuda:0 zeros",
        "gradient add cuda:0 300.0",
        "thread add cuda:0",
        "taken back nothing",
        "defined cuda:0 silu",
        "in place scale_ True cuda:0",
        "inferred cuda:0 joined",
        "custom cuda:0 twice backward cuda:0 True",
        "triton cuda:0 True",
        "either device's host's",
    ], done.stderr


@needs_torch
def test_what_torch_compiles_runs_by_triton_on_the_device(tmp_path: Path) -> None:
    folder = str(tmp_path / "inductor")
    done = run("torch_compile.py", tmp_path, PTXLOOM_TORCH_CUDA="1", TORCHINDUCTOR_CACHE_DIR=folder)
    assert done.stdout.splitlines() == [
        "summed cuda:0 True triton",
        "module cuda:0 True triton",
        "changed cuda:0 True triton",
        "in place True True",
        "named cuda:0 True",
        "0 1 torch.compile leaves this function as it is under ptxloom",
    ], done.stderr


@needs_torch
def test_the_generator_addresses_and_extensions(tmp_path: Path) -> None:
    done = run("compilers.py", tmp_path, PTXLOOM_TORCH_CUDA="1")
    assert done.stdout.splitlines() == [
        "generator 16 (7, 0) (7, 8) (9, 0)",
        "argument 64.0 64.0",
        "PyTorch extensions with CUDA sources cannot be built under ptxloom",
    ], done.stderr
