"""SARIF logs before Microsoft's validator, by the standard's rules and by those of GitHub's code scanning.

It comes with `npm install @microsoft/sarif-multitool`; its `sarif-multitool` has to be on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ptxloom.cli import main

ROOT = Path(__file__).parents[2]
VALIDATOR = shutil.which("sarif-multitool")


@pytest.mark.oracle
@pytest.mark.skipif(VALIDATOR is None, reason="sarif-multitool is not installed")
def test_logs_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    prose = tmp_path / "a b%20é.ptx"
    prose.write_text("ret;\nfoo", encoding="utf-8")
    logs = [str(tmp_path / f"{number}.sarif") for number in range(4)]
    how = ["--output-format", "sarif", "-o"]
    assert (
        main(["check", "examples/broken", "tests/corpus/tcgen05-sm_100a.ptx", "--target", "sm_75", *how, logs[0]]) == 1
    )
    assert main(["check", str(prose), "missing.ptx", *how, logs[1]]) == 2
    assert main(["check", "examples/hgemm.ptx", *how, logs[2]]) == 0
    assert main(["run", "examples/broken/missing_barrier.toml", "--checks", "racecheck", *how, logs[3]]) == 1
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    command = [VALIDATOR or "", "validate", *logs, "--rule-kind", "Sarif;Ghas"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    said = [line for line in ran.stdout.splitlines() if ": error " in line or ": warning " in line]
    # The tool's home on the web, which we do not know, is all that is missed.
    assert [line for line in said if "SARIF2005" not in line] == []
    assert f"{len(logs)} files scanned" in ran.stdout
