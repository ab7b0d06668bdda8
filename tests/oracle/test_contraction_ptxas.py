"""ptxas fuses what is recorded of it, and what we say of many more programs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracle.ptxas import find_ptxas, release
from oracle.sass import asked_forms, asked_programs, find_nvdisasm
from ptxloom.machine.contraction.rewrite import contracted
from ptxloom.syntax import parse
from recorded.ptxas.contraction_cases import MIXTURES, cases, computed, module_text, recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.sweep,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)"),
    pytest.mark.skipif(find_nvdisasm() is None, reason="nvdisasm is not installed (nvidia-cuda-nvdisasm)"),
]


@pytest.mark.skipif(release() != recorded().ptxas, reason="another ptxas than was recorded")
def test_recording() -> None:
    said = recorded()
    assert asked_forms() == said.fused
    assert {name: asked_programs(mixture) for name, mixture in MIXTURES.items()} == said.stored


@pytest.mark.parametrize("name", MIXTURES)
def test_more_programs(name: str) -> None:
    mixture = replace(MIXTURES[name], count=500)
    programs = cases(mixture)
    module = parse(module_text(programs))
    wrong: list[str] = []
    for at, said in enumerate(asked_programs(mixture)):
        body = contracted(module, f"k{at}").module.functions[f"k{at}"].body
        assert body is not None
        if computed(body.statements) != said:
            wrong.append(f"{programs[at].lines} {programs[at].outputs}")
    assert wrong == []
