"""Verbs about the data of lanes and tiles: fragments, bank conflicts, atoms, descriptors."""
