"""The dynamic judge: PTX run on the CPU, bit for bit."""

from ptxloom.machine.kernel import Kernel, kernel
from ptxloom.machine.memory.module_variables import global_array
from ptxloom.machine.plan.legality import IllegalPtx
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.machine.results.hazard import Hazard
from ptxloom.machine.results.outcome import LaunchError, LaunchResult

__all__ = [
    "Hazard",
    "IllegalPtx",
    "Kernel",
    "LaunchError",
    "LaunchResult",
    "UnsupportedInstruction",
    "global_array",
    "kernel",
]
