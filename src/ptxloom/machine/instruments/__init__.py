"""The tools that observe a running kernel: the code that is compiled for each of them."""
