"""What may be written next is what the enumerated forms say."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from ptxloom.isa import Form, forms, instruction_spec, opcodes, resolve
from ptxloom.isa.pages.words import directives, special_about, special_names
from ptxloom.isa.resolution.completions import following
from ptxloom.isa.special import special_register
from ptxloom.syntax.declarations import STARTS
from ptxloom.syntax.directives import CLOSED, UNCLOSED

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SPELLINGS = 3000


def small(opcode: str) -> bool:
    return sum(line.spellings for line in instruction_spec(opcode).lines) <= MOST_SPELLINGS


SMALL = tuple(filter(small, opcodes()))


def test_most_instructions_are_judged_whole() -> None:
    assert len(SMALL) > 100


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("opcode", SMALL)
def test_what_follows_the_start_of_a_form_is_what_some_form_has_more(opcode: str) -> None:
    everything = forms(opcode)
    chosen = random.Random(opcode).sample(everything, min(6, len(everything)))
    for form in chosen:
        for end in range(len(form.words) + 1):
            written = form.words[:end]
            found = {each.word for each in following(opcode, written)}
            rows = [row for other in everything for row in continued(other, written)]
            assert found <= {row[end] for row in rows}, written
            left_out = [row for row in rows if row[end] not in found]
            assert not any(of_the_manual(resolve(opcode, row).form) for row in left_out), written


def of_the_manual(form: Form | None) -> bool:
    return form is not None and not form.laxities


def continued(form: Form, written: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What is written, each word that a form has beside it, and the rest of the form."""
    left = list(form.words)
    for word in written:
        if word not in left:
            return
        left.remove(word)
    for word in left:
        rest = left.copy()
        rest.remove(word)
        yield (*written, word, *rest)


def test_the_next_place_of_the_manual_is_due_first() -> None:
    assert [each.word for each in following("ldmatrix", ("sync",)) if each.due] == ["aligned"]
    assert {each.word for each in following("ldmatrix", ("sync", "aligned")) if each.due} == {"m8n8", "m16n16", "m8n16"}


def test_words_that_fit_nowhere_are_overlooked() -> None:
    assert following("ldmatrix", ("sync", "wrong")) == following("ldmatrix", ("sync",))


def test_every_special_register_and_directive_is_described() -> None:
    assert all(special_register(name) for name in special_names())
    numbered = ("%pm0", "%pm7_64", "%envreg31", "%reserved_smem_offset_1")
    assert all(special_register(name) and special_about(name) for name in (*special_names(), *numbered))
    assert {name[1:] for name in (*CLOSED, *UNCLOSED, *STARTS)} <= set(directives())
    assert {words.place for words in directives().values()} == {"module", "header", "body", "declaration"}
