"""Verbs that compare: this machine with a GPU or ptxas, a kernel with a reference."""
