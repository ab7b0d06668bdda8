"""Native code for tensor memory: allocation, moves to and from it, and products into it."""
