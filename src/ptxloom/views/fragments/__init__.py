"""Fragments of matrices: as tables, sentences, formulas and pictures."""
