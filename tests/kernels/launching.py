"""Launch a real kernel on the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.tiles import Tiles
from ptxloom.machine import kernel, tensor_map
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from kernels.case import Arguments, KernelCase
    from ptxloom.machine import LaunchResult


def launch(
    case: KernelCase, architecture: str, arguments: Arguments, *, threads: int = 1, **options: Any
) -> LaunchResult:
    """Launch a case with its arguments, on one thread if nothing else is said."""
    target = "sm_90a" if architecture == "sm_90a" else "sm_90"
    module = parse(case.ptx(architecture))
    ready = kernel(module, case.kernel, target=target)
    parameters = module.functions[case.kernel].params
    values = [_value(argument, one.type) for argument, one in zip(arguments, parameters, strict=True)]
    return ready.launch(case.grid, case.block, values, case.shared_bytes, threads=threads, **options)


def _value(argument: Any, parameter: str) -> Any:
    """An argument as the machine takes it: an array for a parameter of bytes is a pointer in a structure."""
    if isinstance(argument, Tiles):
        return tensor_map(argument.array, argument.box[::-1], swizzle="128B")
    if isinstance(argument, np.void):
        return argument.tobytes()
    return {0: argument} if parameter == "b8" else argument
