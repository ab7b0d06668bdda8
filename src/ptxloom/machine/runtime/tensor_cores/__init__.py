"""Tensor memory: its contents, allocations and marks of written words; and the state of a product into it."""
