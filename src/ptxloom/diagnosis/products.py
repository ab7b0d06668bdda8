"""All products that an instruction has made, their operands side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ptxloom.diagnosis.tiles import Integers
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.results.provenance import ProductEvent, ProvenanceRecord


@dataclass(frozen=True, slots=True, eq=False)
class SiteProducts:
    """The products of one instruction.

    Attributes:
        site: The instruction's number in the program.
        line: Its PTX line.
        text: The instruction.
        form: Shape and types.
        numbers: (events,) the products' numbers.
    """

    site: int
    line: int
    text: str
    form: MatrixForm
    numbers: Integers
    events: tuple[ProductEvent, ...] = field(repr=False)

    def operand(self, name: str) -> NDArray[Any]:
        """(events, rows, columns) where the elements of operand a, b or c come from."""
        return np.stack([event.operand(name).origins for event in self.events])


def products_of_sites(record: ProvenanceRecord) -> Mapping[int, SiteProducts]:
    """The products of a run by the site that made them."""
    by_site: dict[int, list[ProductEvent]] = {}
    for event in record.products:
        by_site.setdefault(event.site, []).append(event)
    return {
        site: SiteProducts(
            site, first.line, first.instruction, first.form, np.array([e.number for e in events]), tuple(events)
        )
        for site, events in by_site.items()
        for first in events[:1]
    }
