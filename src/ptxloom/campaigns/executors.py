"""Where shares are carried out: processes of this machine, a Dask cluster; anything with `submit` fits as well."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, cast

from ptxloom.dataclass import dataclass
from ptxloom.extras import MissingPart, needed

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor that can be made again.

    Attributes:
        make: Makes an executor of `concurrent.futures`' interface.
        count: The number of shares that it carries out in parallel.
        broken: The exceptions of its futures when a worker died; its share is tried again alone.
        lasts: Whether an executor continues after one of its workers died.
    """

    make: Callable[[], Executor]
    count: int
    broken: tuple[type[BaseException], ...] = (BrokenExecutor,)
    lasts: bool = False

    def end(self, executor: Executor) -> None:
        """End an executor, and cancel what it has not started."""
        if self.lasts:
            executor.shutdown(wait=False)
        else:
            executor.shutdown(wait=False, cancel_futures=True)


def of_processes(count: int) -> Workers:
    """`count` processes of this machine, each started afresh: the state of a GPU's driver is not inherited."""
    context = multiprocessing.get_context("spawn")
    return Workers(lambda: ProcessPoolExecutor(count, context, initializer=_end_with_parent), count)


def _end_with_parent() -> None:
    """End a worker when its parent ends, however that happens: nothing else would stop it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent,), daemon=True).start()


def _wait_and_end(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _local(library: Any) -> Any:
    return library.LocalCluster(threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR)


def of_mpi() -> Workers:
    """The processes of an MPI job, by mpi4py: `mpiexec -n 9 python -m mpi4py.futures -m ptxloom ...` has eight workers.

    If one of them dies, MPI ends the job: the results in a campaign's folder remain for the next one.

    Raises:
        MissingPart: mpi4py is not installed.
    """
    try:
        from mpi4py import MPI, futures  # noqa: PLC0415 # pyright: ignore[reportMissingImports, reportUnknownVariableType] - an extra
    except ModuleNotFoundError:
        said = "spreading work over an MPI job takes mpi4py, which is not installed: pip install mpi4py"
        raise MissingPart(said, name="mpi4py") from None
    pool, job = cast("Any", futures), cast("Any", MPI)
    count = max(1, job.COMM_WORLD.Get_size() - 1)
    return Workers(lambda: pool.MPIPoolExecutor(count), count)


def of_cluster(address: str) -> Workers:
    """The workers of a Dask cluster.

    Args:
        address: Of its scheduler, such as "tcp://10.0.0.1:8786", or "local" for one on this machine.

    Raises:
        MissingPart: Dask is not installed.
        OSError: No scheduler is there.
    """
    with needed():
        import distributed  # noqa: PLC0415 - an extra
    library: Any = distributed
    client = library.Client(_local(library) if address == "local" else address)
    workers = max(1, sum(client.nthreads().values()))
    return Workers(lambda: client.get_executor(pure=False), workers, (library.KilledWorker,), lasts=True)
