"""The parameters of a test of paths."""

from __future__ import annotations

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """The parameters of a test.

    Attributes:
        judge: `gpu`, `here`, or the path of a ptxas.
        target: The target of kernels.
        version: The version of PTX.
        cases: The number of cases per path.
        level: The optimisation level of the judge's compiler; None: its default.
    """

    judge: str
    target: str
    version: str
    cases: int
    level: int | None = None
