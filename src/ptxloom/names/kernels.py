"""The kernel of a module that a user means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import UsageError
from ptxloom.names.demangling import demangled, learn
from ptxloom.names.resolving import listed, named, short

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module


def kernel_of(module: Module, wanted: str | None, argument: str = "name") -> str:
    """The name of a kernel in PTX.

    Args:
        module: Where it is.
        wanted: What it is called: the mangled name, the C++ name or a part of that, or a pattern with `*`; None for the
            only one.
        argument: Where the user has named it, for the sentence.

    Raises:
        UsageError: There is no such kernel, or there are several; the sentence names the candidates.
    """
    kernels = module.kernels
    found = kernels if wanted is None else named(wanted, kernels)
    if len(found) == 1:
        return found[0]
    if not kernels:
        raise UsageError(argument, wanted, "a kernel of the module, which has no kernels")
    if found and wanted is not None:
        raise UsageError(argument, wanted, f"one of {listed(found)}, which are all called so")
    raise UsageError(argument, wanted or "", f"a kernel of the module: {listed(kernels)}")


def short_name(module: Module, kernel: str) -> str:
    """The shortest C++ name that means this kernel in its module; its name in PTX where that is not mangled.

    Example:
        >>> from ptxloom.syntax import parse
        >>> module = parse(".entry _Z5scaleILi2EEvPff() { ret; } .entry _Z5scaleILi3EEvPff() { ret; }")
        >>> short_name(module, "_Z5scaleILi2EEvPff")
        'scale<2>'
    """
    learn(module.kernels)
    for name in (short(kernel), demangled(kernel)):
        if named(name, module.kernels) == (kernel,):
            return name
    return kernel
