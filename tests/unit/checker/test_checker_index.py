"""The index from a rule to the functions that find it: every finding comes from one of them, and each says the rule."""

from __future__ import annotations

import importlib
import random
import sys
from collections import defaultdict
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, cast

import pytest

from ptxloom.checker import check, rule_page, rules
from ptxloom.checker.index import finders
from ptxloom.checker.instruction.fragments import VectorElement
from ptxloom.diagnostics import Diagnostic, UsageError
from ptxloom.isa.load import opcodes
from ptxloom.syntax import parse
from ptxloom.syntax.lexer import Problem
from recorded.ptxas.module_cases import module_cases
from recorded.ptxas.mutation_cases import module_text, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COPIES = frozenset(("dataclasses.replace", "ptxloom.syntax.scopes.Scopes._report"))
"""What makes a finding of one that was made before."""
_NEAR = 3  # callers: between a function that finds something and the finding stand `Site.error` and the like


def callers(depth: int) -> list[str]:
    """The functions that are running, the innermost first."""
    frame, names = sys._getframe(depth), list[str]()
    while frame is not None and len(names) < _NEAR:
        names.append(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return names


def broken_texts() -> Iterator[str]:
    """Text with mistakes of every kind."""
    chance = random.Random(1)
    for rule in rules():
        yield rule_page(rule).example
    yield from (case.text for case in chance.sample(module_cases(), 800))
    for opcode in opcodes():
        yield module_text("9.5", "sm_100a", tuple(text for _, text in mutants(opcode, 12)))


def test_every_finding_comes_from_a_function_of_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    stray: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    witnessed: set[tuple[str, str]] = set()

    def watch(kind: type, rule_of: Callable[[Any], str]) -> None:
        made: Callable[..., None] = kind.__init__

        def make(self: object, *given: object, **named: object) -> None:
            made(self, *given, **named)
            rule, stack = rule_of(self), callers(2)
            found = [name for name in stack if name in finders(rule)] if rule else []
            witnessed.update((rule, name) for name in found[:1])
            if rule and not found and stack[0] not in _COPIES:
                stray[rule].add(tuple(stack))

        monkeypatch.setattr(kind, "__init__", make)

    watch(Diagnostic, lambda one: one.rule)
    watch(Problem, lambda one: one.rule)
    watch(VectorElement, lambda one: one.problem[0] if one.problem else "")
    for text in broken_texts():
        check(parse(text), hints=True)
    assert stray == {}
    assert len(witnessed) > 120


def strings(constant: object) -> Iterator[str]:
    """The strings in compiled code, and the names it looks up."""
    match constant:
        case str():
            yield constant
        case CodeType():
            yield from constant.co_names
            for inner in constant.co_consts:
                yield from strings(inner)
        case tuple():
            for inner in cast("tuple[object, ...]", constant):
                yield from strings(inner)
        case _:
            pass


def function(name: str) -> FunctionType:
    """The function of a full name."""
    outer, _, last = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(outer), last)
    except ModuleNotFoundError:
        module, _, owner = outer.rpartition(".")
        found = getattr(getattr(importlib.import_module(module), owner), last)
    assert isinstance(found, FunctionType)
    return found


@pytest.mark.parametrize("rule", rules())
def test_each_function_of_the_index_says_the_rule(rule: str) -> None:
    assert finders(rule)
    for name in finders(rule):
        it = function(name)
        said = set(strings(it.__code__))
        assert rule in said or any(rule in str(it.__globals__.get(text, "")) for text in said), name


def test_the_index_knows_no_other_rule() -> None:
    with pytest.raises(UsageError, match="no-such-rule"):
        finders("no-such-rule")
