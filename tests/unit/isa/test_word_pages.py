"""Pages of directives and special registers: their examples are judged, by us and by ptxas."""

from __future__ import annotations

import pytest

from oracle.ptxas import assemble, release
from ptxloom import check, parse
from ptxloom.diagnostics import Severity
from ptxloom.isa.pages.word_page import word_page
from ptxloom.isa.pages.words import directives
from ptxloom.isa.special import special_registers

HEAD = ".version 9.5\n.target sm_100a\n.address_size 64\n"
WITH_EXAMPLES = tuple(name for name, words in directives().items() if words.example)
_REGISTERS = {"u32": "%r1", "u64": "%rd1", "pred": "%p1"}


def module_of(name: str) -> str:
    """The module that the example of a directive is, or is a piece of."""
    text = directives()[name].example
    return text.strip() + "\n" if text.strip().startswith(".version") else HEAD + text.strip() + "\n"


def all_registers() -> str:
    """A kernel that reads every special register as its page shows."""
    reads = [page.partition("For example `")[2].partition("`")[0] for page in map(word_page, special_registers())]
    body = "\n".join(reads)
    return (
        f"{HEAD}.entry k() .minperctamemory 1024 {{ .reg .b32 %r1; .reg .b64 %rd1; .reg .pred %p1;\n{body}\nret; }}\n"
    )


def errors(text: str) -> list[str]:
    """The errors that the checker finds."""
    module = parse(text)
    return [one.message for one in (*module.diagnostics, *check(module)) if one.severity is Severity.ERROR]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_of_a_directive_is_right(name: str) -> None:
    text = module_of(name)
    assert f".{name}" in text
    assert errors(text) == []
    page = word_page(f".{name}")
    assert directives()[name].syntax in page
    assert directives()[name].example.strip() in page


@pytest.mark.parametrize("name", sorted({*directives()} - {*WITH_EXAMPLES}))
def test_a_directive_without_an_example_is_gone_or_predefined(name: str) -> None:
    assert name == "sreg" or directives()[name].gone is not None


def test_every_special_register_is_read_as_its_page_shows() -> None:
    assert errors(all_registers()) == []


@pytest.mark.oracle
@pytest.mark.skipif(not release(), reason="ptxas is not installed")
def test_ptxas_takes_the_examples() -> None:
    for name in WITH_EXAMPLES:
        text = module_of(name)
        target = text.partition(".target ")[2].split()[0].rstrip(",")
        verdict = assemble(text, target)
        assert verdict.accepted, f"{name}: {verdict.output}"
    verdict = assemble(all_registers(), "sm_100a")
    assert verdict.accepted, verdict.output
