"""A program to machine code, one function a variant."""
