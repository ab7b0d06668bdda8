"""Whether a module is legal: that it is, is kept from run to run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from ptxloom import checker, disk_cache
from ptxloom.diagnostics import Severity

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

_LEGAL: Final = b"legal"


def errors(module: Module) -> list[Diagnostic]:
    """The errors in a module that is as it was parsed; one that has none is checked once, whoever asks."""
    told = [d for d in module.diagnostics if d.severity is Severity.ERROR]
    if told:
        return told
    digest = hashlib.sha256(module.source.text.encode("utf-8", "surrogatepass")).hexdigest()
    key = f"legal {digest}"
    if disk_cache.kept(key) == _LEGAL:
        return []
    wrong = [d for d in checker.check(module) if d.severity is Severity.ERROR]
    if not wrong:
        disk_cache.keep(key, _LEGAL)
    return wrong
