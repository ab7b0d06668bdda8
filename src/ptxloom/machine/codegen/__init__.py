"""The vocabulary that semantics are written in, and the code around a single instruction."""
