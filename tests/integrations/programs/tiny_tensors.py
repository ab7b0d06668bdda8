"""tinygrad, as its users write it: products, reductions, a convolution and its gradient."""

import numpy as np
from tinygrad import Device, Tensor

random = np.random.default_rng(0)
a, b = random.standard_normal((48, 64), np.float32), random.standard_normal((64, 32), np.float32)
found = (Tensor(a) @ Tensor(b)).relu().sum(axis=1).numpy()
print(Device.DEFAULT, bool(np.allclose(found, np.maximum(a @ b, 0).sum(1), atol=1e-3)))

image, weights = (Tensor(random.standard_normal(shape, np.float32)) for shape in ((1, 2, 8, 8), (3, 2, 3, 3)))
slope = image.conv2d(weights).square().sum().gradient(weights)[0].numpy()[1, 1, 2, 2]
at = np.zeros(weights.shape, np.float32)
at[1, 1, 2, 2] = 1e-2
there, back = (image.conv2d(weights + Tensor(step * at)).square().sum().item() for step in (1, -1))
print("gradient", bool(np.isclose((there - back) / 2e-2, slope, rtol=1e-2)))
