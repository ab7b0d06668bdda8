"""Compiles a program to machine code, one function per variant."""
