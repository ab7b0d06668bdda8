"""The error for a file without PTX."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError


class UnreadableFile(PtxloomError):  # noqa: N818 - named after the file that it concerns
    """A file cannot be read as PTX text; the message is one sentence that says why.

    Example:
        >>> from ptxloom.syntax import load
        >>> load("nowhere.ptx")
        Traceback (most recent call last):
        ptxloom.files.errors.UnreadableFile: nowhere.ptx: there is no such file
    """


class CompileError(PtxloomError):
    """CUDA C++ did not compile; the message is the compiler's output.

    Example:
        >>> raise CompileError('kernel.cu(1): error: identifier "foo" is undefined')
        Traceback (most recent call last):
        ptxloom.files.errors.CompileError: kernel.cu(1): error: identifier "foo" is undefined
    """


class OutOfReach(PtxloomError):  # noqa: N818 - its message completes a sentence
    """A file may not be written, or not be read, by the caller; the message is the rest of a sentence."""
