"""All products that an instruction has made, their operands side by side."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.results.provenance import ProvenanceRecord


@dataclass(frozen=True, slots=True, eq=False)
class SiteProducts:
    """The products of one instruction.

    Attributes:
        site: The instruction's number in the program.
        line: Its PTX line.
        text: The instruction.
        form: Shape and types.
        numbers: (events,) the products' numbers.
        described: Which of `a` and `b` are in shared memory, given by a descriptor.
    """

    site: int
    line: int
    text: str
    form: MatrixForm
    numbers: Integers
    described: str
    record: ProvenanceRecord = field(repr=False)

    @property
    def rows(self) -> int:
        """The rows of A and D: one warp's, if a warpgroup multiplies."""
        return self.form.m // self.form.warps

    def operand(self, name: str) -> NDArray[Any]:
        """The origins of operand a, b or c, (events, rows, columns)."""
        return self.record.operands(self.numbers, name)


def products_of_sites(record: ProvenanceRecord) -> tuple[SiteProducts, ...]:
    """The products of a run by the site that made them; apart, where one site made several forms."""
    found: list[SiteProducts] = []
    for kind, known in enumerate(record.raw.sites):
        described = "".join(name for name, factor in zip("ab", known.factors, strict=True) if factor is not None)
        numbers = np.flatnonzero(record.raw.kinds == kind)
        found.append(SiteProducts(known.site, known.line, known.text, known.form, numbers, described, record))
    return tuple(found)
