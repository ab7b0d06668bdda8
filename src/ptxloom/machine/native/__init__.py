"""Native code: the typed language of the run-time, LLVM IR as text, and its machine code, compiled and cached."""
