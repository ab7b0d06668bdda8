"""The dynamic judge: PTX run on the CPU, bit for bit."""

from ptxloom.machine.hazard import Hazard, LaunchError
from ptxloom.machine.kernel import Kernel, kernel
from ptxloom.machine.legality import IllegalPtx
from ptxloom.machine.program import UnsupportedInstruction
from ptxloom.machine.report import LaunchResult

__all__ = ["Hazard", "IllegalPtx", "Kernel", "LaunchError", "LaunchResult", "UnsupportedInstruction", "kernel"]
