"""A kernel that writes behind its array, then one that does not."""

import driver_calls as cuda

cuda.begin()
kernel = cuda.function(cuda.module())
array = cuda.allocate(8)
for count in (3, 2):
    try:
        cuda.launch(kernel, array, count)
        print(cuda.read(array, 2))
    except cuda.CudaError as error:
        print(*error.args)
