class GPUTarget:
    backend: str
    arch: int
    warp_size: int
    def __init__(self, backend: str, arch: int, warp_size: int) -> None: ...

class BaseBackend:
    target: GPUTarget
