"""Every cause and every word of the glossary has a page, and what a page says to type runs."""

from __future__ import annotations

import re
import shlex
from typing import Final

import pytest

from ptxloom.cli import main
from ptxloom.explanation import explain, topics
from ptxloom.glossary import CAUSES, concepts

COMMAND: Final = re.compile(r"`ptxloom ([^`]+)`")
COMMANDS: Final = tuple(
    command
    for text in (*(one.text for one in concepts().values()), *(one.example for one in CAUSES.values()))
    for command in COMMAND.findall(text)
    if " " in command and not command.startswith("run ")
)


@pytest.mark.parametrize("cause", [*CAUSES])
def test_every_cause_has_a_page(cause: str) -> None:
    page = explain(cause)
    assert (page.kind, page.word) == ("cause", cause)
    assert CAUSES[cause].seen in page.markdown
    assert CAUSES[cause].change in page.markdown


@pytest.mark.parametrize("word", [*concepts()])
def test_every_word_has_a_page_however_it_is_spaced(word: str) -> None:
    page = explain(f" {word.upper()} ".replace(" ", "  "))
    assert (page.kind, page.word) == ("concept", word)
    assert page.markdown.startswith(f"# {word}\n\n{concepts()[word].about}.")
    assert f"PTX ISA {concepts()[word].section}" in page.markdown


def test_they_are_listed() -> None:
    listed = {topic.word: topic.kind for topic in topics()}
    assert {word for word, kind in listed.items() if kind == "cause"} == set(CAUSES)
    assert {word for word, kind in listed.items() if kind == "concept"} == set(concepts())


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_page_says_to_type_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(command)) in (0, 1)
    assert capsys.readouterr().out
