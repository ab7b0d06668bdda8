"""The machine's run-time: native functions that compiled kernels call, and the state they share with Python."""
