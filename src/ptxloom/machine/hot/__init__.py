"""The second tier: the code of whole warps with registers as values, for LLVM to optimise."""
