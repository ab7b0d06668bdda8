"""Rows read otherwise than as LLVM IR, a module a reading: a class with a method for each word of `meaning.words`."""
