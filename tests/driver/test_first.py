"""What Python runs first in the programs of `ptxloom exec` keeps out of their way."""

import os
import subprocess
import sys
from pathlib import Path

from ptxloom.cuda_driver.environment import environment


def test_a_module_of_the_same_name_runs_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the other')\n", encoding="utf-8")
    made = environment(tmp_path, "no-socket", {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]})
    first = made["PYTHONPATH"].split(os.pathsep)[0]
    program = "import sys, sitecustomize; print(sitecustomize.__file__); print(sys.argv[1] in sys.path)"
    command = [sys.executable, "-c", program, first]
    done = subprocess.run(command, env={**made, "LD_PRELOAD": ""}, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["the other", str(tmp_path / "sitecustomize.py"), "False"], done.stderr
