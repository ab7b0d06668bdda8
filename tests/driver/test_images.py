"""What a program hands to its driver is checked once: that it is legal is kept from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom import checker
from ptxloom.cuda_driver.errors import Refused
from ptxloom.cuda_driver.images import module_of

if TYPE_CHECKING:
    from pathlib import Path

    from ptxloom.diagnostics import Findings
    from ptxloom.syntax.module import Module

LEGAL = b".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
ILLEGAL = LEGAL.replace(b"ret;", b"mov.u32 %a, 1;")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The texts that were checked, with an empty cache."""
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    real, seen = checker.check, list[str]()

    def watched(module: Module) -> Findings:
        seen.append(module.source.text)
        return real(module)

    monkeypatch.setattr(checker, "check", watched)
    return seen


def test_a_legal_module_is_checked_once(checked: list[str]) -> None:
    for _ in range(3):
        assert list(module_of(LEGAL, "", 80).kernels) == ["k"]
    assert checked == [LEGAL.decode()]


def test_another_text_is_checked_anew(checked: list[str]) -> None:
    module_of(LEGAL, "", 80)
    module_of(LEGAL.replace(b"k()", b"l()"), "", 80)
    assert len(checked) == 2


def test_an_illegal_module_is_refused_each_time(checked: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(Refused, match="%a"):
            module_of(ILLEGAL, "", 80)
    assert len(checked) == 2
