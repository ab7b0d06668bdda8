"""Backward slices: the instructions that a register's value follows from, and how it grows with what they read."""
