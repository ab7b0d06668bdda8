"""The page of every rule, one Markdown file each: what it does, why, an example, what to write instead."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.isa.spelling import near_misses

HINTS: Final = frozenset(("unused-name", "unreachable-code", "missing-return"))
"""The rules that apply only when they are selected."""

_FOLDER = Path(__file__).parent / "rules"
_SECTION = re.compile(r"^## (.+)\n\n((?:(?!^## ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RulePage:
    """The page of a rule.

    Attributes:
        rule: The rule's id.
        what: What it does.
        why: Why that matters.
        example: PTX that breaks the rule; may be empty.
        instead: PTX to write instead; may be empty.
        section: The manual's section.
        markdown: The whole page.

    Example:
        >>> rule_page("missing-trans").section
        'PTX ISA 9.7.14.5.15 (ldmatrix), 9.7.14.5.16 (stmatrix), 9.7.14.5.17 (movmatrix)'
    """

    rule: str
    what: str
    why: str
    example: str
    instead: str
    section: str
    markdown: str

    _repr_mimebundle_ = mimebundle

    def __str__(self) -> str:
        return self.markdown


@cache
def rules() -> tuple[str, ...]:
    """The ids of all rules, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.md")))


def rule_page(rule: str) -> RulePage:
    """The page of a rule.

    Args:
        rule: Its id; `ptxloom explain` lists them.

    Returns:
        The page; `print` shows the whole of it.

    Raises:
        UsageError: There is no such rule; the message names the nearest ones.

    Example:
        >>> rule_page("missing-trans").what
        'Finds a shape that exists in column-major order only and lacks `.trans`.'
    """
    must_be(str, "rule", rule, 'the id of a rule, such as "missing-trans"')
    if rule not in rules():
        near = near_misses(rule, rules()) or rules()
        raise UsageError("rule", rule, f"one of {', '.join(near)}")
    text = (_FOLDER / f"{rule}.md").read_text(encoding="utf-8")
    parts = {match[1]: match[2].strip() for match in _SECTION.finditer(text)}
    return RulePage(
        rule,
        parts["What it does"],
        parts["Why"],
        _code(parts.get("Example", "")),
        _code(parts.get("Use instead", "")),
        parts["Manual section"],
        text,
    )


def _code(text: str) -> str:
    return text.removeprefix("```ptx\n").removesuffix("```").strip()
