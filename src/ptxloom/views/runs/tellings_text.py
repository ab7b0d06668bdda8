"""All that the code knows of an opcode, as text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.tellings import OpcodeTellings, Telling


def page(told: OpcodeTellings) -> str:
    """Forms, rows, words, effects, modules."""
    return "".join(f"{line}\n" for line in _lines(told))


def _lines(told: OpcodeTellings) -> Iterator[str]:
    yield from _block("forms", told.forms)
    yield from _block("rows", told.rows)
    yield from _block("words", (" ".join(told.words),) if told.words else ())
    yield from _block("effects", told.effects)
    named = groupby(told.tellings, lambda one: one.module)
    yield from _block("named in", (f"{module}: {_places(found)}" for module, found in named))


def _places(found: Iterable[Telling]) -> str:
    return ", ".join(f"{one.line}{' (table)' * one.table}" for one in found)


def _block(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield title
    yield from [f"  {one}" for one in lines] or ["  -"]
