"""A constant expression has the value that ptxas gave it: for the checker, in memory, in operands and in addresses."""

from __future__ import annotations

import numpy as np

import ptxloom as pl
from ptxloom.syntax.constants import constant
from ptxloom.syntax.tree import Declaration, Vector
from recorded.ptxas.constant_cases import HEAD, expressions, module_text, recorded

RECORDED = recorded()
GOOD = {text: value for text, value in RECORDED.items() if value is not None}
MASK = (1 << 64) - 1


def test_the_recording_covers_the_question() -> None:
    assert set(RECORDED) == set(expressions())
    assert len(GOOD) > 500


def test_values_are_those_of_ptxas() -> None:
    module = pl.parse(module_text(GOOD))
    assert module.diagnostics == ()
    (declaration,) = (one for one in module.statements if isinstance(one, Declaration))
    values = declaration.declarators[0].initializer
    assert isinstance(values, Vector)
    found = [constant(element) for element in values.elements[1:]]
    wrong = {
        text: (value, GOOD[text])
        for text, value in zip(GOOD, found, strict=True)
        if value is None or value & MASK != GOOD[text]
    }
    assert wrong == {}


def test_memory_holds_them() -> None:
    module = pl.parse(module_text(GOOD))
    assert pl.global_array(module, "values")[1:].tolist() == list(GOOD.values())


def test_operands_and_offsets_are_worth_the_same() -> None:
    lines = "".join(f"mov.u64 %a, {text};\nst.global.u64 [%b+{8 * at}], %a;\n" for at, text in enumerate(GOOD))
    text = f"{HEAD}.entry k(.param .u64 p) {{ .reg .b64 %a, %b; ld.param.u64 %b, [p];\n{lines}ret; }}"
    out = np.zeros(len(GOOD), np.uint64)
    pl.kernel(pl.parse(text), "k").launch(1, 1, [out])
    assert out.tolist() == list(GOOD.values())


def test_what_ptxas_refuses_is_an_error() -> None:
    missed = [
        text
        for text, value in RECORDED.items()
        if value is None and not any(d.severity is pl.Severity.ERROR for d in pl.check(pl.parse(module_text([text]))))
    ]
    assert missed == []


def test_what_ptxas_takes_is_none() -> None:
    assert [d.rule for d in pl.check(pl.parse(module_text(GOOD)))] == []
