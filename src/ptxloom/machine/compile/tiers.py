"""The two tiers of a kernel's code: the first, which is there soon, and the hot one, which runs faster."""

from __future__ import annotations

import os
from typing import Final

from ptxloom.diagnostics import UsageError
from ptxloom.machine.instruments.wanted import has_code_of_its_own

VARIABLE: Final = "PTXLOOM_TIER"
_FIRST, _HOT = "first", "hot"


def is_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether hot code is wanted, if there is any: where `PTXLOOM_TIER` says so, for whole warps without other tools.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    found = os.environ.get(VARIABLE) or _FIRST
    if found not in {_FIRST, _HOT}:
        raise UsageError(VARIABLE, found, f"{_FIRST} or {_HOT}")
    return found == _HOT and whole and not has_code_of_its_own(checks)
