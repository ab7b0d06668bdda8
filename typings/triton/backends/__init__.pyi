from triton.backends.compiler import BaseBackend
from triton.backends.driver import DriverBase

class Backend:
    compiler: type[BaseBackend]
    driver: type[DriverBase]

backends: dict[str, Backend]
