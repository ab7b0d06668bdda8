"""Programs whose kernels are wrong: `ptxloom why -- PROGRAM` and `PTXLOOM_WHY` name the cause and the line."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from driver.running import PROGRAMS, needs_compiler

pytestmark = needs_compiler

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
WRONG: Final = EXAMPLES / "broken" / "fragment.ptx"
LINES: Final = "fragment.cu:11, inlined at fragment.cu:37"
PLACE: Final = "line 122"


def _run(verb: str, ptx: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptxloom", verb, "--", sys.executable, "wrong_product.py", str(ptx)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PTXLOOM_")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=plain | environment, cwd=PROGRAMS
    )


def _mended(folder: Path) -> Path:
    lines = WRONG.read_text().splitlines()
    lines[121] = lines[121].replace(".x4.", ".x4.trans.")
    path = folder / "mended.ptx"
    path.write_text("\n".join(lines))
    return path


def test_the_kernel_of_a_program_is_told_once_with_its_cause_and_line() -> None:
    done = _run("why", WRONG)
    assert (done.returncode, done.stderr) == (1, "")
    assert "done 512\n" in done.stdout
    assert done.stdout.count("product:\ntrans-missing: operand b, from args[1]: ") == 1
    assert LINES in done.stdout
    assert PLACE in done.stdout
    assert done.stdout.endswith("\n2 launches, 1 kind of outcome\n")


def test_a_program_whose_kernel_is_right_ends_as_it_would(tmp_path: Path) -> None:
    done = _run("why", _mended(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nno law" in done.stdout
    assert "trans" not in done.stdout


@pytest.mark.parametrize("asked", [True, False])
def test_exec_says_it_where_the_environment_asks(asked: bool) -> None:
    done = _run("exec", WRONG, **({"PTXLOOM_WHY": "1"} if asked else {}))
    assert (done.returncode, done.stdout) == (0, "done 512\n")
    assert done.stderr.count("ptxloom why: kernel product:\ntrans-missing: ") == asked
    assert (LINES in done.stderr, PLACE in done.stderr) == (asked, asked)


def test_a_program_that_launches_nothing_is_not_said_to_be_right() -> None:
    command = [sys.executable, "-m", "ptxloom", "why", "--", sys.executable, "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no kernel was launched on the CUDA driver" in done.stderr
