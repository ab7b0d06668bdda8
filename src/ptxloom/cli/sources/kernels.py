"""Selects the kernel of a file that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import PtxloomError
from ptxloom.names.kernels import kernel_of
from ptxloom.names.resolving import listed, named
from ptxloom.syntax.selection import Selection

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.syntax import Module


def selection(module: Module, options: Options, pattern: str | None) -> Selection:
    """The part of a module that `--function`, `--lines` and a pattern select."""
    functions = None if options.function is None else named(options.function, tuple(module.functions))
    return Selection(functions, options.lines, pattern)


def chosen_kernel(module: Module, wanted: str | None, option: str) -> str:
    """The selected kernel's name in PTX.

    Args:
        module: The file's module.
        wanted: The value of `option`; None if it is not given.
        option: The option that names a kernel.

    Raises:
        UsageError: There is no such kernel, or several may be meant.
        PtxloomError: The module has none, or has several and `option` is not given.
    """
    names = module.kernels
    if not names:
        raise PtxloomError(f"{module.source.title} holds no kernel")
    if wanted is None and len(names) > 1:
        several = f"holds several kernels; name one with {option}: {listed(names)}"
        raise PtxloomError(f"{module.source.title} {several}")
    return kernel_of(module, wanted, option)
