"""Racecheck's fast path for the usual accesses of a whole warp to shared memory, as LLVM functions."""
