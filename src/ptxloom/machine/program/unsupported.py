"""The machine's error for PTX that it cannot run."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError

_LONGEST = 200  # characters of an instruction that a message shows


class UnsupportedInstruction(PtxloomError):  # noqa: N818 - names its cause, like UnsupportedForm
    """The machine cannot run an instruction (or directive); nothing has been run.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.3 .target sm_100a .entry k() { fabric.submit.op_restrict::fetching; ret; }"
        >>> try:
        ...     kernel(parse(text), "k")
        ... except UnsupportedInstruction as error:
        ...     print(error)
        line 1: `fabric.submit.op_restrict::fetching;` cannot run: ways to the fabric are not supported
    """

    def __init__(self, line: int, text: str, why: str = "the machine does not know it") -> None:
        line_of_it = " ".join(text.split())
        shown = line_of_it if len(line_of_it) <= _LONGEST else f"{line_of_it[:_LONGEST]}…"
        super().__init__(f"line {line}: `{shown}` cannot run: {why}")
        self.line = line
        self.text = text
