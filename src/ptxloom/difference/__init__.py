"""Two modules beside each other, as two compilers wrote them: what they say differently, and what matters of it."""

from ptxloom.difference.comparing import compare
from ptxloom.difference.model import Change, Count, FunctionDifference, Hunk, ModuleDifference, Row

__all__ = ["Change", "Count", "FunctionDifference", "Hunk", "ModuleDifference", "Row", "compare"]
