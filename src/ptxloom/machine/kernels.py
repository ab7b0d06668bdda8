"""`pl.kernel(module, name)`: each kernel is made once while it is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ptxloom.diagnostics import must_be
from ptxloom.machine.kernel import Kernel
from ptxloom.machine.launch.options import AS_WRITTEN
from ptxloom.machine.tensor.recipe import architecture
from ptxloom.names.kernels import kernel_of
from ptxloom.syntax.module import A_MODULE, Module

if TYPE_CHECKING:
    from ptxloom.isa.target import Target

_KERNELS: WeakValueDictionary[tuple[int, str, str, bool, str], Kernel] = WeakValueDictionary()


def kernel(
    module: Module,
    name: str | None = None,
    target: Target | str | None = None,
    *,
    unchecked: bool = False,
    timeout: float | None = None,
) -> Kernel:
    """A kernel of a module, ready to run; the same one each time while it is in use.

    Args:
        module: The parsed module.
        name: The kernel's name, mangled or as C++ has it (`scale<2>`, `plain(float*)`), or any part of that which
            identifies one kernel; it may be left out if the module has one kernel.
        target: Whose tensor cores compute, `sm_75` to `sm_121`: they differ in the last bits. By default the module's
            target (the nearest of these).
        unchecked: Run what can be run, even if the kernel is not legal PTX.
        timeout: Seconds that translating it may take; compiling belongs to the time of the launch that needs it.

    Returns:
        The kernel; `.launch(...)` runs it.

    Raises:
        UsageError: The module has no kernel of this name, or several and `name` is None; or the target is unknown.
        IllegalPtx: The checker finds errors in what the kernel reaches; `diagnostics` holds them.
        UnsupportedInstruction: The machine cannot run one of its instructions; it names the line.
        TimeIsUp: The time limit was reached.

    Example:
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry nothing() { ret; }"))
        >>> k.launch(grid=2, block=32).instructions
        2
    """
    return contracted(module, name, target, AS_WRITTEN, unchecked=unchecked, timeout=timeout)


def contracted(
    module: Module,
    name: str | None,
    target: Target | str | None,
    contract: str,
    *,
    unchecked: bool = False,
    timeout: float | None = None,
) -> Kernel:
    """Like `kernel`, with the contract of its sums known from the beginning, so that it is planned once."""
    must_be(Module, "module", module, A_MODULE)
    if target is not None:
        architecture(target)
    name = kernel_of(module, name)
    key = (id(module), name, str(target), unchecked, contract)
    known = _KERNELS.get(key)
    if known is None or known.module is not module:
        made = Kernel(module, name, target, unchecked=unchecked, timeout=timeout, contract=contract)
        known = _KERNELS[key] = made
    return known
