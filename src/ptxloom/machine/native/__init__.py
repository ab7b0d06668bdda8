"""Native code: the typed language of the run-time, LLVM IR as text, machine code made of it and kept."""
