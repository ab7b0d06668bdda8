"""Where bytes come from: tags beside registers and memory, followed from instruction to instruction."""
