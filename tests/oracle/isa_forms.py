"""What ptxas says about many instructions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.ptxas import assemble
from recorded.ptxas import isa_cases as cases

if TYPE_CHECKING:
    from collections.abc import Sequence


def disagrees(platform: str, text: str, ours: bool, complaints: dict[str, str]) -> bool:
    """Whether ptxas says other than we do; where it may blame one macro (`wmma`) for another one, it is asked again."""
    if ours is (text not in complaints):
        return False
    message = complaints.get(text, "")
    if any(sign in message for sign in ("syntax error", "formal parameter")):
        return ours is (text in said(platform, (text,)))
    return True


def said(platform: str, texts: Sequence[str]) -> dict[str, str]:
    """What ptxas says against each text; nothing about one that it accepts."""
    version, target = platform.split()
    complaints: dict[str, str] = {}
    left: list[str] = list(texts)
    while left:
        verdict = assemble(cases.module_text(version, target, tuple(left)), target)
        if verdict.accepted:
            break
        at_lines = ((line - cases.FIRST_LINE, messages[0]) for line, messages in verdict.errors.items())
        inside = {at: message for at, message in at_lines if 0 <= at < len(left)}
        if not inside:
            if len(left) == 1:  # what ends the module without a line, such as addresses of 32 bits
                return complaints | {left[0]: verdict.output.strip() or "ptxas crashes"}
            middle = len(left) // 2
            return complaints | said(platform, left[:middle]) | said(platform, left[middle:])
        complaints |= {left[at]: message for at, message in inside.items()}
        left = [text for at, text in enumerate(left) if at not in inside]
    return complaints
