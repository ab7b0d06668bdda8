"""The static judge: is this PTX legal, on this target and PTX version, and if not, why and what instead?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.findings.selection import Selection
from ptxloom.checker.pages import RulePage, rule_page, rules

if TYPE_CHECKING:
    from ptxloom.checker.walk import check

__all__ = ["RulePage", "Selection", "check", "rule_page", "rules"]


def __getattr__(name: str) -> object:
    """Imports the rules when `check` is first used: callers with cached verdicts do not need them."""
    if name == "check":
        from ptxloom.checker.walk import check  # noqa: PLC0415 - see above

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
