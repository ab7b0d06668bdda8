"""The code that the explorer offers to copy: what `ptxloom emit` prints, each text stored once."""

from __future__ import annotations

from typing import Final

from ptxloom.atoms.wrappers import LANGUAGES, emit
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa import matrix_forms
from ptxloom.isa.matrix import variants

_OPCODES: Final = ("mma", "wgmma")


def code_facts() -> dict[str, object]:
    """`texts` are distinct wrappers.

    `of` maps each form to the places of its wrappers, one per language. A text that begins with `!` explains why the
    language cannot express it.
    """
    texts: dict[str, int] = {}
    spellings = [move.spelling for move in variants()]
    spellings += [form.spelling for opcode in _OPCODES for form in matrix_forms(opcode)]
    of = {
        spelling: [texts.setdefault(_answer(spelling, language), len(texts)) for language in LANGUAGES]
        for spelling in spellings
    }
    return {"languages": list(LANGUAGES), "texts": list(texts), "of": of}


def _answer(spelling: str, language: str) -> str:
    try:
        return emit(spelling, language)
    except PtxloomError as error:
        return f"!{error}"
