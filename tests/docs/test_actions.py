"""The action, the workflows and GitLab's jobs: judged by their schemas, and their commands run as a runner would.

No package index has a runner of GitHub's actions, and containers need an image that no index has: the shell commands of
the steps are taken out of the files and run here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
ACTION: Final[Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: Final[dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
DEFAULTS: Final[dict[str, str]] = {name: said["default"] for name, said in ACTION["inputs"].items()}
SCHEMAS: Final = {
    "vendor.github-actions": ["action.yml"],
    "vendor.github-workflows": sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/workflows/*.yml")),
}
RACY: Final = "examples/broken/missing_barrier.toml"
TEST: Final = """
import numpy as np


def test_race(ptxloom):
    kernel = ptxloom.kernel("broken/missing_barrier.ptx")
    kernel.launch(1, 64, [np.zeros(256, np.uint32), np.zeros((64, 4), np.uint32)])


def test_cost(ptxloom):
    kernel = ptxloom.kernel("vector_add.ptx")
    a = np.zeros(1024, np.float32)
    ptxloom.snapshot(kernel.launch(4, 256, [a, a, a, 1024], profile=True))
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with the examples, and a runner's environment whose commands are those of this Python."""
    shutil.copytree(ROOT / "examples", tmp_path / "work")
    (tmp_path / "temp").mkdir()
    (tmp_path / "temp" / "ptxloom").symlink_to(sys.prefix)
    return tmp_path / "work"


def step(name: str, work: Path, **inputs: str) -> tuple[int, str, str]:
    """Run a step as a runner does: its exit code, what it printed, and the job's summary."""
    given = {**DEFAULTS, **inputs}
    values = {f"${{{{ inputs.{one} }}}}": value for one, value in given.items()}
    told = {variable: values[said] for variable, said in STEPS[name].get("env", {}).items()}
    summary = work.parent / "summary.md"
    runner = {
        "RUNNER_TEMP": str(work.parent / "temp"),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTION_PATH": str(ROOT),
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]  # as `shell: bash` says
    done = subprocess.run(
        shell, cwd=work, env={**os.environ, **runner, **told}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr, summary.read_text("utf-8") if summary.exists() else ""


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_files_keep_to_their_schemas(schema: str) -> None:
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *SCHEMAS[schema]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_check_annotates_and_sums_up(work: Path) -> None:
    code, printed, summary = step("Check", work, files="broken vector_add.ptx", arguments="--ignore missing-directive")
    assert code == 1
    assert "::error " in printed
    assert "file=broken/missing_trans.ptx,line=12" in printed
    assert "### ptxloom check" in summary
    assert "| `broken/missing_trans.ptx:12` |" in summary
    code, _, summary = step("Check", work, files="vector_add.ptx")
    assert (code, summary.count("###"), "No findings in 1 file" in summary) == (0, 2, True)


def test_inputs_are_words_and_no_commands(work: Path) -> None:
    for name, inputs in (
        ("Check", {"files": "$(touch ran) `touch ran` ; touch ran", "arguments": "$(touch ran)"}),
        ("Run kernels", {"launches": "$(touch ran)"}),
        ("Run pytest", {"pytest": "$(touch ran)"}),
    ):
        assert step(name, work, **inputs)[0] != 0
    assert not (work / "ran").exists()


def test_kernels_run_and_all_of_them_though_one_is_wrong(work: Path) -> None:
    code, printed, summary = step("Run kernels", work, launches="broken/missing_barrier.toml transpose.toml")
    assert code == 1
    assert "title=ptxloom (racecheck.read-after-write)" in printed
    assert "### ptxloom run: epilogue" in summary
    assert "racecheck.read-after-write" in summary
    assert "### ptxloom run: transpose" in summary
    assert "no hazards" in summary


def test_pytest_annotates_and_compares_costs(work: Path) -> None:
    (work / "test_kernels.py").write_text(TEST, "utf-8")
    plain = "-q -p no:randomly -p no:xdist -p no:asyncio -p no:pytest-lsp -p no:cacheprovider"
    step("Run pytest", work, pytest=f"{plain} --ptxloom-update")
    (kept,) = (work / "__ptxloom__").rglob("*.json")
    kept.write_text(re.sub(r'("executions": )\d+', r"\g<1>100", kept.read_text("utf-8")), "utf-8")
    (work.parent / "summary.md").unlink()
    code, printed, summary = step("Run pytest", work, pytest=plain)
    assert code == 1
    assert printed.count("::error ") == 2  # a race, and what was never written
    assert "file=broken/missing_barrier.cu,line=18," in printed
    assert "racecheck.read-after-write" in summary
    assert re.search(r"\| `vector_add` \| test_cost \| executions \| 100 \| [\d,]+ \| \+[\d.]+ % \|", summary)


@pytest.mark.sweep
def test_the_action_installs_what_it_runs(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    code, printed, _ = step("Install ptxloom", tmp_path / "work")
    if "No matching distribution" in printed or "Could not find a version" in printed:
        pytest.skip("no package index is in reach")
    assert code == 0, printed
    shutil.copy(ROOT / "examples/vector_add.ptx", tmp_path / "work")
    assert step("Check", tmp_path / "work")[0] == 0


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_what_workflows_run_of_ptxloom_succeeds(path: Path, work: Path) -> None:
    workflow: Any = yaml.safe_load(path.read_text("utf-8"))
    steps = [one["run"] for job in workflow["jobs"].values() for one in job["steps"] if "run" in one]
    for line in (one for one in steps if one.startswith("ptxloom ")):
        words = [sys.executable, "-m", "ptxloom", *shlex.split(line)[1:]]
        done = subprocess.run(words, cwd=work.parent, capture_output=True, text=True, check=False)
        assert done.returncode in {0, 2}, done.stderr
        if done.returncode == 2:  # a path of the repository
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


def test_the_container_holds_what_its_steps_say(tmp_path: Path) -> None:
    """Its base image is out of reach: its paths, its user and its commands are followed from step to step instead."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    named = [words for word, words in steps if word == "RUN"]
    made = next(words for words in named if "-m venv" in words)
    place = made.split("-m venv ")[1].split()[0]
    assert f"{place}/bin/pip install" in made
    assert [words for word, words in steps if word == "COPY"][-1] == f"--from=build {place} {place}"
    (entry,) = (words for word, words in steps if word == "ENTRYPOINT")
    assert entry == f'["{place}/bin/ptxloom"]'
    (user,) = (words for word, words in steps if word == "USER")
    assert any(words.startswith("useradd ") and words.endswith(f" {user}") for words in named)
    bases = {words.split()[0] for word, words in steps if word == "FROM"}
    assert len(bases) == 1
    lint = shutil.which("hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if lint is None:
        pytest.skip("hadolint is not installed; the rest was judged")
    done = subprocess.run([lint, "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
