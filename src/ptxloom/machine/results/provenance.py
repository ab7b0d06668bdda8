"""The result of `launch(..., provenance=True)`: the array element behind every byte, and the instructions between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.display import mimebundle
from ptxloom.machine.results.provenance_operands import (
    by_element,
    descriptor_place,
    first_bits,
    scale_slots,
    slot_items,
)
from ptxloom.machine.results.provenance_tags import NODE, ORIGIN, Kind, decoded, value_tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.raw_provenance import RawProvenance


@dataclass(frozen=True, slots=True)
class TracedArray:
    """An array of the launch, as origins name it.

    Attributes:
        number: Its number in the field `array` of origins.
        name: That of the parameter, or of the one that points to it; or another name that the launch has for it.
        parameter: The parameter's place; None of an array that is not a parameter itself.
        dtype: Of its elements.
        shape: Elements along each axis.
        strides: Bytes along each axis.
        nbytes: Its bytes.
    """

    number: int
    name: str
    parameter: int | None
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    nbytes: int

    def index(self, element: int) -> tuple[int, ...]:
        """The index of an element by its flat number."""
        return tuple(int(n) for n in np.unravel_index(element, self.shape))


@dataclass(frozen=True, slots=True, eq=False)
class OperandOrigins:
    """The origins of a matrix's elements.

    Attributes:
        form_operand: Which operand of the product it is: "a", "b", "c" or "d".
        shape: Rows and columns: A is M x K (as it is stored, if it is sparse), B is K x N, C and D are M x N.
        origins: For each element `kind`, `array`, `element`, `byte`, `bit`, `at`, `node`, `item`, `path` (`ORIGIN`).
        arrays: What `array` counts.
    """

    form_operand: str
    shape: tuple[int, int]
    origins: NDArray[Any] = field(repr=False)
    arrays: tuple[TracedArray, ...] = field(repr=False, default=())

    def index(self, row: int, column: int) -> tuple[int, ...] | None:
        """The index in its array of the element at a place; None if it does not come from an array."""
        origin: Any = self.origins[row, column]
        number = int(origin["array"])
        return None if number < 0 else self.arrays[number].index(int(origin["element"]))


@dataclass(frozen=True, slots=True, eq=False)
class ProductEvent:
    """A matrix product that a warp has executed.

    Attributes:
        number: Its number among all that were recorded; PRODUCT origins hold it in `node`.
        site: The instruction's number in the program.
        line: Its PTX line.
        instruction: The instruction as PTX.
        form: Shape and types.
        cta: The CTA's (x, y, z).
        warp: The warp within the CTA.
        sequence: The number of recorded products that the warp had executed before.

    For `wgmma`, each warp of the warpgroup has a product of its own: its 16 rows of A, C and D, and all of B.
    """

    number: int
    site: int
    line: int
    instruction: str
    form: MatrixForm
    cta: tuple[int, int, int]
    warp: int
    sequence: int
    record: ProvenanceRecord = field(repr=False)

    def operand(self, name: str) -> OperandOrigins:
        """The origins of an operand's elements; for D, this product itself.

        Args:
            name: "a", "b", "c" or "d".

        Raises:
            UsageError: There is no such operand.
        """
        (origins,) = self.record.operands(np.array([self.number]), name)
        return OperandOrigins(name, (origins.shape[0], origins.shape[1]), origins, self.record.arrays)


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The origins of an array's elements at the end of the kernel.

    Attributes:
        array: The array.
        origins: For each element, in the array's shape; elements that the kernel has not written are EXACT and their
            own origin.
        stored_at: The site that wrote each element last; -1: not written.
        stored_twice: Whether the kernel has written it more than once.
    """

    array: TracedArray
    origins: NDArray[Any] = field(repr=False)
    stored_at: NDArray[np.int64] = field(repr=False)
    stored_twice: NDArray[np.bool_] = field(repr=False)


