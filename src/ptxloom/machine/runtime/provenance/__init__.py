"""Provenance of bytes: tags beside registers and memory, followed from instruction to instruction."""
