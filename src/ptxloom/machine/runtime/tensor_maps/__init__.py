"""Tensor maps and the copies by them, as native code makes them (PTX ISA 5.5, 9.7.9.27)."""
