"""Dr.Jit: an expression that is compiled to PTX, a sum, a gather."""

import drjit as dr
from drjit.cuda import Float, UInt

x = dr.arange(Float, 1024)
y = x * 2 + 1
print(bool(dr.has_backend(dr.JitBackend.CUDA)), dr.sum(y)[0] == 1024 * 1024, dr.gather(Float, y, UInt(7))[0] == 15)
