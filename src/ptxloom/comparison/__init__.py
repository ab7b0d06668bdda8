"""An array held against what it should be: which elements differ, by how much, and what pattern they make."""

from ptxloom.comparison.compare import compare
from ptxloom.comparison.model import Comparison, Difference, Downgrade, Pattern, Reference, Tolerance
from ptxloom.comparison.rounding import Precision

__all__ = ["Comparison", "Difference", "Downgrade", "Pattern", "Precision", "Reference", "Tolerance", "compare"]
