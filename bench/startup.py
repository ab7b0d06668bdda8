"""How long a user waits for a command: wall-clock from process start to exit, best and median of several runs."""

import statistics
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
RUNS = 15


def seconds(arguments: list[str]) -> float:
    """One run of a fresh interpreter."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=False, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    """Print one line a command."""
    print(f"{'command':50} {'best':>8} {'median':>8}")
    for name, arguments in COMMANDS.items():
        times = [seconds(arguments) for _ in range(RUNS)]
        print(f"{name:50} {min(times) * 1e3:5.0f} ms {statistics.median(times) * 1e3:5.0f} ms")


if __name__ == "__main__":
    main()
