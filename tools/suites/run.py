"""`make suites`: test suites of projects that drive CUDA, as they are, without a GPU.

    python tools/suites/run.py [--jobs COUNT] [--limit SECONDS] [NAME...]

Runs in the environment that `make suites` makes, of what the package index carries. A module of tests is a process, so
that one that does not end takes no other with it. NAME is a suite, its last word, or a module of tests; without one,
all run. Says of each module what came of it, and at the end a table, and what failed. `known.toml` lists the failures
that are known, and why; ends with 1 if another test failed. What each test came to, and what the modules wrote, is in
`bench/out/suites/`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from ptxloom.cuda_driver import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
_OUT: Final = _ROOT / "bench" / "out" / "suites"
_INTERRUPTED: Final = 130
_SAID: Final = 200  # characters of what a test said


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite of a package.

    Attributes:
        name: Of the suite.
        package: Whose version is printed.
        tests: The package or module of its tests, of unittest's kind; or a folder of this repository, for pytest.
        device: On which they run.
    """

    name: str
    package: str
    tests: str
    device: str = "sm_80"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test came to: passed, failed or skipped, and what it said."""

    what: str
    said: str = ""


SUITES: Final = (
    *(
        Suite(f"numba-cuda {part}", "numba-cuda", f"numba.cuda.tests.{part}")
        for part in ("cudadrv", "cudapy", "nocuda", "nrt", "doc_examples")
    ),
    Suite("numba-cuda fp8", "numba-cuda", "numba.cuda.tests.cudapy.test_fp8_bindings", "sm_90"),
    Suite("programs of ours for numba, cuda.core, tinygrad and Triton", "ptxloom", "tests/integrations"),
)


def main(arguments: Sequence[str]) -> int:
    """Run the suites of these names, or all."""
    asked = _parsed(arguments)
    chosen = _chosen(asked.names)
    if not chosen:
        print(f"no suite is called {' '.join(asked.names)}: there are {', '.join(suite.name for suite in SUITES)}")
        return 2
    try:
        build.folder()  # once, before many want it
    except build.NoDriver as error:
        print(error)
        return 2
    _OUT.mkdir(parents=True, exist_ok=True)
    print(f"{len(chosen)} modules of tests, {asked.jobs} at a time, each within {asked.limit} seconds", flush=True)
    told, left = _run_all(chosen, asked.jobs, asked.limit)
    known = read_known(_HERE / "known.toml")
    for suite, outcomes in told.items():
        lines = {test: (one.what, one.said) for test, one in outcomes.items()}
        (_OUT / f"{_stem(suite.name)}.json").write_text(json.dumps(lines, indent=1))
    print("\n| suite | version | passed | failed | of these known | skipped |\n|---|---|---|---|---|---|")
    for suite, outcomes in told.items():
        print(row(suite.name, version(suite.package), outcomes, known))
    status = summary({test: one for outcomes in told.values() for test, one in outcomes.items()}, known)
    return status or (_INTERRUPTED if left else 0)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run test suites of projects that drive CUDA, without a GPU.")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("names", nargs="*", metavar="NAME", help="a suite, its last word, or a module of tests")
    parser.add_argument(
        "--jobs", type=int, default=min(cores, 8), help="modules at a time (default: the cores there are)"
    )
    parser.add_argument("--limit", type=int, default=600, help="seconds that a module may take (default: 600)")
    return parser.parse_args(arguments)


# -- what is known, and what is reported -------------------------------------------------------------------------------


def read_known(path: Path) -> dict[str, str]:
    """Why a test fails, by the end of its name."""
    return {test: one["why"] for one in tomllib.loads(path.read_text("utf-8"))["known"] for test in one["tests"]}


def why_known(test: str, known: Mapping[str, str]) -> str | None:
    """Why a test is known to fail; None if it is not."""
    return next((why for end, why in known.items() if f".{test}".endswith(f".{end}")), None)


def row(name: str, number: str, outcomes: Mapping[str, Outcome], known: Mapping[str, str]) -> str:
    """A suite's row of the table."""
    counts = Counter(one.what for one in outcomes.values())
    expected = sum(one.what == "failed" and why_known(test, known) is not None for test, one in outcomes.items())
    cells = (name, number, counts["passed"], counts["failed"], expected, counts["skipped"])
    return "| " + " | ".join(map(str, cells)) + " |"


def summary(outcomes: Mapping[str, Outcome], known: Mapping[str, str]) -> int:
    """Print what failed, known or not, and what is known to fail and passed.

    Returns:
        The exit status: 1 if something failed that is not known.
    """
    why = {test: why_known(test, known) for test in outcomes}
    failed = [test for test, one in outcomes.items() if one.what == "failed"]
    new = [test for test in failed if why[test] is None]
    _listed("failed, as is known", [f"{test}: {why[test]}" for test in failed if why[test] is not None])
    mended = [test for test, one in outcomes.items() if one.what == "passed" and why[test] is not None]
    _listed("passed, and known.toml says that they fail", mended)
    _listed("FAILED, and nothing is known of it", [f"{test}: {outcomes[test].said[:_SAID]}" for test in new])
    print(f"\n{f'{len(new)} new failures' if new else 'no new failures'}; what the tests wrote is in {_OUT}")
    return int(bool(new))


