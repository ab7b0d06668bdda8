"""The provenance of one array element in words: the thread that stored it, and its inputs."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.machine.results.provenance_tags import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.provenance import ProductEvent, ProvenanceRecord

_MOST_PRODUCTS: Final = 1 << 14
_ELEMENTS: Final = (Kind.EXACT, Kind.CONVERTED)


def trail(
    record: ProvenanceRecord, program: Program, names: Mapping[int, str], place: int, element: int
) -> tuple[str, ...]:
    """The way back from an element of an argument.

    Args:
        record: Of the launch.
        program: Its program.
        names: The names of arguments, by place, if they differ from their parameters.
        place: The argument's.
        element: The flat number of the element.

    Returns:
        Sentences, the store first; empty if the array was not followed.
    """
    known = next((one for one in record.arrays if one.parameter == place), None)
    if known is None:
        return ()
    contents = record.contents(known.number)
    site = int(contents.stored_at.flat[element])
    if site < 0:
        return ("no instruction has stored it",)
    again = ", the second time or later" if contents.stored_twice.flat[element] else ""
    way = _Way(record, program, names)
    return (f"stored by line {way.instruction(site)}{again}", *way.made_of(contents.origins.reshape(-1)[element]))


@dataclass(frozen=True, slots=True)
class _Way:
    record: ProvenanceRecord
    program: Program
    names: Mapping[int, str]

    def instruction(self, site: int) -> str:
        op = self.program.ops[site]
        return f"{op.line}: `{op.text}`"

    def made_of(self, origin: Any) -> tuple[str, ...]:
        """The origin of a value, or the inputs that it was computed from."""
        match int(origin["kind"]):
            case Kind.EXACT | Kind.CONVERTED as kind:
                converted = ", converted" * (kind == Kind.CONVERTED)
                return (f"it is {self.elements([origin])}{converted}",)
            case Kind.PRODUCT:
                return self.sum_of_products(origin)
            case Kind.COMPUTED if origin["node"] > 0:
                node: Any = self.record.nodes[int(origin["node"])]
                sources = [one for one in node["sources"] if int(one["kind"]) in _ELEMENTS]
                of = f" from {self.elements(sources)}" if sources else ""
                return (f"computed by line {self.instruction(int(node['site']))}{of}",)
            case _:
                return ()

    def sum_of_products(self, origin: Any) -> tuple[str, ...]:
        """The products that were added, back along the accumulators."""
        factors: dict[str, list[Any]] = {"a": [], "b": []}
        events: list[ProductEvent] = []
        while int(origin["kind"]) == Kind.PRODUCT and len(events) < _MOST_PRODUCTS:
            event = self.record.products[int(origin["node"])]
            d = event.operand("d")
            row, column = divmod(int(origin["item"]), d.shape[1])
            factors["a"] += list(event.operand("a").origins[row])
            factors["b"] += list(event.operand("b").origins[:, column])
            events.append(event)
            origin = event.operand("c").origins[row, column]
        last = events[0]
        lines = ", ".join(str(line) for line in sorted({event.line for event in events}))
        times = f"{len(events)} matrix product{'s' * (len(events) > 1)} at line{'s' * (',' in lines)} {lines}"
        return (
            f"the sum of {times}, of warp {last.warp} of CTA {last.cta}",
            f"its factors: {self.elements(factors['a'])}; and {self.elements(factors['b'])}",
        )

    def elements(self, origins: Iterable[Any]) -> str:
        """Elements of arrays, together where they make a box: `A[0, 0 to 95]`."""
        by_array: dict[int, list[int]] = {}
        unknown = 0
        for origin in origins:
            if int(origin["kind"]) in _ELEMENTS:
                by_array.setdefault(int(origin["array"]), []).append(int(origin["element"]))
            else:
                unknown += 1
        told = [self.box(array, np.unique(numbers)) for array, numbers in sorted(by_array.items())]
        return ", ".join(told + ([f"{unknown} that no array holds"] if unknown else []))

    def box(self, array: int, numbers: NDArray[Any]) -> str:
        known = self.record.arrays[array]
        indices = np.unravel_index(numbers, known.shape)
        ends = [(int(axis.min()), int(axis.max())) for axis in indices]
        inside = ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in ends)
        part = "" if prod(high - low + 1 for low, high in ends) == len(numbers) else f"{len(numbers)} elements among "
        name = known.name if known.parameter is None else self.names.get(known.parameter, known.name)
        return f"{part}{name}[{inside}]"
