"""Racecheck's look at the accesses of a whole warp to shared memory: what is usual, as LLVM functions."""
