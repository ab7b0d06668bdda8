"""What native code keeps of where bytes come from, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.instruments.matrix_tags import Factor


@dataclass(frozen=True, slots=True)
class ProductSite:
    """An instruction that makes products, as events name it."""

    site: int
    line: int
    text: str
    form: MatrixForm
    factors: tuple[Factor | None, Factor | None]


@dataclass(frozen=True, slots=True, eq=False)
class RawProvenance:
    """What native code has kept, as arrays.

    Attributes:
        places: (arrays,) uint64: where each array starts, in the numbers that tags use.
        pieces: The tags of global memory, each with the number of its first byte; only of what may be written.
        events: Structured as `ProductEvent` of the run-time.
        pool: Tags of operands.
        paths: (paths, 2) uint32: the path before, and the site.
        nodes: Structured: `site`, and `sources`, three tags.
        missed: Products that did not fit.
        pictures: (CTAs, moments, bytes): tags of shared memory.
        contents: (CTAs, moments, bytes): the bytes themselves.
        taken: (CTAs, moments): whether the moment has come.
        kept: The CTAs of which there are pictures, by their numbers.
        moments: The sites of moments from number 1 on; number 0 is the end.
        sites: The instructions that make products.
        grid: CTAs along x, y and z.
        parameters: The bytes of the kernel's parameters.
    """

    places: NDArray[np.uint64]
    pieces: tuple[tuple[int, NDArray[np.uint64]], ...]
    events: NDArray[Any]
    pool: NDArray[np.uint64]
    paths: NDArray[np.uint32]
    nodes: NDArray[Any]
    missed: int
    pictures: NDArray[np.uint64]
    contents: NDArray[np.uint8]
    taken: NDArray[np.uint8]
    kept: tuple[int, ...]
    moments: tuple[int, ...]
    sites: dict[int, ProductSite]
    grid: tuple[int, int, int]
    parameters: bytes
