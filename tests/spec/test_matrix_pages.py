"""Every line of this folder's pages has the verdict that its comment says, from us and from ptxas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from oracle.ptxas import assemble, find_ptxas
from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse
from sweeps import part_and_whole

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"^```ptx( head)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(r"//\s*(invalid|warns): \[([a-z, -]+)\](, ptxas accepts)?$")


@dataclass(frozen=True)
class Case:
    """A line of a page: the module around it, and what is reported of it."""

    place: str
    head: str
    line: str
    rules: tuple[str, ...]
    invalid: bool
    ptxas_accepts: bool

    @property
    def module(self) -> str:
        return f"{self.head}{self.line}\n  ret;\n}}\n"

    @property
    def target(self) -> str:
        return re.findall(r"\.target (\w+)", self.head)[0]


def cases(page: Path) -> list[Case]:
    text = page.read_text(encoding="utf-8")
    found: list[Case] = []
    head = ""
    for block in BLOCK.finditer(text):
        if block[1]:
            head = block[2]
            continue
        first = text.count("\n", 0, block.start(2)) + 1
        for number, line in enumerate(block[2].splitlines(), first):
            verdict = VERDICT.search(line)
            rules = tuple(verdict[2].split(", ")) if verdict else ()
            invalid = verdict is not None and verdict[1] == "invalid"
            accepts = not invalid or (verdict is not None and verdict[3] is not None)
            found.append(Case(f"{page.name}:{number}", head, line, rules, invalid, accepts))
    return found


PAGES = sorted(FOLDER.glob("*matrix.md"))
CASES = [case for page in PAGES for case in cases(page)]


def test_the_pages_are_read() -> None:
    assert [page.stem for page in PAGES] == ["ldmatrix", "movmatrix", "stmatrix"]
    assert len(CASES) > 120
    assert sum(case.invalid for case in CASES) > 70


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_our_verdict(case: Case) -> None:
    findings = check(parse(case.module))
    assert sorted(one.rule for one in findings) == sorted(case.rules)
    assert all(one.span.line == case.head.count("\n") + 1 for one in findings)
    severity = {Severity.ERROR} if case.invalid else {Severity.WARNING}
    assert {one.severity for one in findings} <= severity


@pytest.mark.oracle
@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("every", part_and_whole(5, 1))
def test_ptxas_verdict(page: Path, every: int) -> None:
    wrong = [case for case in cases(page)[::every] if assemble(case.module, case.target).accepted != case.ptxas_accepts]
    assert wrong == []
