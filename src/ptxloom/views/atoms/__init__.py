"""Atoms, the advisor's answers and the swizzles that were found."""
