"""Whether a kernel computes what a reference does, on inputs that its author did not choose.

A reference is a Python file (`problem`). A kernel is PTX (`machine_kernel`) or a Python file that launches kernels
(`python_kernel`, in a process of its own). `judging` runs it, `hacks` finds what wrong results have in common,
`verdict` is the outcome.
"""

from typing import TYPE_CHECKING

from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.judge.machine_kernel import Limits
    from ptxloom.judge.orders import Order, carry_out, verdict_of
    from ptxloom.judge.problem import read_problem
    from ptxloom.judge.verdict import Verdict, read_verdict, verdict_in

__all__ = ["Limits", "Order", "Verdict", "carry_out", "read_problem", "read_verdict", "verdict_in", "verdict_of"]

__getattr__ = later(
    __name__,
    {
        "ptxloom.judge.machine_kernel": "Limits",
        "ptxloom.judge.orders": "Order carry_out verdict_of",
        "ptxloom.judge.problem": "read_problem",
        "ptxloom.judge.verdict": "Verdict read_verdict verdict_in",
    },
)
