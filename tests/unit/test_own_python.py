"""What ptxloom starts imports nothing from the current folder: that may be anybody's checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ptxloom

SOURCES = str(Path(ptxloom.__file__).parents[1])
TRAP = "from pathlib import Path; Path('ran').write_text(__name__); raise SystemExit(3)\n"

DRIVER = "import ptxloom as pl\nwith pl.driver():\n    print('there')\n"
KERNEL = """
import ptxloom as pl
text = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.entry k() { ret; }"
print(pl.kernel(pl.parse(text)).launch(1, 1, []) and "there")
"""
POOL = """
import multiprocessing
from ptxloom.checker.verdicts import Question
from ptxloom.cli.judging import findings
from ptxloom.source import Source
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    asked = [Question(Source(f".version 8.0\\n.target sm_80\\n.address_size 64\\n// {n}", "k")) for n in range(2)]
    print(findings(asked, 2) and "there")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that holds modules of many names, each of which leaves a trace when it is run."""
    made = tmp_path / "checkout"
    (made / "ptxloom").mkdir(parents=True)
    names = ["ptxloom/__init__", "numpy", "llvmlite", "multiprocessing", "runpy", "socket", "tempfile", "sitecustomize"]
    for name in names:
        (made / f"{name}.py").write_text(TRAP)
    return made


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            DRIVER,
            marks=pytest.mark.skipif(
                sys.platform != "linux" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler"
            ),
        ),
        KERNEL,
        POOL,
    ],
    ids=["the driver's server", "the compiler", "the judges"],
)
def test_nothing_in_the_current_folder_is_run(checkout: Path, tmp_path: Path, program: str) -> None:
    (tmp_path / "program.py").write_text(program)  # in a folder of its own
    environment = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"}
    environment["PYTHONPATH"] = SOURCES
    if program != DRIVER:  # whose libraries may be kept
        environment["PTXLOOM_CACHE"] = ""
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")],
        cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert not (checkout / "ran").exists()
    assert (done.returncode, done.stdout) == (0, "there\n"), done.stderr
