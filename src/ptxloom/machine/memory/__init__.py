"""The memory of a run: where it comes from, what lies in it, and what an address is called."""
