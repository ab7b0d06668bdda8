"""The queue of a grid's clusters that have not started; and the random numbers of a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import atomic, u32, u64
from ptxloom.machine.runtime.state import Launch, Worker

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def next_cluster(launch: Launch) -> u64:
    """Take the next cluster off the queue; returns its number, `launch.total` or more if the queue is empty."""
    return atomic("add", launch.next, 1)


def place_cluster(launch: Launch, index: u64, first: Slice[u32]) -> None:
    """The index in x, y, z of the first CTA of a cluster, by the cluster's number."""
    columns = u64(launch.grid[0] // launch.cluster[0])
    plane = columns * u64(launch.grid[1] // launch.cluster[1])
    rest = index % plane
    first[0] = u32(rest % columns) * launch.cluster[0]
    first[1] = u32(rest // columns) * launch.cluster[1]
    first[2] = u32(index // plane) * launch.cluster[2]


def draw(worker: Worker) -> u64:
    """A random number, of which the upper bits are good: the same sequence for the same seed."""
    worker.random = worker.random * 6364136223846793005 + 1442695040888963407
    return worker.random
