"""`nvidia-smi` under `ptxloom exec`: the usual questions are answered with what the driver says."""

import subprocess
import sys

import pytest

from driver.running import needs_compiler
from ptxloom.cuda_driver.smi import DeviceState, told

SEEN = DeviceState("ptxloom sm_90", "GPU-00000000-0000-0000-0000-000000000001", "0000:00:00.0", 2 << 30, "9.0", "13.5")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("-L", ["GPU 0: ptxloom sm_90 (UUID: GPU-00000000-0000-0000-0000-000000000001)"]),
        (
            "--query-gpu=name,memory.total,driver_version,compute_cap --format=csv",
            ["name, memory.total [MiB], driver_version, compute_cap", "ptxloom sm_90, 2048 MiB, 13.5, 9.0"],
        ),
        ("--query-gpu=gpu_name,memory.free --format=csv,noheader", ["ptxloom sm_90, 2048 MiB"]),
        ("--query-gpu=index,memory.total,power.draw --format=csv,noheader,nounits", ["0, 2048, [N/A]"]),
        ("-i 0 --query-gpu=compute_cap --format=csv,noheader", ["9.0"]),
        ("--query-compute-apps=pid,name --format=csv", ["pid, name"]),
    ],
)
def test_questions(arguments: str, lines: list[str]) -> None:
    assert told(arguments.split(), SEEN) == ("\n".join(lines), 0)


@pytest.mark.parametrize(
    ("arguments", "sentence", "status"),
    [
        ("--query-gpu=nonsense --format=csv", 'Field "nonsense" is not a valid field to query.', 2),
        ("--query-gpu=name", "A query needs `--format=csv`, optionally followed by `noheader` and `nounits`.", 2),
        ("-i 1 -L", "No devices were found", 6),
    ],
)
def test_wrong_questions(arguments: str, sentence: str, status: int) -> None:
    assert told(arguments.split(), SEEN) == (sentence, status)


def test_without_a_device() -> None:
    assert told(["-L"], None) == ("No devices were found", 6)


def test_the_table_names_the_device_and_no_gpu() -> None:
    text, status = told([], SEEN)
    assert status == 0
    assert "there is no GPU    Driver Version: 13.5    CUDA Version: 13.5" in text
    assert "ptxloom sm_90" in text
    assert "0MiB / 2048MiB" in text
    assert len({len(line) for line in text.splitlines()}) == 1


@needs_compiler
def test_a_program_finds_it_first() -> None:
    query = "nvidia-smi --query-gpu=name,memory.total,compute_cap,count --format=csv,noheader"
    command = [sys.executable, "-m", "ptxloom", "exec", "--device", "sm_86", "--memory-limit", "64MB", "--"]
    done = subprocess.run([*command, "sh", "-c", query], capture_output=True, text=True, check=False, timeout=300)
    assert (done.stdout, done.stderr, done.returncode) == ("ptxloom sm_86, 64 MiB, 8.6, 1\n", "", 0)
