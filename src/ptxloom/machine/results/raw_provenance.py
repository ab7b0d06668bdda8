"""The provenance data of native code, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.instruments.matrix_tags import Factor
    from ptxloom.machine.results.word_tags import WordTags


@dataclass(frozen=True, slots=True)
class ProductSite:
    """An instruction that makes products, as events name it.

    Attributes:
        site: Its number in the program.
        line: Its PTX line.
        text: The instruction.
        form: Shape and types.
        factors: A and B if they are in shared memory.
        scales: How many scales a row of A has, and a column of B; 0 without.
        in_lines: Whether the tags of its operands are noted line by line: A and D by row, B by column.
    """

    site: int
    line: int
    text: str
    form: MatrixForm
    factors: tuple[Factor | None, Factor | None]
    scales: int = 0
    in_lines: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RawProvenance:
    """The provenance data of native code, as arrays.

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
        kinds: (events,) which of `sites` each event is of.
        sites: The instructions that make products; one with several instruction descriptors once for each.
        grid: CTAs along x, y and z.
        parameters: The bytes of the kernel's parameters.
    """

    places: NDArray[np.uint64]
    pieces: tuple[tuple[int, WordTags], ...]
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
    kinds: NDArray[np.int64]
    sites: tuple[ProductSite, ...]
    grid: tuple[int, int, int]
    parameters: bytes

    def of(self, event: int) -> ProductSite:
        """The instruction that made a product."""
        return self.sites[int(self.kinds[event])]
