"""A tree never nests so deep that Python cannot compare, hash, show, copy, store or print it."""

from __future__ import annotations

import copy
import pickle

import pytest

from ptxloom.checker import check
from ptxloom.syntax import format as laid_out
from ptxloom.syntax import parse


@pytest.mark.parametrize(
    "text",
    [
        "{" * 300,
        "{" * 300 + "ret;" + "}" * 300,
        "a " + "{" * 300 + "b" + "}" * 300 + ";",
        "a " + "(" * 300 + "1" + ")" * 300 + ";",
        "{" * 99 + "a " + "-(" * 45 + "b" + ")" * 45 + ";",
        "{" * 99 + "a " + "~" * 49 + "b;",
        "{" * 99 + "a " + "1?1:" * 49 + "b;",
        "{" * 99 + "a " + "+".join("1" * 101) + ";",
        "{" * 99 + "a " + "1" + "+1" * 3000 + ";",
        "{" * 99 + "a " + "1<<1|" * 3000 + "1;",
        "{" * 99 + "a [b" + "+1" * 3000 + "];",
        "{" * 99 + "a b" + "[1]" * 3000 + ";",
        "{" * 99 + "a " + "(" * 45 + "1" + ("+1" * 60 + ")") * 45 + ";",
        "{" * 99 + "a " + "1+1+1+(" * 45 + "1" + ")" * 45 + ";",
        ".global .u32 x[] = {" + "1*" * 3000 + "1};",
    ],
)
def test_whatever_is_read_can_be_used(text: str) -> None:
    module, plain = parse(text), parse(text, fast=False)
    assert module == plain
    assert hash(module) == hash(plain)
    assert repr(module.statements)
    assert laid_out(module)
    assert str(module)
    assert pickle.loads(pickle.dumps(module.statements)) == module.statements  # noqa: S301 - our own bytes
    assert copy.deepcopy(module.statements) == module.statements


@pytest.mark.parametrize("text", ["a " + "-" * 49 + "b;", "a " + "-" * 49 + "5;", "a " + "(.u64)" * 49 + "b;"])
def test_what_is_printed_nests_no_deeper(text: str) -> None:
    module = parse(text)
    assert module.diagnostics == ()
    assert parse(str(module)) == module


@pytest.mark.parametrize(("terms", "rules"), [(100, []), (101, ["nested-too-deeply"]), (500, ["nested-too-deeply"])])
@pytest.mark.parametrize("text", ["a {};", "a [b+{}];", ".global .u32 x = {};"])
def test_a_chain_has_an_end(text: str, terms: int, rules: list[str]) -> None:
    for sign in ("+", "*", " << "):
        module = parse(text.replace("{}", sign.join(["1"] * (terms - ("b+" in text)))))
        assert [one.rule for one in module.diagnostics] == rules
        assert [one.rule for one in check(module) if one.rule == "nested-too-deeply"] == rules
