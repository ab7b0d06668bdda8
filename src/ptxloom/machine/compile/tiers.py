"""The two tiers of a kernel's code: the first, which is there soon, and the hot one, which runs faster."""

from __future__ import annotations

import os
from typing import Final

from ptxloom.diagnostics import UsageError
from ptxloom.machine.instruments.wanted import has_code_of_its_own

VARIABLE: Final = "PTXLOOM_TIER"
_FIRST, _HOT, _BY_ITSELF = "first", "hot", "auto"
_DEFAULT: Final = _FIRST


def is_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether hot code is wanted at once, if there is any: where `PTXLOOM_TIER` says so, for whole warps without tools.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return _asked() == _HOT and _has(whole=whole, checks=checks)


def may_turn_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether hot code is wanted once the first has run long.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return _asked() == _BY_ITSELF and _has(whole=whole, checks=checks)


def _asked() -> str:
    found = os.environ.get(VARIABLE) or _DEFAULT
    if found not in {_FIRST, _HOT, _BY_ITSELF}:
        raise UsageError(VARIABLE, found, f"{_FIRST}, {_HOT} or {_BY_ITSELF}")
    return found


def _has(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether such code has a hot tier."""
    return whole and not has_code_of_its_own(checks)
