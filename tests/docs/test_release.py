"""What is released: archives without strays, a wheel that works where nothing else is, one version everywhere."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptxloom

ROOT = Path(__file__).parents[2]
STRAYS = re.compile(r"__pycache__|\.pyc$|\.so$|\.orig$|\.rej$|~$|/\.(?!gitignore$)|\.log$")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def succeeds(*command: str | Path, folder: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, (command, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archives, built from the working tree as `python -m build` does; the wheel from the sdist."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    build = "import sys; from hatchling import build as b; b.build_sdist(sys.argv[1])"
    succeeds(sys.executable, "-c", build, folder, folder=ROOT)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder / "src", filter="data")
    (tree,) = (folder / "src").iterdir()
    succeeds(sys.executable, "-c", build.replace("sdist", "wheel"), folder, folder=tree)
    return folder


def test_the_archives_hold_what_they_should(dist: Path) -> None:
    tracked = set(succeeds("git", "ls-files", "--cached", "--others", "--exclude-standard", folder=ROOT).split())
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert packed - tracked <= {"PKG-INFO", ".gitignore"}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= packed
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert [name for name in names if STRAYS.search(name)] == []
    assert {name.partition("/")[0] for name in names} == {"ptxloom", f"ptxloom-{ptxloom.__version__}.dist-info"}
    owned = {name.removeprefix("src/") for name in tracked if name.startswith("src/ptxloom/")}
    assert owned - set(names) == set()


def test_the_wheel_runs_the_commands_of_the_readme_where_nothing_else_is(dist: Path, tmp_path: Path) -> None:
    """A bare environment, no index: what runs a kernel names its extra, and works when NumPy and LLVM are there."""
    venv.create(tmp_path / "bare", with_pip=True)
    programs = tmp_path / "bare" / "bin"
    succeeds(programs / "python", "-m", "pip", "install", "-q", "--no-index", next(dist.glob("*.whl")), folder=tmp_path)
    succeeds(programs / "ptxloom", "examples", folder=tmp_path)
    shown = re.findall(r"(?ms)^```console\n\$ ptxloom ([^\n]*)\n(.*?)^```$", read("README.md"))
    assert [command.partition(" ")[0] for command, _ in shown] == ["where", "check", "why"]
    why = [programs / "ptxloom", *shlex.split(shown[2][0])]
    refused = subprocess.run(why, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "ptxloom[run]" in refused.stderr
    own, borrowed = (
        Path(sysconfig.get_path("purelib", vars=paths)) for paths in ({"base": str(tmp_path / "bare")}, None)
    )
    assert own.is_dir()
    for command, output in shown:
        if command.startswith("why"):
            (own / "borrowed.pth").write_text(f"{borrowed}\n", encoding="utf-8")
        assert succeeds(programs / "ptxloom", *shlex.split(command), folder=tmp_path) == output


def test_the_version_is_the_same_everywhere() -> None:
    version = ptxloom.__version__
    assert json.loads(read("editors/vscode/package.json"))["version"] == version
    assert f"ptxloom-{version}.vsix" in read("editors/vscode/README.md")
    assert f"## [{version}]" in read("CHANGELOG.md")
    pages = read("docs/continuous-integration.md") + read("docs/pytest.md")
    assert set(re.findall(r"(?:rev: |ptxloom@)(v[\d.]+)", pages)) == {f"v{version}"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_run_what_there_is(path: Path) -> None:
    workflow: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert workflow["permissions"] == {"contents": "read"}
    for step in steps:
        assert ("uses" in step) is not ("run" in step)
        program, *words = shlex.split(step.get("run", "true"))
        assert program in {"make", "python", "ptxloom", "test", "true"} or (ROOT / program).is_file()
        if program == "make":
            assert all(re.search(rf"(?m)^{word}:", read("Makefile")) for word in words)


def test_the_action_never_runs_its_inputs() -> None:
    action: Any = yaml.safe_load(read("action.yml"))
    steps = action["runs"]["steps"]
    assert all("${{" not in step.get("run", "") for step in steps)
    told = [value for step in steps for value in step.get("env", {}).values()]
    assert sorted(f"${{{{ inputs.{name} }}}}" for name in action["inputs"]) == sorted(told)
