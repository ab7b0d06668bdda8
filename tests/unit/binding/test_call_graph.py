"""What calls name, and whom a kernel can reach."""

from __future__ import annotations

import pytest

from ptxloom.binding.call_graph import call_of, called, reachable, reached_from
from ptxloom.survey import survey
from ptxloom.syntax import instructions, parse

FUNCTIONS = """
.func f() { ret; } .func g(.param .b32 x) { call f; ret; } .func (.reg .b32 r) h() { ret; } .func lonely() { ret; }
.global .u64 table[1] = {h};
.entry k() { .reg .b64 fp; P: .callprototype _ (.param .b32 _); call fp, (1), P; call g, (1); ret; }
"""


@pytest.mark.parametrize(
    ("text", "callee", "results", "passed", "targets"),
    [
        ("call f;", "f", 0, 0, None),
        ("call.uni (r), f;", "f", 1, 0, None),
        ("call f, (a, 1);", "f", 0, 2, None),
        ("call (r, s), %fp, (), P;", "%fp", 2, 0, "P"),
        ("call %fp, P;", "%fp", 0, 0, "P"),
    ],
)
def test_the_operands_of_a_call(text: str, callee: str, results: int, passed: int, targets: str | None) -> None:
    (instruction,) = instructions(parse(text))
    found = call_of(instruction)
    assert found is not None
    assert called(instruction) == callee
    assert (len(found.results), len(found.passed)) == (results, passed)
    assert getattr(found.targets, "text", None) == targets


@pytest.mark.parametrize("text", ["call;", "call (r);", "bra f;"])
def test_what_calls_nothing(text: str) -> None:
    (instruction,) = instructions(parse(text))
    assert call_of(instruction) is None
    assert not called(instruction)


def test_a_kernel_reaches_what_it_names_and_what_tables_hold() -> None:
    module = parse(FUNCTIONS)
    assert [one.name for one in reachable(module, module.functions["k"])] == ["f", "g", "h", "k"]


def test_a_call_through_a_register_calls_no_function_by_name() -> None:
    kernel = next(one for one in survey(parse(FUNCTIONS)).functions if one.function.name == "k")
    assert kernel.calls == ("g",)


def test_recursion_ends() -> None:
    assert reached_from({"a": {"b"}, "b": {"a", "c"}, "c": set(), "d": {"a"}})["a"] == {"a", "b", "c"}
