"""Programs on the driver: a server in this process, clients in processes of their own."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from driver.sanitizers import surroundings
from kept import kept
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.server import Server
from ptxloom.machine.launch.options import DEFAULT_CHECKS

PROGRAMS = Path(__file__).parent / "programs"

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler for Linux here"
)


@cache
def written(library: str = "libcuda.so.1") -> frozenset[str]:
    """The functions of a library that somebody has written: a stub is a weak symbol, which answers NOT_SUPPORTED."""
    command = ["nm", "-D", "--defined-only", str(build.folder() / library)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return frozenset(line.split()[2].split("@")[0] for line in listed if " T " in line)


def without_warnings() -> Path:
    """The libraries, compiled with every warning an error."""
    return kept("libraries", build.key(), lambda place: build.build(place, build.WARNINGS))


class Running:
    """A server, and programs that find it."""

    def __init__(
        self,
        arch: str = "sm_80",
        checks: Sequence[str] = DEFAULT_CHECKS,
        on_hazard: str = "end",
        destroys: str = "context",
        memory_bytes: int = 1 << 28,
    ) -> None:
        self.report = Report(on_hazard, destroys)
        self.server = Server(arch, checks, memory_bytes, self.report)
        self.environment = surroundings(self.server.path)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A program of `programs/` to its end, or with a time limit that no program meets."""
        command = [sys.executable, str(PROGRAMS / program), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment, timeout=300, cwd=PROGRAMS
        )
