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
    assert done.stdout.endswith("\n2 launches, 1 report\n")


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
    assert "no kernel was launched, on the CUDA driver that `why` gives a program or by Triton" in done.stderr


OWN: Final = """
import re, sys
import numpy as np
import ptxloom as pl
text = open(sys.argv[1]).read()
found = re.search(r"(fma\\.rn\\.f32\\s+(%f\\d+), (%f\\d+), (%f\\d+), %f\\d+;)", text)
text = text.replace(found[1], f"{found[1]} fma.rn.f32 {found[2]}, {found[3]}, {found[4]}, {found[2]};")
a, b, c = np.ones((32, 64), np.float32), np.ones((64, 48), np.float32), np.zeros((32, 48), np.float32)
for _ in range(2):
    pl.kernel(pl.parse(text), "sgemm").launch((3, 2), (16, 16), [a, b, c, 32, 48, 64])
"""  # adds one product of each tile twice


def test_what_a_program_launches_in_its_own_process_is_reported_and_counted(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(OWN)
    command = [sys.executable, "-m", "ptxloom", "why", "--", sys.executable, "program.py", str(EXAMPLES / "sgemm.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("sgemm:\nk-twice: ") == 1
    assert done.stdout.endswith("\n2 launches, 1 report\n")
