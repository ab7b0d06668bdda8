"""Exact tensor cores: `mma`, `mma.sp` and `wmma`, bit for bit as the hardware computes them."""
