"""The page's checker says what Python says of instructions, or nothing: of all statements that ptxas was asked."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from corpus_files import corpus_files
from ptxloom.checker import check
from ptxloom.checker.core.context import Platform, Site
from ptxloom.checker.core.scope import VisibleNames
from ptxloom.checker.instruction.availability import still_there, target_suffices, version_suffices
from ptxloom.checker.instruction.opcode import stranger
from ptxloom.checker.instruction.operands import operand_count
from ptxloom.checker.instruction.qualifiers import form_exists
from ptxloom.diagnostics import Severity
from ptxloom.isa import PtxVersion, Target, instruction_classes, known
from ptxloom.syntax import parse
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Instruction
from recorded.ptxas.mutations import Case, Recording
from web_port import ask

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic

ASKED = 40  # one statement in 40 in every run
ALL_RULES = (form_exists, version_suffices, target_suffices, still_there, operand_count)
Finding = tuple[str, str, int, int]


def cases(every: int) -> list[Case]:
    return [case for place, case in enumerate(Recording.load().cases) if place % every == 0]


@cache
def answers(every: int) -> list[list[list[Any]]]:
    return ask([asked(case) for case in cases(every)])


def asked(case: Case) -> tuple[str, str, dict[str, str]]:
    version, target = case.platform.split()
    return "check", case.text, {"version": version, "target": target}


def python_findings(case: Case) -> list[Finding] | None:
    """What the rules that the page has say of a statement; None where it cannot be read."""
    module = parse(case.text)
    if module.diagnostics or not all(isinstance(one, Instruction) for one in module.statements):
        return None
    version, target = case.platform.split()
    platform = Platform(PtxVersion.parse(version), Target.parse(target))
    found: list[Diagnostic] = []
    for one in module.statements:
        assert isinstance(one, Instruction)
        if known(one.opcode):
            site = Site(bind(one), VisibleNames(), platform)
            found += [finding for rule in ALL_RULES for finding in rule(site) if "lets it pass" not in finding.message]
        elif one.opcode not in instruction_classes():
            found.append(stranger(one, {}))
    return [(one.rule, one.message, one.span.start, one.span.end) for one in found]


@pytest.mark.parametrize("every", [ASKED, pytest.param(1, marks=pytest.mark.sweep)])
def test_the_page_says_what_python_says_in_the_same_words_at_the_same_place(every: int) -> None:
    some = cases(every)
    compared = spoke = silent = 0
    for case, findings in zip(some, answers(every), strict=True):
        wanted = python_findings(case)
        unread = any(severity == "unread" for _, severity, *_ in findings)
        if wanted is None or unread:
            continue
        said = [(rule, message, start, end) for rule, _, message, start, end in findings if rule != "vector-length"]
        compared += 1
        spoke += bool(said)
        if not said and wanted:
            silent += 1  # several forms have the spelling: the page leaves it to Python
            continue
        assert said == wanted, case.text
    assert compared > 0.9 * len(some), compared
    assert spoke > 0.2 * compared, spoke
    assert silent < 0.01 * compared, silent


@pytest.mark.parametrize("every", [ASKED, pytest.param(1, marks=pytest.mark.sweep)])
def test_the_page_calls_nothing_wrong_that_python_does_not(every: int) -> None:
    some = cases(every)
    wrong: dict[str, list[Case]] = defaultdict(list)
    for case, findings in zip(some, answers(every), strict=True):
        if any(severity == "error" for _, severity, *_ in findings):
            wrong[case.platform].append(case)
    assert sum(map(len, wrong.values())) > 0.2 * len(some)
    for platform, together in wrong.items():
        version, target = platform.split()
        for case in together:
            ours = check(parse(case.text), target, version)
            assert any(one.severity is Severity.ERROR for one in ours), case.text


def test_the_page_reads_every_statement_of_real_files_and_finds_no_error_that_python_does_not() -> None:
    files = corpus_files()
    texts = [file.read() for file in files]
    for file, text, findings in zip(files, texts, ask([("check", text, {}) for text in texts]), strict=True):
        ours = {(one.rule, one.span.start) for one in check(parse(text))} if findings else set[tuple[str, int]]()
        assert [one for one in findings if one[1] == "unread" or (one[0], one[3]) not in ours] == [], file.name
