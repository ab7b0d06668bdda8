"""A register of a type that there is not: told where it is declared, and no trouble wherever it stands."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from ptxloom.checker import check
from ptxloom.isa.load import judged, opcodes
from ptxloom.syntax import parse
from recorded.ptxas.mutation_cases import module_text, seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recorded.ptxas.mutation_cases import Statement

_REGISTER = re.compile(r"[busf]\d+(?:x2)?r\d+|predr\d+|b128r\d+")
_DECLARED = ".reg .i32 odd<4>; .reg .v2 .i32 odder;"
_MOST = 10  # statements of an opcode
_STRANGE = ("odd1", "odder", "odder.x", "{odd1}", "{odd1, odd2}")


def changed(statement: Statement) -> Iterator[str]:
    """A statement with each of its registers replaced by one of no type, by a vector of them, or by some in braces."""
    text = str(statement)
    for found in _REGISTER.finditer(text):
        for strange in _STRANGE:
            yield f"{text[: found.start()]}{strange}{text[found.end() :]}"


def rules(lines: tuple[str, ...]) -> set[str]:
    return {one.rule for one in check(parse(module_text("9.5", "sm_100a", (_DECLARED, *lines))))}


@pytest.mark.parametrize("opcode", [opcode for opcode in opcodes() if judged(opcode)])
def test_it_is_told_and_stands_anywhere(opcode: str) -> None:
    chance = random.Random(opcode)
    lines = [line for one in seeds(opcode, 2, chance) for line in changed(one)]
    assert "declaration-type" in rules(tuple(chance.sample(lines, min(_MOST, len(lines)))))


@pytest.mark.parametrize(
    "statement",
    [
        "suld.b.1d.b64.zero {odd0, odd1}, [surface, b32r0];",
        "suld.b.1d.b64.zero odder, [surface, b32r0];",
        "tex.a1d.v4.f32.f32 {f32r0, f32r1, f32r2, f32r3}, [texture, {b32r0, odd0}];",
        "mov.b64 b64r0, {odd0, odd1};",
        "mov.b64 b64r0, odder;",
        "@odd0 add.u32 b32r0, b32r1, b32r2;",
    ],
)
def test_it_is_no_number(statement: str) -> None:
    assert "declaration-type" in rules((statement,))
