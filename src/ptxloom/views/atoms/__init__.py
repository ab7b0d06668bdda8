"""Atoms, the advisor's results and the swizzles that were found."""
