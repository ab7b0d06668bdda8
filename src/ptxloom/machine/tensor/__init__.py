"""Exact tensor cores: `mma`, `mma.sp` and `wmma.mma`, bit for bit as the hardware computes them.

`batch.mma` works on NumPy arrays. `emit.function(form, target, selector)` returns the IR of a function for one warp:
pointers to registers, each 32 lanes side by side, those of D first, then A, B, C and a sparse form's metadata.
`recipe` defines how each architecture adds, `form` the forms.
"""
