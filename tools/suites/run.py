"""`make suites`: test suites of projects that drive CUDA, as they are, without a GPU; failures counted by reason.

    python tools/suites/run.py [NAME...]

Runs in the environment that `make suites` makes, of what the package index carries. Prints a table, and writes what
each test came to into `bench/out/`. Ends with 1 if something failed for a reason that is not known.
"""

from __future__ import annotations

import json
import re
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
_LIMIT_SECONDS: Final = 3000
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
        for part in ("cudadrv", "cudapy", "nocuda", "nrt", "doc_examples", "core")
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
    chosen = [suite for suite in SUITES if not names or suite.name in names or suite.name.split()[-1] in names]
    if not chosen:
        print(f"no suite is called {' '.join(names)}: there are {', '.join(suite.name for suite in SUITES)}")
        return 2
    _OUT.mkdir(parents=True, exist_ok=True)
    print("| suite | version | passed | failed | skipped | why |\n|---|---|---|---|---|---|")
    unknown = 0
    for suite in chosen:
        told = _run(suite)
        counts = Counter(outcome for outcome, _ in told.values())
        why = Counter(_reason(said) for outcome, said in told.values() if outcome == "failed")
        unknown += why[_NOT_KNOWN]
        reasons = "; ".join(f"{count} {reason}" for reason, count in why.most_common())
        row = (suite.name, version(suite.package), counts["passed"], counts["failed"], counts["skipped"], reasons)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return int(unknown > 0)


def _run(suite: Suite) -> dict[str, list[str]]:
    """What each test came to: passed, failed or skipped, and what it said."""
    stem = re.sub(r"\W+", "_", suite.name)
    out, log = _OUT / f"{stem}.out", _OUT / f"{stem}.log"
    out.unlink(missing_ok=True)
    ours = "/" in suite.tests
    if ours:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            f"--junitxml={out}",
        ]
        command.append(str(_ROOT / suite.tests))
    else:
        command = [sys.executable, "-m", "ptxloom", "exec", "--on-hazard", "end", "--"]
        command += [sys.executable, str(_HERE / "unittests.py"), str(out), suite.tests]
    with log.open("w") as stream:
        try:
            ended = subprocess.run(
                command, stdout=stream, stderr=subprocess.STDOUT, check=False, timeout=_LIMIT_SECONDS
            )
            how = f"ended with {ended.returncode}"
        except subprocess.TimeoutExpired:
            how = f"took longer than {_LIMIT_SECONDS} seconds"
    if not out.exists():
        return {suite.name: ["failed", f"the suite {how} before it was done; see {log.name}"]}
    return _of_junit(out) if ours else json.loads(out.read_text())


def _of_junit(path: Path) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for case in ET.parse(path).iter("testcase"):  # noqa: S314 - pytest wrote it a moment ago
        name = f"{case.get('classname')}.{case.get('name')}"
        told[name] = ["passed", ""]
        for part in case:
            if part.tag in {"failure", "error", "skipped"}:
                told[name] = ["skipped" if part.tag == "skipped" else "failed", part.get("message") or ""]
    return told


def _reason(said: str) -> str:
    return next((reason for pattern, reason in REASONS if re.search(pattern, said)), _NOT_KNOWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
