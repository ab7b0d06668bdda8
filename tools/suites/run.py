"""`make suites`: test suites of projects that drive CUDA, as they are, without a GPU; failures counted by reason.

    python tools/suites/run.py [NAME...]

Runs in the environment that `make suites` makes, of what the package index carries. A module of tests is a process, so
that one that does not end takes no other with it. NAME is a suite, its last word, or a module of tests. Prints a table,
and writes what each test came to into `bench/out/`. Ends with 1 if something failed for a reason that is not known.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
_OUT: Final = _ROOT / "bench" / "out"
_LIMIT_SECONDS: Final = 600
_NOT_KNOWN: Final = "not known"


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite of a package.

    Attributes:
        name: Of the suite.
        package: Whose version is told.
        tests: The package of its tests, which are of unittest's kind; or a folder of this repository for pytest.
    """

    name: str
    package: str
    tests: str


SUITES: Final = (
    *(
        Suite(f"numba-cuda {part}", "numba-cuda", f"numba.cuda.tests.{part}")
        for part in ("cudadrv", "cudapy", "nocuda", "nrt", "doc_examples")
    ),
    Suite("programs of ours for numba, cuda.core, tinygrad and Triton", "ptxloom", "tests/integrations"),
)

REASONS: Final = (
    (r"cuMemHostRegister|HOST_MEMORY|pinned", "page-locking memory that the program has"),
    (r"cudaCGGetIntrinsicHandle|cooperative", "cooperative groups"),
    (r"cuIpc|IPC|ipc", "memory of other processes"),
    (r"cupy|CuPy", "needs CuPy, which holds NVIDIA's runtime"),
    (r"nvjitlink|nvJitLink|[Ll]to\b|LTO", "needs nvJitLink: machine code made of LTO-IR"),
    (r"NO_BINARY_FOR_GPU|cubin", "machine code without PTX"),
    (r"SASS|sass|cuobjdump|nvdisasm", "asks for machine code's text"),
    (r"NOT_SUPPORTED|not supported", "a function of the driver that is missing"),
    (r"ILLEGAL_ADDRESS|LAUNCH_FAILED|MISALIGNED", "a kernel was ended: its access was out of bounds"),
)
"""What is said of a failure, by what its last lines say; the first that fits."""


def main(names: list[str]) -> int:
    """Run the suites of these names, or all."""
    chosen = {suite: _modules(suite, names) for suite in SUITES}
    if not any(chosen.values()):
        print(f"no suite is called {' '.join(names)}: there are {', '.join(suite.name for suite in SUITES)}")
        return 2
    _OUT.mkdir(parents=True, exist_ok=True)
    print("| suite | version | passed | failed | skipped | why |\n|---|---|---|---|---|---|")
    unknown = 0
    for suite, modules in chosen.items():
        if not modules:
            continue
        told = _run(suite, modules)
        counts = Counter(outcome for outcome, _ in told.values())
        why = Counter(_reason(said) for outcome, said in told.values() if outcome == "failed")
        unknown += why[_NOT_KNOWN]
        reasons = "; ".join(f"{count} {reason}" for reason, count in why.most_common())
        row = (suite.name, version(suite.package), counts["passed"], counts["failed"], counts["skipped"], reasons)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return int(unknown > 0)


def _modules(suite: Suite, names: list[str]) -> list[str]:
    """The modules of a suite that somebody who says these names wants; all if the suite is named, or nothing is."""
    if "/" in suite.tests:
        there = [suite.tests]
    else:
        listing = subprocess.run(
            [sys.executable, _HERE / "unittests.py", "--list", suite.tests], check=True, capture_output=True, text=True
        )
        there = listing.stdout.split()
    if not names or suite.name in names or suite.name.split()[-1] in names:
        return there
    return [module for module in there if module.rpartition(".")[2] in names]


def _run(suite: Suite, modules: list[str]) -> dict[str, tuple[str, str]]:
    """What each test came to: passed, failed or skipped, and what it said."""
    stem = re.sub(r"\W+", "_", suite.name)
    log, told = _OUT / f"{stem}.log", dict[str, tuple[str, str]]()
    log.unlink(missing_ok=True)
    for module in modules:
        out = _OUT / f"{stem}.out"
        out.unlink(missing_ok=True)
        how = _ended(_command(module, out), log)
        came_to = _of_junit(out) if "/" in module else _of_lines(out, how)
        if not came_to and how != "ended with 0":  # that one has no tests
            came_to = {module: ("failed", f"{how} before a test was done; see {log.name}")}
        told |= came_to
    (_OUT / f"{stem}.json").write_text(json.dumps(told, indent=1))
    return told


def _command(module: str, out: Path) -> list[str]:
    if "/" in module:
        options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--junitxml={out}"]
        return [sys.executable, "-m", "pytest", *options, str(_ROOT / module)]
    ours = [sys.executable, "-m", "ptxloom", "exec", "--on-hazard", "end", "--destroy-on-device-error", "kernel", "--"]
    return [*ours, sys.executable, str(_HERE / "unittests.py"), str(out), module]


def _ended(command: list[str], log: Path) -> str:
    """How a process ended that writes to a log; one that takes too long is ended, and all that it started."""
    with log.open("a") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return f"ended with {process.wait(_LIMIT_SECONDS)}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"took longer than {_LIMIT_SECONDS} seconds"


def _of_lines(path: Path, how: str) -> dict[str, tuple[str, str]]:
    lines = path.read_text().splitlines() if path.exists() else []
    told = {test: (outcome, said) for test, outcome, said in map(json.loads, lines)}
    return {
        test: ("failed", f"its module {how}") if outcome == "began" else (outcome, said)
        for test, (outcome, said) in told.items()
    }


def _of_junit(path: Path) -> dict[str, tuple[str, str]]:
    told = dict[str, tuple[str, str]]()
    for case in ET.parse(path).iter("testcase") if path.exists() else ():  # noqa: S314 - pytest wrote it a moment ago
        name = f"{case.get('classname')}.{case.get('name')}"
        told[name] = ("passed", "")
        for part in case:
            if part.tag in {"failure", "error", "skipped"}:
                told[name] = ("skipped" if part.tag == "skipped" else "failed", part.get("message") or "")
    return told


def _reason(said: str) -> str:
    return next((reason for pattern, reason in REASONS if re.search(pattern, said)), _NOT_KNOWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
