"""The choice of `PTXLOOM_TIER`: code that is ready soon, better code once it has run long, or better code at once."""

from __future__ import annotations

import os
from typing import Final

from ptxloom import own_python
from ptxloom.diagnostics import UsageError

VARIABLE: Final = "PTXLOOM_TIER"
FIRST, HOT, BY_ITSELF = "first", "hot", "auto"
_DEFAULT: Final = BY_ITSELF


def asked() -> str:
    """`FIRST`, `HOT` or `BY_ITSELF`.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    found = os.environ.get(VARIABLE) or _DEFAULT
    if found not in {FIRST, HOT, BY_ITSELF}:
        raise UsageError(VARIABLE, found, f"{FIRST}, {HOT} or {BY_ITSELF}")
    return found


def improves() -> bool:
    """Whether code that has run long is replaced by better code from a background process.

    Raises:
        UsageError: `PTXLOOM_TIER` has an illegal value.
    """
    return asked() == BY_ITSELF and own_python.is_there()
