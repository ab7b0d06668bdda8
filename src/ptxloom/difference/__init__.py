"""Two modules compared, as two compilers wrote them: their differences, and which of them matter."""

from ptxloom.difference.comparing import compare
from ptxloom.difference.model import Change, Count, FunctionDifference, Hunk, ModuleDifference, Row

__all__ = ["Change", "Count", "FunctionDifference", "Hunk", "ModuleDifference", "Row", "compare"]
