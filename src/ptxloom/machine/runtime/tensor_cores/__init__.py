"""Tensor memory: what it holds, who has it, what has been written; and a product into it on its way."""
