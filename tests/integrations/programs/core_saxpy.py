"""cuda.core, as its users write it: C++ compiled by NVRTC to PTX, launched on buffers of the device's memory."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

CODE = """
template <typename T>
__global__ void saxpy(const T a, const T *x, const T *y, T *out, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
module = Program(CODE, code_type="c++", options=options).compile("ptx", name_expressions=("saxpy<float>", "saxpy<double>"))
pinned = LegacyPinnedMemoryResource()
for type_, name in ((np.float32, "saxpy<float>"), (np.float64, "saxpy<double>")):
    count = 1000
    room = count * np.dtype(type_).itemsize
    x, y, out = (device.allocate(room, stream=stream) for _ in range(3))
    host = pinned.allocate(room)
    values = np.from_dlpack(host).view(type_)
    values[:] = np.arange(count)
    host.copy_to(x, stream=stream)
    host.copy_to(y, stream=stream)
    stream.sync()
    launch(stream, LaunchConfig(grid=4, block=64), module.get_kernel(name), type_(3), x, y, out, np.uint64(count))
    out.copy_to(host, stream=stream)
    stream.sync()
    print(name, bool((values == 4 * np.arange(count)).all()))
