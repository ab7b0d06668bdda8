"""What ptxas says about mutated instructions: many in a module where they can be read, alone where they cannot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.ptxas import Verdict, assemble
from recorded.ptxas.mutation_cases import FIRST_LINE, broken, module_text, mutants, unmutated
from recorded.ptxas.mutations import PLATFORMS, Case

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BATCH = 250
_NAMED = re.compile(r"instruction '(\w+)")
_CRASHES = ("Internal compiler error", "(C79", "<builtin>", "does not end", "ptxas crashes", "PTXer error")


MUTANTS, BROKEN, ELSEWHERE = 160, 6, 14  # of each opcode: on the newest platform, alone, on each of the others


def questions(
    opcode: str, sample: str = "", most: int = MUTANTS, alone: int = BROKEN, elsewhere: int = ELSEWHERE
) -> list[tuple[str, str, str]]:
    """Platform, kind and statement of everything that is asked about an opcode; another sample asks other things."""
    first, *others = PLATFORMS
    made = mutants(opcode, most, sample)
    whole = unmutated(opcode, len(others) * elsewhere // 2, sample)
    found = [(first, kind, text) for kind, text in made]
    for place, platform in enumerate(others):
        some = [text for _, text in made[place :: len(others)][: elsewhere // 2]] + whole[place :: len(others)]
        found += [(platform, "version and target", text) for text in some]
    return found + [(first, kind, text) for kind, text in broken(opcode, alone, sample)]


def asked(questions: Iterable[tuple[str, str, str]]) -> tuple[Case, ...]:
    """The questions (platform, kind, statement) that ptxas can answer, with its answers."""
    by_platform: dict[str, dict[str, str]] = {}
    for platform, kind, text in questions:
        by_platform.setdefault(platform, {}).setdefault(text, kind)
    return tuple(case for platform, texts in by_platform.items() for case in _on(platform, texts))


def _on(platform: str, kinds: dict[str, str]) -> Iterable[Case]:
    alone = [text for text, kind in kinds.items() if kind.startswith(("missing", "doubled"))]
    together = [text for text in kinds if text not in alone]
    complaints: dict[str, tuple[int, str]] = {}
    for start in range(0, len(together), BATCH):
        complaints |= _said(platform, together[start : start + BATCH])
    strange = [text for text, (_, message) in complaints.items() if _strange(text, message)]
    for text in strange:
        del complaints[text]
    for text in (*alone, *strange):
        complaints |= _said(platform, [text])
    for text in kinds.keys() - complaints.keys() - set(alone):  # what stands around a statement may hide its fault
        complaints |= _said(platform, [text])
    for text, kind in kinds.items():
        line, message = complaints.get(text, (0, ""))
        if not any(crash in message for crash in _CRASHES):
            yield Case(platform, kind, text, bool(message), line, message)


def _strange(text: str, message: str) -> bool:
    """Whether a complaint names another instruction: one of ptxas's own, after what it choked on before."""
    named = _NAMED.search(message)
    return named is not None and named[1] not in text


def _said(platform: str, texts: Sequence[str]) -> dict[str, tuple[int, str]]:
    """For each text that ptxas rejects, how many lines below it the error is reported, and the message."""
    left: list[str] = list(texts)
    complaints: dict[str, tuple[int, str]] = {}
    while left:
        version, target = platform.split()
        verdict = assemble(module_text(version, target, tuple(left)), target)
        if verdict.accepted:
            break
        inside = _inside(verdict, len(left))
        if not inside and len(left) > 1:
            middle = len(left) // 2
            return complaints | _said(platform, left[:middle]) | _said(platform, left[middle:])
        if not inside:
            after = min(verdict.errors, default=FIRST_LINE) - FIRST_LINE
            said = next(iter(verdict.errors.values()), (verdict.output.strip() or "ptxas crashes",))[0]
            return complaints | {left[0]: (after, said)}
        complaints |= {left[at]: (0, message) for at, message in inside.items()}
        left = [text for at, text in enumerate(left) if at not in inside]
    return complaints


def _inside(verdict: Verdict, count: int) -> dict[int, str]:
    at_lines = ((line - FIRST_LINE, messages[0]) for line, messages in verdict.errors.items())
    return {at: message for at, message in at_lines if 0 <= at < count}
