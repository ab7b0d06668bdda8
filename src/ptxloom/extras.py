"""The parts that `pip install ptxloom` does not install, and the sentence that names their extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from types import TracebackType

EXTRAS: Final = {
    "run": ("running PTX and working on arrays", ("numpy", "ml_dtypes", "llvmlite")),
    "cuda": ("reading C++ names of kernels", ("pydemumble",)),
    "completion": ("completing words in a shell", ("shtab",)),
    "pictures": ("drawing PNG and PDF", ("PIL", "reportlab")),
    "cluster": ("spreading work over a cluster", ("distributed",)),
    "mcp": ("tools of the Model Context Protocol", ("mcp",)),
    "lsp": ("the language server", ("pygls", "lsprotocol")),
}
"""By extra: what it is for, and the modules that it brings."""
DISTRIBUTIONS: Final = {"PIL": "pillow"}
"""The package of a module, if it has another name."""


def is_installed(extra: str) -> bool:
    """Whether all that an extra brings is there, without importing it."""
    _, modules = EXTRAS[extra]
    return all(find_spec(module) is not None for module in modules)


class MissingPart(PtxloomError, ImportError):  # noqa: N818 - reads as the sentence it prints
    """Something was asked for that an extra brings, which is not installed.

    Example:
        >>> with needed():
        ...     raise ModuleNotFoundError(name="llvmlite.binding")
        Traceback (most recent call last):
        ptxloom.extras.MissingPart: running PTX and working on arrays takes llvmlite, which is not installed: \
pip install 'ptxloom[run]'
    """


class needed:  # noqa: N801 - a statement: `with needed():`
    """Guard imports of optional parts; if a module is missing, one sentence names its extra.

    Raises:
        MissingPart: Instead of a ModuleNotFoundError that an extra would mend, or of what a module of an extra raised
            during its import: its library exceeds the limits of the process, or is damaged.
    """

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Say it."""
        if isinstance(error, ModuleNotFoundError):
            _say((error.name or "").partition(".")[0], "is not installed: pip install 'ptxloom[{extra}]'")
        elif isinstance(error, (ImportError, OSError, MemoryError, SystemError)):
            why = "cannot be loaded here: where memory is limited (`ulimit -v`), allow more, or else install it anew"
            _say(_imported(traceback), why)


def _say(part: str, what: str) -> None:
    """Say of a module that an extra brings what is the matter with it.

    Raises:
        MissingPart: An extra brings it.
    """
    for extra, (purpose, modules) in EXTRAS.items():
        if part in modules:
            raise MissingPart(f"{purpose} takes {part}, which {what.format(extra=extra)}", name=part) from None


def _imported(traceback: TracebackType | None) -> str:
    """The package whose module was being imported when something was raised; empty if none of an extra was."""
    modules = {module for _, modules in EXTRAS.values() for module in modules}
    found = ""
    while traceback is not None:
        frame = traceback.tb_frame
        part = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if frame.f_code.co_name == "<module>" and part in modules:
            found = found or part
        traceback = traceback.tb_next
    return found