class _Products(Sequence["ProductEvent"]):
    """The products of a record, each made when it is looked at."""

    def __init__(self, record: ProvenanceRecord) -> None:
        self._record = record
        self._sequences: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self._record.raw.events)

    @overload
    def __getitem__(self, index: int) -> ProductEvent: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ProductEvent, ...]: ...
    def __getitem__(self, index: int | slice) -> ProductEvent | tuple[ProductEvent, ...]:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(*index.indices(len(self))))
        number = range(len(self))[index]
        raw = self._record.raw
        event = raw.events[number]
        known = raw.of(number)
        x, y, _ = raw.grid
        block = int(event["cta"])
        place = (block % x, block // x % y, block // (x * y))
        sequence = int(self._order()[number])
        return ProductEvent(
            number, known.site, known.line, known.text, known.form, place, int(event["warp"]), sequence,
            self._record,
        )  # fmt: skip

    def _order(self) -> NDArray[np.int64]:
        """For each product how many of its warp were recorded before."""
        if self._sequences is None:
            events = self._record.raw.events
            _, owner = np.unique(events[["cta", "warp"]], return_inverse=True)
            order = np.argsort(owner, kind="stable")
            starts = np.r_[True, np.diff(owner[order]) != 0]
            first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
            self._sequences = np.empty(len(order), np.int64)
            self._sequences[order] = np.arange(len(order)) - first
        return self._sequences


@dataclass(frozen=True, slots=True, eq=False)
class ProvenanceRecord:
    """The origins of all data in a launch with `provenance`.

    Attributes:
        arrays: The arrays of the launch.
        limits: What did not fit, a sentence each.
        raw: What native code has kept.
        program: The kernel's instructions, by the sites that paths and products name.
    """

    arrays: tuple[TracedArray, ...]
    limits: tuple[str, ...]
    raw: RawProvenance = field(repr=False)
    program: Program = field(repr=False)

    _repr_mimebundle_ = mimebundle

    @property
    def products(self) -> Sequence[ProductEvent]:
        """The matrix products that were recorded, in the order in which they were executed."""
        return _Products(self)

    def operands(self, numbers: NDArray[np.int64], name: str) -> NDArray[Any]:
        """The origins of an operand's elements, for several products of one instruction.

        Args:
            numbers: (products,) their numbers.
            name: "a", "b", "c" or "d".

        Returns:
            (products, rows, columns) of `ORIGIN`.

        Raises:
            UsageError: There is no such operand.
        """
        known = self.raw.of(int(numbers[0]))
        starts = self.raw.events["start"][numbers].astype(np.int64)
        origins = self.origins(by_element(known, name, self.raw.pool, starts, numbers))
        origins["bit"] += (origins["array"] >= 0) * first_bits(known, name)
        return origins

    def scales(self, numbers: NDArray[np.int64], name: str) -> NDArray[Any] | None:
        """The origins of the scales of a factor's blocks, for several products of one instruction.

        Args:
            numbers: (products,) their numbers.
            name: "a" or "b".

        Returns:
            (products, rows or columns, blocks) of `ORIGIN`; None if they were not noted.
        """
        known = self.raw.of(int(numbers[0]))
        if not known.scales:
            return None
        starts = self.raw.events["start"][numbers].astype(np.int64)
        return self.origins(self.raw.pool[starts[:, None, None] + scale_slots(known, name)])

    def descriptors(self, numbers: NDArray[np.int64], name: str) -> NDArray[np.uint64] | None:
        """The matrix descriptors of a factor of several products of one instruction.

        Args:
            numbers: (products,) their numbers.
            name: "a" or "b".

        Returns:
            (products,) the 64 bits; None if the factor is not in shared memory.
        """
        place = descriptor_place(self.raw.of(int(numbers[0])), name)
        return None if place is None else self.raw.pool[self.raw.events["start"][numbers].astype(np.int64) + place]

    def origins(self, tags: NDArray[np.uint64]) -> NDArray[Any]:
        """Decode tags to `ORIGIN`, in their shape.

        Args:
            tags: Of the first byte of each value.
        """
        raw = self.raw
        result = decoded(tags, raw.places, [(a.nbytes, a.dtype.itemsize) for a in self.arrays])
        made = result["kind"] == Kind.PRODUCT
        if made.any():
            kinds = raw.kinds[result["node"][made]]
            slots = result["item"][made]
            for kind in np.unique(kinds):
                here = kinds == kind
                slots[here] = slot_items(raw.sites[int(kind)])[slots[here]]
            result["item"][made] = slots
        return result

    def array(self, which: int | str) -> TracedArray:
        """An array by its number or its name, in the source or in PTX.

        Raises:
            UsageError: There is no such array.
        """
        for known in self.arrays:
            in_ptx = None if known.parameter is None else self.program.parameters[known.parameter].name
            if which in {known.number, known.name, in_ptx} - {None}:
                return known
        raise UsageError("array", which, ", ".join(f"{a.number} ({a.name})" for a in self.arrays) or "no array at all")

    def contents(self, array: int | str) -> Contents:
        """The origins of an array's elements at the end.

        Args:
            array: Its number or its name.

        Raises:
            UsageError: There is no such array.
        """
        known = self.array(array)
        start = int(self.raw.places[known.number])
        tags = self._tags(start, known.nbytes).reshape(-1, max(known.dtype.itemsize, 1))
        values, twice, paths = value_tags(tags)
        itself = values == 0
        origins = self.origins(values)
        size = known.dtype.itemsize
        origins["kind"][itself], origins["array"][itself] = Kind.EXACT, known.number
        origins["element"][itself] = np.flatnonzero(itself)
        stored = np.where(itself, -1, self.raw.paths[paths, 1].astype(np.int64))
        assert size
        return Contents(known, origins.reshape(known.shape), stored.reshape(known.shape), twice.reshape(known.shape))

    def shared(self, cta: int | Sequence[int] = 0, site: int | None = None) -> NDArray[Any] | None:
        """The origin of every byte of a CTA's shared memory.

        Args:
            cta: By its number or as (x, y, z).
            site: At the time when a warp of it first reached this instruction, if the launch was to keep that; None: at
                its end.

        Returns:
            (bytes,) of `ORIGIN`, the number of each byte that of its address; None if the CTA never came there.

        Raises:
            UsageError: It was not kept.
        """
        place = self._moment(cta, site)
        return None if place is None else self.origins(self.raw.pictures[place])

    def shared_bytes(self, cta: int | Sequence[int] = 0, site: int | None = None) -> NDArray[np.uint8] | None:
        """The contents of a CTA's shared memory at the moments of `shared`; None if the CTA never came there.

        Raises:
            UsageError: It was not kept.
        """
        place = self._moment(cta, site)
        return None if place is None else self.raw.contents[place]

    def _moment(self, cta: int | Sequence[int], site: int | None) -> tuple[int, int] | None:
        """The index of a CTA's shared memory at a moment.

        Raises:
            UsageError: Nowhere.
        """
        raw = self.raw
        x, y, z = (cta, 0, 0) if isinstance(cta, int) else (*cta, 0, 0)[:3]
        number = x + raw.grid[0] * (y + raw.grid[1] * z)
        if number not in raw.kept:
            raise UsageError("cta", cta, "a CTA among `Provenance.shared_of`")
        if site is not None and site not in raw.moments:
            raise UsageError("site", site, "one that `Provenance.shared_at` names")
        place = raw.kept.index(number), 0 if site is None else 1 + raw.moments.index(site)
        return place if raw.taken[place] else None

    def path(self, number: int) -> tuple[int, ...]:
        """The sites that a byte came through, from the load to the last that moved it.

        Args:
            number: The field `path` of an origin.

        Raises:
            UsageError: There is no such path.
        """
        if not 0 <= number < len(self.raw.paths):
            raise UsageError("path", number, f"0 to {len(self.raw.paths) - 1}")
        sites: list[int] = []
        while number:
            number, site = (int(n) for n in self.raw.paths[number])
            sites.append(site)
        return tuple(reversed(sites))

    @property
    def nodes(self) -> NDArray[Any]:
        """The inputs of computed values, by number: `site`, and three `sources`, each as `ORIGIN`.

        Number 0 stands for everything that did not fit.
        """
        result = np.zeros(len(self.raw.nodes), NODE)
        result["site"] = self.raw.nodes["site"]
        result["sources"] = self.origins(self.raw.nodes["sources"])
        return result

    def _tags(self, start: int, size: int) -> NDArray[np.uint64]:
        """The tags of bytes of global memory; 0 where it is read-only."""
        result = np.zeros(size, np.uint64)
        for first, tags in self.raw.pieces:
            low, high = max(first, start), min(first + len(tags), start + size)
            if low < high:
                result[low - start : high - start] = tags.of_bytes(low - first, high - first)
        return result


__all__ = [
    "ORIGIN",
    "Contents",
    "Kind",
    "OperandOrigins",
    "ProductEvent",
    "ProvenanceRecord",
    "TracedArray",
]
