"""What is fused is what ptxas fuses: random programs, and ways in which code and control may stand between."""

from __future__ import annotations

import pytest

from ptxloom.machine.contraction.rewrite import contracted
from ptxloom.syntax import parse
from recorded.ptxas.contraction_cases import FORMS, MIXTURES, cases, computed, forms_text, module_text, recorded

SAID = recorded()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", MIXTURES)
def test_programs_compute_what_ptxas_makes_them_compute(name: str) -> None:
    programs = cases(MIXTURES[name])
    module = parse(module_text(programs))
    assert module.diagnostics == ()
    wrong: list[str] = []
    fusions = 0
    for at, said in enumerate(SAID.stored[name]):
        found = contracted(module, f"k{at}")
        fusions += len(found.fusions)
        body = found.module.functions[f"k{at}"].body
        assert body is not None
        if computed(body.statements) != said:
            wrong.append(f"k{at}: {programs[at].lines}")
    assert wrong == []
    assert len(SAID.stored[name]) == len(programs)
    assert fusions > len(programs) // 8


def test_forms() -> None:
    assert set(SAID.fused) == set(FORMS)
    module = parse(forms_text())
    assert module.diagnostics == ()
    found = {form: len(contracted(module, f"k{at}").fusions) for at, form in enumerate(FORMS)}
    assert found == SAID.fused