def _listed(heading: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"\n{heading}:")
        for line in lines:
            print(f"  {line}")


def _counted(outcomes: Mapping[str, Outcome]) -> str:
    counts = Counter(one.what for one in outcomes.values())
    return ", ".join(f"{counts[what]} {what}" for what in ("passed", "failed", "skipped") if counts[what]) or "no tests"


def _run_all(chosen: Sequence[tuple[Suite, str]], jobs: int, limit: int) -> tuple[dict[Suite, dict[str, Outcome]], int]:
    """What the tests of modules came to, each told as it is done, and how many are not: the keyboard can end it."""
    left = 0
    told: dict[Suite, dict[str, Outcome]] = {suite: {} for suite, _ in chosen}
    running: set[int] = set()
    with ThreadPoolExecutor(jobs) as workers:
        modules = {workers.submit(_run, *one, limit, running): one for one in chosen}
        try:
            for number, done in enumerate(as_completed(modules), 1):
                suite, module = modules[done]
                told[suite] |= done.result()
                print(f"{number:3} {suite.name}, {module.rpartition('.')[2]}: {_counted(done.result())}", flush=True)
        except KeyboardInterrupt:
            left = sum(not one.done() for one in modules)
            print(f"\nended from the keyboard: {left} modules are not done")
            workers.shutdown(wait=False, cancel_futures=True)
            for process in tuple(running):
                with suppress(ProcessLookupError):  # it has just ended
                    os.killpg(process, signal.SIGKILL)
    return told, left


# -- a module of tests -------------------------------------------------------------------------------------------------


def _chosen(names: Sequence[str]) -> list[tuple[Suite, str]]:
    """The modules that somebody who says these names wants: all of a suite that is named; all, if nothing is."""
    packages = [suite.tests for suite in SUITES if "/" not in suite.tests]
    command = [sys.executable, _HERE / "unittests.py", "--list", *packages]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    there = [
        (suite, module)
        for suite in SUITES
        for module in ([suite.tests] if "/" in suite.tests else dict.fromkeys(listed))
        if f"{module}.".startswith(f"{suite.tests}.")
    ]
    return [
        (suite, module)
        for suite, module in there
        if not names or {suite.name, suite.name.split()[-1], module.rpartition(".")[2]} & set(names)
    ]


def _run(suite: Suite, module: str, limit: int, running: set[int]) -> dict[str, Outcome]:
    """What each test of a module came to; its process is among those that run while it does."""
    stem = f"{_stem(suite.name)}.{_stem(module.rpartition('.')[2])}"
    out, log = _OUT / f"{stem}.out", _OUT / f"{stem}.log"
    out.unlink(missing_ok=True)
    how = _ended(_command(suite, module, out), log, limit, running)
    came_to = _of_junit(out) if "/" in module else _of_lines(out, how)
    if not came_to and how != "ended with 0":  # that one has no tests
        came_to = {module: Outcome("failed", f"{how} before a test was done; see {log.name}")}
    out.unlink(missing_ok=True)
    return came_to


def _command(suite: Suite, module: str, out: Path) -> list[str]:
    if "/" in module:
        options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--junitxml={out}"]
        return [sys.executable, "-m", "pytest", *options, str(_ROOT / module)]
    ours = [sys.executable, "-m", "ptxloom", "exec", "--device", suite.device, "--on-hazard", "end"]
    theirs = [sys.executable, str(_HERE / "unittests.py"), str(out), module]
    return [*ours, "--destroy-on-device-error", "kernel", "--", *theirs]


def _ended(command: Sequence[str], log: Path, limit: int, running: set[int]) -> str:
    """How a process ended that writes to a log; one that takes too long is ended, and all that it started."""
    with log.open("w") as stream:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True)
        running.add(process.pid)
        try:
            how = f"ended with {process.wait(limit)}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            how = f"took longer than {limit} seconds (`--limit`)"
        finally:
            running.discard(process.pid)
        stream.write(f"\n{how} after {time.monotonic() - began:.0f} seconds\n")
    return how


def _of_lines(path: Path, how: str) -> dict[str, Outcome]:
    lines = path.read_text().splitlines() if path.exists() else []
    told = {test: Outcome(what, said) for test, what, said in map(json.loads, lines)}
    return {
        test: Outcome("failed", f"during it, its module {how}") if one.what == "began" else one
        for test, one in told.items()
    }


def _of_junit(path: Path) -> dict[str, Outcome]:
    told = dict[str, Outcome]()
    for case in ET.parse(path).iter("testcase") if path.exists() else ():  # noqa: S314 - pytest wrote it a moment ago
        name = f"{case.get('classname')}.{case.get('name')}"
        told[name] = Outcome("passed")
        for part in case:
            if part.tag in {"failure", "error", "skipped"}:
                what = "skipped" if part.tag == "skipped" else "failed"
                told[name] = Outcome(what, part.get("message") or "")
    return told


def _stem(name: str) -> str:
    return re.sub(r"\W+", "_", name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
