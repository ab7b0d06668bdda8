"""ptxloom reads, checks, runs and draws NVIDIA PTX on any machine; no GPU is needed.

Every public name is imported from the package on first use, so `import ptxloom` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic as Diagnostic
    from ptxloom.diagnostics import Fix as Fix
    from ptxloom.diagnostics import Label as Label
    from ptxloom.diagnostics import PtxloomError as PtxloomError
    from ptxloom.diagnostics import Severity as Severity
    from ptxloom.diagnostics import UnsupportedForm as UnsupportedForm
    from ptxloom.diagnostics import UsageError as UsageError
    from ptxloom.fragments import Element as Element
    from ptxloom.fragments import Evidence as Evidence
    from ptxloom.fragments import Fragment as Fragment
    from ptxloom.fragments import UndefinedBehavior as UndefinedBehavior
    from ptxloom.fragments import fragment as fragment
    from ptxloom.source import Source as Source
    from ptxloom.source import Span as Span

__version__ = "0.1.0"

# Public name -> the module that defines it; the imports above say the same to type checkers (a test compares them).
_EXPORTS: Final = {
    "Diagnostic": "diagnostics",
    "Fix": "diagnostics",
    "Label": "diagnostics",
    "PtxloomError": "diagnostics",
    "Severity": "diagnostics",
    "UnsupportedForm": "diagnostics",
    "UsageError": "diagnostics",
    "Element": "fragments",
    "Evidence": "fragments",
    "Fragment": "fragments",
    "UndefinedBehavior": "fragments",
    "fragment": "fragments",
    "Source": "source",
    "Span": "source",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for (PEP 562)."""
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({"__version__", *_EXPORTS})
