"""What `saxpy.ptx` has to compute, for `ptxloom judge saxpy.ptx --against saxpy.py`."""

import numpy as np

shapes = [(64,), (1000,)]


def inputs(seed, shape):
    """Every argument by name, in the order of the kernel's parameters; `out` holds nothing yet."""
    rng = np.random.default_rng(seed)
    (n,) = shape
    x, y = rng.standard_normal((2, n), np.float32)
    return {"x": x, "y": y, "out": np.empty(n, np.float32), "a": np.float32(rng.uniform(1, 2)), "n": np.int32(n)}


def reference(x, y, out, a, n):
    """What the outputs must be."""
    return {"out": a * x.astype(np.float64) + y}


def launch(shape):
    """How many CTAs of how many threads."""
    return {"grid": -(-shape[0] // 128), "block": 128}
