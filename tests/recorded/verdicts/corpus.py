"""The corpus whose verdicts are kept: pages of hazards and idioms, real kernels, planted bugs; each under every tool.

`python -m recorded.verdicts.corpus`, from `tests`, judges all of it again and rewrites `verdicts.json`: read the diff.
With words behind it, only what has one of them in its name.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from diagnosis.planted.catalogue import BUGS, KERNELS
from diagnosis.planted.launching import launch as launch_planted
from kernels.catalog import cases
from kernels.launching import launch as launch_real
from late import launched_late
from ptxloom.machine import LaunchError, kernel
from ptxloom.machine.launch.options import CHECKS
from ptxloom.syntax import parse
from spec.test_hazard_pages import CASES as PAGES
from spec.test_hazard_pages import FOLDER, arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ptxloom.machine import Hazard, LaunchResult

TOOLS = tuple(
    check for check in CHECKS if check != "racecheck:fences"
)  # fences that libraries leave out are no verdict
RECORD: Final = Path(__file__).with_name("verdicts.json")
#: By tool, what it has to say of a kernel: each kind of hazard with the lines it is reported at.
Verdict: TypeAlias = dict[str, list[str]]


def verdict_of(run: Callable[[], LaunchResult]) -> Verdict:
    """What every tool says of a launch; one launch serves all of them, which do not disturb each other."""
    try:
        hazards: Iterable[Hazard] = run().hazards
    except LaunchError as error:
        hazards = error.hazards
    found: Verdict = {}
    for hazard in hazards:
        told = found.setdefault(tool_of(hazard), [])
        told.append(f"{hazard.kind} at line {hazard.line}")
    return {tool: sorted(set(told)) for tool, told in sorted(found.items())}


def tool_of(hazard: Hazard) -> str:
    """The tool that reports a hazard, as `checks` names it."""
    tool = hazard.rule.partition(".")[0]
    if hazard.rule == "memcheck.overrun":
        return "memcheck:variables"
    return f"{tool}:global" if tool in {"racecheck", "initcheck"} and hazard.space == "global" else tool


def corpus() -> dict[str, Callable[[], Verdict]]:
    """Every kernel by its name, and what judges it."""
    found: dict[str, Callable[[], Verdict]] = {}
    times: Counter[str] = Counter()
    for page in PAGES:
        title = _title(page.place)
        times[title] += 1
        found[f"{title} ({times[title]})"] = _judge_page(page)
    for case in cases():
        for architecture in case.architectures:
            found[f"kernels: {case.name}, {architecture}"] = _judge_real(case, architecture)
    for right in KERNELS:
        found[f"planted: {right.name}, right"] = _judge_planted(right, right.text, right.make)
    for bug in BUGS:
        found[f"planted: {bug.kernel.name}, {bug.id}"] = _judge_planted(
            bug.kernel, bug.text, bug.make or bug.kernel.make
        )
    return found


def _title(place: str) -> str:
    """The page and the heading that stands above a line of it."""
    name, _, line = place.partition(":")
    above = (FOLDER / name).read_text(encoding="utf-8").splitlines()[: int(line)]
    heading = next(text for text in reversed(above) if text.startswith("#"))
    return f"{name.removesuffix('.md')}: {heading.lstrip('# ')}"


def _judge_page(page: Any) -> Callable[[], Verdict]:
    def run() -> LaunchResult:
        options = {"grid": 1, "block": 32, "timeout": 300.0} | page.options
        grid, block = options.pop("grid"), options.pop("block")
        options["checks"] = [check for check in options.get("checks", TOOLS) if check in CHECKS]
        ready, limit = kernel(parse(page.text), "k"), options.pop("timeout")
        return launched_late(lambda t: ready.launch(grid, block, arguments_of(page), timeout=t, **options), limit)

    return lambda: verdict_of(run)


def _judge_real(case: Any, architecture: str) -> Callable[[], Verdict]:
    return lambda: verdict_of(lambda: launch_real(case, architecture, case.arguments(), checks=TOOLS, timeout=600))


def _judge_planted(case: Any, text: str, make: Callable[[], Any]) -> Callable[[], Verdict]:
    return lambda: verdict_of(lambda: launch_planted(case, text, make(), checks=TOOLS, timeout=600))


def recorded() -> dict[str, Verdict]:
    """The verdicts that are kept; none for a kernel of which nothing is said."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def record(words: list[str]) -> None:
    """Judge kernels again, and keep what comes of it."""
    judges, kept = corpus(), recorded()
    known = {name: kept[name] for name in judges if name in kept}
    for name, judge in judges.items():
        if not words or any(word in name for word in words):
            known[name] = judge()
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    RECORD.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    np.seterr(all="ignore")
    record(sys.argv[1:])
