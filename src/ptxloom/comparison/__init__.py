"""Compares an array with its reference: which elements differ, by how much, and in what pattern."""

from ptxloom.comparison.compare import compare
from ptxloom.comparison.model import Comparison, Difference, Downgrade, Pattern, Reference, Tolerance
from ptxloom.comparison.rounding import Precision

__all__ = ["Comparison", "Difference", "Downgrade", "Pattern", "Precision", "Reference", "Tolerance", "compare"]
