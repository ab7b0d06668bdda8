"""The limits of a launch: those of the hardware, and those of the kernel's own directives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from operator import index
from typing import TYPE_CHECKING, Final, NamedTuple, SupportsIndex, cast

import numpy as np

from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import LANES
from ptxloom.syntax.tree import Integer

if TYPE_CHECKING:
    from ptxloom.syntax.tree import PerformanceDirective

_LIMITS: Final = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64), "cluster": (16, 16, 16)}
_CLUSTER_CTAS: Final = 16
_NO_CLUSTER: Final = (1, 1, 1)
_THREAD_LIMIT: Final = 1024


class Dim3(NamedTuple):
    """The extents of a launch in x, y, z."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clustered: bool  # whether it is a launch with clusters, of one CTA even

    @property
    def threads(self) -> int:
        """The threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """The warps of all CTAs."""
        return self.grid[0] * self.grid[1] * self.grid[2] * -(-self.threads // LANES)


class LaunchFacts(NamedTuple):
    """The properties of a launch; launches of a kernel that agree in these share a state, except parameters and memory.

    Attributes:
        shape: The extents.
        shared_bytes: Dynamic shared memory.
        seed: The order of warps.
        stack_bytes: Local memory of a thread for calls.
        checks: The tools that watch.
        printf_bytes: What may be printed.
    """

    shape: Dim3
    shared_bytes: int
    seed: int
    stack_bytes: int
    checks: frozenset[str]
    printf_bytes: int


def shape_of(grid: object, block: object, cluster: object, directives: Iterable[PerformanceDirective]) -> Dim3:
    """The shape of a launch of a kernel; without `cluster`, the one that its `.reqnctapercluster` requires.

    Raises:
        UsageError: The hardware, or the kernel's own directives (PTX ISA 11.4), do not allow it.
    """
    directives = tuple(directives)
    required = next((_values(one) for one in directives if one.name == "reqnctapercluster"), None)
    wanted = _NO_CLUSTER if required is None else extent("cluster", required)
    given = wanted if cluster is None else extent("cluster", cluster)
    if required is not None and given != wanted:
        raise UsageError("cluster", cluster, f"{wanted}, as the kernel's `.reqnctapercluster` says")
    clustered = cluster is not None or required is not None
    shape = Dim3(extent("grid", grid), extent("block", block), given, clustered=clustered)
    _check_shape(shape, directives)
    return shape


def _values(directive: PerformanceDirective) -> tuple[int, ...]:
    return tuple(value.value for value in directive.values if isinstance(value, Integer))


def _check_shape(shape: Dim3, directives: Iterable[PerformanceDirective]) -> None:
    if shape.cluster != _NO_CLUSTER:
        if any(g % c for g, c in zip(shape.grid, shape.cluster, strict=True)):
            raise UsageError("cluster", shape.cluster, f"a divisor of the grid {shape.grid}")
        if prod(shape.cluster) > _CLUSTER_CTAS:
            raise UsageError("cluster", shape.cluster, f"at most {_CLUSTER_CTAS} CTAs")
    if shape.threads > _THREAD_LIMIT:
        raise UsageError("block", shape.block, f"at most {_THREAD_LIMIT} threads")
    for directive in directives:
        values = _values(directive)
        said = f"as the kernel's `.{directive.name}` says"
        match directive.name:
            case "reqntid" if shape.block != (*values, 1, 1, 1)[:3]:
                raise UsageError("block", shape.block, f"{(*values, 1, 1, 1)[:3]}, {said}")
            case "maxntid" if shape.threads > prod(values):
                raise UsageError("block", shape.block, f"at most {prod(values)} threads, {said}")
            case "maxclusterrank" if prod(shape.cluster) > prod(values):
                raise UsageError("cluster", shape.cluster, f"at most {prod(values)} CTAs, {said}")
            case _:
                pass


def may_fill_a_warp(directives: Iterable[PerformanceDirective]) -> bool:
    """Whether a kernel's directives let a CTA have as many threads as a warp has lanes."""
    limits = (one for one in directives if one.name in {"reqntid", "maxntid"})
    return all(prod(v.value for v in one.values if isinstance(v, Integer)) >= LANES for one in limits)


def extent(argument: str, value: object) -> tuple[int, int, int]:
    """A grid, block or cluster in x, y and z.

    Raises:
        UsageError: The hardware does not allow such extents.
    """
    limits = _LIMITS[argument]
    if type(value) is int and 1 <= value <= limits[0]:  # the form of most launches
        return value, 1, 1
    legal = f"one to three integers from 1 to {', '.join(map(str, limits))}"
    extents: Iterable[object] = (value,)
    if isinstance(value, (Sequence, np.ndarray)):
        extents = cast("Iterable[object]", value)
    numbers = [whole(n) for n in extents]
    padded = [*numbers, 1, 1, 1][:3]
    if not 1 <= len(numbers) <= 3 or any(
        n is None or not 1 <= n <= limit for n, limit in zip(padded, limits, strict=True)
    ):
        raise UsageError(argument, cast("object", value), legal)
    x, y, z = (n or 1 for n in padded)
    return x, y, z


def whole(value: object) -> int | None:
    """An integer of any type, but not a bool; else None."""
    if type(value) is int:  # asking for a protocol takes longer
        return value
    return index(value) if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
