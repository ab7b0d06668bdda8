"""The memory of a run: allocation, contents, and the names of addresses."""
