"""What is asked of paths."""

from __future__ import annotations

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        judge: `gpu`, `here`, or where a ptxas is.
        target: What kernels are compiled for.
        version: Of PTX.
        cases: How many a path.
        level: The optimisation level of the judge's compiler; None: its default.
    """

    judge: str
    target: str
    version: str
    cases: int
    level: int | None = None
