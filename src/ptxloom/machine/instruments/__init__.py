"""The tools that look on while a kernel runs: what compiled code does for each of them."""
