"""An array that a result is computed from, and how the two correspond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links
    from ptxloom.diagnosis.relations.patterns import Pattern
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord, TracedArray


class Result(NamedTuple):
    """An array that is stored.

    Attributes:
        contents: Where its elements come from.
        nodes: What values were computed from.
        record: The run.
    """

    contents: Contents
    nodes: NDArray[Any]
    record: ProvenanceRecord

    @property
    def array(self) -> TracedArray:
        """The array."""
        return self.contents.array


class Source(NamedTuple):
    """An array that a result is computed from.

    Attributes:
        array: The array.
        leaves: Its elements, each once for each result.
        ways: Its elements, once per path.
        links: How they correspond to the results.
        pattern: Which of them each result should have.
        counted: Whether each of them should have the same number of paths.
    """

    array: TracedArray
    leaves: Leaves
    ways: Leaves
    links: Links
    pattern: Pattern
    counted: bool
