"""Readings of rows other than LLVM IR, one per module: a class with a method for each word of `meaning.words`."""
