"""Halide: a stage on the device, tiled in blocks, copied back."""

import halide as hl
import numpy as np

x, inner = hl.Var("x"), hl.Var("inner")
values = hl.Buffer(np.arange(1000, dtype=np.float32))
doubled = hl.Func("doubled")
doubled[x] = values[x] * 2.0 + 1.0
doubled.compute_root().gpu_tile(x, inner, 64)
target = hl.get_jit_target_from_environment().with_feature(hl.TargetFeature.CUDA)
made = doubled.realize([1000], target.with_feature(hl.TargetFeature.CUDACapability80))
print(made.has_device_allocation())
made.copy_to_host()
print(np.array_equal(np.array(made), np.arange(1000, dtype=np.float32) * 2 + 1))
