"""Resolves written qualifiers to a form of the instruction, or to the reason why no form fits."""
