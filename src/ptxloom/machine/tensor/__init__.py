"""Exact tensor cores: `mma`, `mma.sp` and `wmma.mma`, bit for bit as on the hardware.

`batch.mma` works on NumPy arrays. `emit.function(form, target, selector)` returns the IR of a function for one warp:
its arguments are pointers to registers of 32 contiguous lanes each: D first, then A, B, C and a sparse form's metadata.
`recipe` defines how each architecture adds, `form` the forms.
"""
