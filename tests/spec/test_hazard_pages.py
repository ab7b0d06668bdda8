"""Every faulty kernel of this folder's pages is reported at its line, by its tool and kind; its twin is silent."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from late import launched_late
from oracle.ptxas import assemble, find_ptxas
from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.hazards.kinds import BY_RULE
from ptxloom.machine import LaunchError, kernel
from ptxloom.machine.launch.options import CHECKS
from ptxloom.machine.runtime.structs import shadow
from ptxloom.syntax import parse

FOLDER = Path(__file__).parent
PAGES = (
    "memcheck",
    "synccheck",
    "racecheck",
    "initcheck",
    "asynchronous",
    "clusterlaunchcontrol",
    "tensor_copies",
    "wgmma",
    "tensor_memory",
    "idioms",
)
FENCES = "racecheck:fences"  # what only this tool reports is so
BLOCK = re.compile(r"^```ptx(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
VERDICT = re.compile(r"//\s*undefined: \[([a-z., -]+)\]$")
OPTION = re.compile(r"^// (block|grid|cluster|checks|timeout|unwritten): (.+)\n")


@dataclass(frozen=True)
class Case:
    """A kernel of a page."""

    place: str
    text: str
    wanted: frozenset[tuple[int, str]]
    options: dict[str, Any]
    twin: bool


def options_of(body: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while match := OPTION.match(body):
        match match[1]:
            case "checks":
                found["checks"] = tuple(match[2].split(", "))
            case "timeout":
                found["timeout"] = float(match[2])
            case "unwritten":  # which arguments hold nothing yet
                found["uninitialised"] = [int(match[2])]
            case name:
                found[name] = int(match[2])
        body = body[match.end() :]
    return found


def cases() -> list[Case]:
    found: list[Case] = []
    for name in PAGES:
        page = FOLDER / f"{name}.md"
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        head = tail = ""
        for block in BLOCK.finditer(text):
            if block[1].strip() == "head":
                head = block[2]
                continue
            if block[1].strip() == "tail":
                tail = block[2]
                continue
            whole = f"{head}{block[2]}{tail}  ret;\n}}\n"
            wanted = frozenset(
                (number, rule)
                for number, line in enumerate(whole.splitlines(), 1)
                if (verdict := VERDICT.search(line))
                for rule in verdict[1].split(", ")
            )
            line = text.count("\n", 0, block.start(2)) + 1
            found.append(Case(f"{name}.md:{line}", whole, wanted, options_of(block[2]), block[1].strip() == "twin"))
    return found


CASES = cases()
ASYNCHRONOUS = [case for case in CASES if case.place.startswith(PAGES[4:9])]


def _maps() -> list[object]:
    """A tensor of 16 rows of 32 words with boxes of 4 rows, its map, and the map in memory."""
    tensor = np.arange(512, dtype=np.uint32).reshape(16, 32)
    made = pl.tensor_map(tensor, (32, 4))
    return [tensor, made, made]


def arguments_of(case: Case) -> list[object]:
    """64 words, 62 that are read-only, and where a page is about tensor maps a tensor with its maps."""
    fixed = np.zeros(62, np.uint32)
    fixed.flags.writeable = False
    return [np.zeros(64, np.uint32), fixed, *(_maps() if case.place.startswith("tensor_copies") else [])]


def hazards(case: Case, **more: int) -> set[tuple[int, str]]:
    usual = [c for c in CHECKS if c != FENCES or case.place.startswith("tensor_memory")]
    options: dict[str, Any] = {"grid": 1, "block": 32, "checks": usual, "timeout": 300.0} | case.options | more
    options["checks"] = [c for c in options["checks"] if c in CHECKS]
    grid, block = options.pop("grid"), options.pop("block")
    try:
        ready, limit = kernel(parse(case.text), "k"), options.pop("timeout")
        result = launched_late(lambda t: ready.launch(grid, block, arguments_of(case), timeout=t, **options), limit)
    except LaunchError as error:
        return {(h.line, h.rule) for h in error.hazards}
    return {(h.line, h.rule) for h in result.hazards}


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.place)
def test_a_kernel_is_reported_as_its_page_says(case: Case) -> None:
    assert case.twin != bool(case.wanted)
    assert {rule for _, rule in case.wanted} <= set(BY_RULE)
    assert hazards(case) == case.wanted


@pytest.mark.sample(every=47)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.place)
def test_no_order_of_warps_hides_a_hazard(case: Case, seed: int, threads: int) -> None:
    again = replace(case, options=case.options | {"schedule_seed": seed, "threads": threads})
    assert hazards(again) == case.wanted


def _by_fences(case: Case) -> frozenset[tuple[int, str]]:
    """What of a case needs `racecheck:fences`: fences that compilers leave out, copies that CUTLASS repeats."""
    again = case.text.count("tcgen05.cp") == 2
    return frozenset(w for w in case.wanted if again or w[1] in {"racecheck.tensor-fence", "racecheck.proxy-reuse"})


@pytest.mark.sample(every=9)
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.place.startswith("tensor_memory") and not c.twin], ids=lambda c: c.place
)
def test_fences_that_compilers_leave_out_are_reported_when_asked_for(case: Case) -> None:
    usual = case.options | {"checks": [c for c in CHECKS if c != FENCES]}
    assert hazards(replace(case, options=usual)) == case.wanted - _by_fences(case)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", [case for case in ASYNCHRONOUS if case.twin], ids=lambda c: c.place)
def test_a_clock_set_back_again_and_again_accuses_nobody(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = case.options.get("block", 32) * case.options.get("cluster", 1)
    many = (
        (threads + shadow.COLUMNS).bit_length() - 7 if threads > 64 else 0
    )  # they take more bits, and leave as many ticks
    monkeypatch.setattr(shadow, "TICK_BITS", 13 + many)
    assert hazards(case) == set()


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.place)
def test_no_page_holds_an_error_that_the_checker_finds(case: Case) -> None:
    module = parse(case.text)
    assert not module.diagnostics
    assert not [d for d in check(module) if d.severity is Severity.ERROR]


@pytest.mark.sample(every=24)
@pytest.mark.oracle
@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.place)
def test_ptxas_accepts_every_kernel(case: Case) -> None:
    target = re.findall(r"\.target (\w+)", case.text)[0]
    verdict = assemble(case.text, target)
    assert verdict.accepted, verdict


def test_there_are_enough_kernels() -> None:
    assert sum(not case.twin for case in CASES) >= 60
    of_tensor_memory = [case for case in CASES if case.place.startswith("tensor_memory")]
    assert sum(bool(case.wanted) for case in of_tensor_memory) >= 60
    assert sum(case.twin and not case.wanted for case in of_tensor_memory) >= 60
