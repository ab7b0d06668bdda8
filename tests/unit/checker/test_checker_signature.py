"""An instruction like one that was found sound is not judged again: that never hides what a full judgement finds."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from ptxloom.checker import check, walk
from ptxloom.isa.load import judged, opcodes
from ptxloom.syntax import parse
from recorded.ptxas.mutation_cases import FIRST_LINE, REGISTERS, module_text, seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from recorded.ptxas.mutation_cases import Statement

_ATOM = re.compile(r"[\w%$.+-]+")
_MOST = 150  # statements of an opcode
_VALUES = (
    *(f"{name}r{at}" for name in REGISTERS for at in (8, 9)),
    *("v2b32", "v4f32", "v2b32.x", "v2u32.y", "v4f32.x", "v2f16x2.x", "b32r9.b0", "b32r9.h1", "-b32r9", "!predr3", "_"),
    *("%tid", "%tid.x", "%laneid", "%clock64", "%cluster_ctaid.x", "WARP_SZ", "glo+4", "(2+3)", "(3+3)", "5U"),
    *("glo", "con", "sha", "loc", "par", "inner", "texture", "surface", "callee", "plain", "label", "branches"),
    *map(str, (0, 1, 3, 4, 8, 15, 16, 17, 24, 31, 32, 127, 128, 255, 256, 1023, 1024, 1040, 4096, 4112, 65535, 65552)),
    *map(str, (-1, -128, -129, -32768, -32784, -(2**31), -(2**31) - 16, 2**31, 2**32 - 1, 2**32, 2**64 - 1, 2**64)),
    *("0.5", "2.0", "-1.0", "1e30", "0f3F000000", "0f40000000", "0d3FE0000000000000", "0d4000000000000000"),
)
_INSIDE = ("b64r9", "b32r9", "sha", "glo", "texture", "surface", "16")
_AROUND = ("[{}]", "[ {}]", "[({})]", "[{}+4]", "[{}+0]", "[{}+-4]", "[{}-4]", "[{}, b32r1]", "[{}+4, b32r1]", "{{{}}}")
_WHOLE = tuple(around.format(inside) for around in _AROUND for inside in _INSIDE)


def changed(statement: Statement) -> Iterable[str]:
    """A statement with each operand, and each part of one in brackets or braces, replaced."""
    operands = statement.operands
    for place, operand in enumerate(operands):
        texts = [*_VALUES, *_WHOLE]
        if operand[0] in "[{":
            parts = _ATOM.finditer(operand)
            texts += [operand[: part.start()] + value + operand[part.end() :] for part in parts for value in _VALUES]
        for text in texts:
            yield str(statement.but(operands=(*operands[:place], text, *operands[place + 1 :])))


def findings(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What is found in each of some statements, which stand in one kernel in this order."""
    found: dict[str, tuple[str, ...]] = dict.fromkeys(lines, ())
    for one in check(parse(module_text("9.5", "sm_100a", tuple(lines)))):
        line = lines[one.span.line - FIRST_LINE]
        found[line] = (*found[line], str(one.message))
    return found


def like_no_other(*_: object) -> None:
    """The signature of an instruction that is judged in full."""


def by_shortcut_and_in_full(
    lines: Iterable[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """What is found with the shortcut, the sound statements first so that it is taken where it can be; and without."""
    statements = sorted(set(lines))
    with monkeypatch.context() as patch:
        patch.setattr(walk, "signature", like_no_other)
        full = findings(statements)
    statements.sort(key=lambda line: bool(full[line]))
    return findings(statements), full


@pytest.mark.sample(every=27)
@pytest.mark.parametrize("opcode", [opcode for opcode in opcodes() if judged(opcode)])
def test_the_shortcut_hides_nothing(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(opcode)
    sound = list(seeds(opcode, 3, chance))
    lines = [line for statement in sound for line in changed(statement)]
    lines = chance.sample(lines, _MOST) if len(lines) > _MOST else lines
    shortcut, full = by_shortcut_and_in_full([*map(str, sound), *lines], monkeypatch)
    assert shortcut == full


ALIKE = {
    "a parenthesis instead of a space": ("ld.u32 u32r0, [ b64r1];", "ld.u32 u32r0, [(b64r1)];"),
    "an offset, where none may stand": ("txq.width.b32 b32r0, [texture];", "txq.width.b32 b32r0, [texture+4];"),
    "an offset of nothing": ("suq.width.b32 b32r0, [surface];", "suq.width.b32 b32r0, [surface+0];"),
    "a number that is not a multiple": ("bar.sync 0, 4096;", "bar.sync 0, 4112;"),
    "a number that is not among those": ("alloca.u64 b64r0, b64r1, 4096;", "alloca.u64 b64r0, b64r1, 4112;"),
    "a number that does not fit": ("mov.s16 s16r0, -32768;", "mov.s16 s16r0, -32784;"),
    "a fraction above one": (
        "createpolicy.fractional.L2::evict_last.b64 b64r0, 0.5;",
        "createpolicy.fractional.L2::evict_last.b64 b64r0, 2.0;",
    ),
    "an element of a vector": ("vset.u32.u32.eq u32r0, u32r1, u32r2;", "vset.u32.u32.eq u32r0, v2u32.x, u32r2;"),
}


@pytest.mark.parametrize("what", ALIKE)
def test_what_looks_alike_and_is_wrong_is_found(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, wrong = ALIKE[what]
    shortcut, full = by_shortcut_and_in_full((sound, wrong), monkeypatch)
    assert shortcut == full
    assert (full[sound], bool(full[wrong])) == ((), True)


def test_the_shortcut_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_in_full: list[str] = []

    def watched(site: Site) -> Iterator[Diagnostic]:
        judged_in_full.append(site.opcode)
        return iter(())

    monkeypatch.setattr(walk, "RULES", (*walk.RULES, watched))
    lines = [f"add.u32 u32r{at}, u32r{at + 1}, {at + 8}; ld.u32 u32r{at}, [b64r{at}+{4 + at}];" for at in range(8)]
    assert not any(findings(lines).values())
    assert judged_in_full.count("add") == 1
    assert judged_in_full.count("ld") == 1
