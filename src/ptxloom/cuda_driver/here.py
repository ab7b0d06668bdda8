"""`with pl.driver():` - the driver in this process, for libraries imported from now on."""

from __future__ import annotations

import ctypes
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from ptxloom import own_python
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.environment import ON_HAZARD, SOCKET
from ptxloom.diagnostics import UsageError
from ptxloom.machine.port.prepare import device_options

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ptxloom.isa import Target

_SECONDS: Final = 30.0  # for a server that is no longer needed to print its report


@contextmanager
def driver(
    arch: Target | str = "sm_80",
    *,
    checks: Sequence[str] | None = None,
    on_hazard: str = "report",
    memory_bytes: int | None = None,
) -> Generator[None]:
    """A CUDA driver that needs no GPU, in this process: code that loads `libcuda.so.1` from now on gets this one.

    Run unmodified programs with `ptxloom exec`. A process that has loaded the library keeps it:
    after the block, its calls return errors; in the next such block `cuInit` starts over.

    Args:
        arch: The device's architecture, `sm_75` to `sm_121`.
        checks: The tools that watch every launch; by default memcheck and synccheck.
        on_hazard: `report` hazards at once, at the `end` of the block, `stop` the process, or `ignore` them.
        memory_bytes: The most memory that may be allocated; by default half of this machine's.

    Returns:
        A context manager.

    Raises:
        UsageError: An argument is wrong, or a device is active already.
        NoDriver: The libraries are not built, and there is no compiler.

    Example:
        >>> import ctypes
        >>> with driver("sm_90"):
        ...     cuda = ctypes.CDLL("libcuda.so.1")
        ...     count = ctypes.c_int()
        ...     _ = cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count))
        >>> count.value
        1
    """
    device = device_options(arch, checks, memory_bytes)
    if on_hazard not in ON_HAZARD:
        raise UsageError("on_hazard", on_hazard, f"one of {', '.join(ON_HAZARD)}")
    if os.environ.get(SOCKET):
        raise UsageError("pl.driver()", device.arch, f"the only one; there is a driver already ({SOCKET} is set)")
    library = build.folder() / "libcuda.so.1"
    asked = (device.arch, ",".join(device.checks), str(device.memory_bytes), on_hazard)
    command, places = own_python.command("-m", "ptxloom.cuda_driver.server", *asked), own_python.environment()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        env=places,
        start_new_session=True,  # Ctrl-C is not for it
    ) as server:
        said, told = cast("BinaryIO", server.stdout), cast("BinaryIO", server.stdin)
        path = said.readline().decode().strip()
        if not path:
            raise build.NoDriver(
                "the process in which kernels run could not be started: the reason is on standard error"
            )
        os.environ[SOCKET] = path
        try:
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
            yield
        finally:
            del os.environ[SOCKET]
            told.close()
            server.wait(_SECONDS)
