"""The one kernel of a file that a command is about."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ptxloom.diagnostics import PtxloomError, UsageError

if TYPE_CHECKING:
    from ptxloom.syntax import Module


def chosen_kernel(module: Module, pattern: str | None, option: str) -> str:
    """The name of the one kernel that is meant.

    Args:
        module: The file's module.
        pattern: What `option` says; None if nothing.
        option: How the user names one.

    Raises:
        UsageError: There is no such kernel.
        PtxloomError: The module has none, or several, and nobody says which.
    """
    names = module.kernels
    if not names:
        raise PtxloomError(f"{module.source.title} holds no kernel")
    if pattern is None and len(names) > 1:
        raise PtxloomError(f"{module.source.title} holds several kernels; name one with {option}: {', '.join(names)}")
    found = [name for name in names if fnmatchcase(name, pattern or "*")]
    if len(found) != 1:
        raise UsageError(option, pattern, f"one of {', '.join(names)}")
    return found[0]
