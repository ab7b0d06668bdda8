"""Whether a module is legal; positive verdicts are cached on disk."""

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
    """The errors in an unmodified module; the verdict on a legal one is cached."""
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
