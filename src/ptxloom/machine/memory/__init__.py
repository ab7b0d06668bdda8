"""The memory of a run: where it comes from, what is stored in it, and how addresses are named."""
