"""Verbs about what lanes hold and where: fragments, bank conflicts, atoms, descriptors."""
