"""How long a user waits for a command: best wall-clock and CPU time of several runs of a fresh interpreter.

The CPU time says the same on a busy machine; on an idle one the two agree.
"""

import os
import subprocess
import sys
import time

COMMANDS: dict[str, list[str]] = {
    "python -c pass": ["-c", "pass"],
    "python -c 'import ptxloom'": ["-c", "import ptxloom"],
    "ptxloom --help": ["-m", "ptxloom", "--help"],
    "ptxloom map ldmatrix.m8n8.x4.b16": ["-m", "ptxloom", "map", "ldmatrix.m8n8.x4.b16"],
    "ptxloom where ldmatrix.m8n8.x4.b16 --lane 5": ["-m", "ptxloom", "where", "ldmatrix.m8n8.x4.b16", "--lane", "5"],
    "ptxloom banks ldmatrix.m8n8.x4.b16 --pitch 128": [
        "-m", "ptxloom", "banks", "ldmatrix.m8n8.x4.b16", "--pitch", "128",
    ],
    "ptxloom check examples/hgemm.ptx": ["-m", "ptxloom", "check", "examples/hgemm.ptx"],
    "ptxloom inspect examples/hgemm.ptx": ["-m", "ptxloom", "inspect", "examples/hgemm.ptx"],
}  # fmt: skip
RUNS = 11
# As a user runs it: compiled modules are kept, and the first run of each command is not counted.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def one_run(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the wall and on the CPU of one fresh interpreter."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=False, capture_output=True, env=ENVIRONMENT)
    wall, after = time.perf_counter() - begin, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu


def main() -> None:
    """Print one line a command."""
    print(f"{'command':50} {'wall':>8} {'CPU':>8}")
    for name, arguments in COMMANDS.items():
        walls, cpus = zip(*(one_run(arguments) for _ in range(RUNS + 1)), strict=True)
        print(f"{name:50} {min(walls[1:]) * 1e3:5.0f} ms {min(cpus[1:]) * 1e3:5.0f} ms")


if __name__ == "__main__":
    main()
