"""The contents of a CTA's shared memory at a moment: pieces of it, each with the elements that it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.swizzling import CHUNK_BYTES
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.fragments.filled import read_registers
from ptxloom.fragments.number_types import ptx_name
from ptxloom.isa.limits import BANK_BYTES, BANKS, LINE_BYTES
from ptxloom.isa.types import element_type
from ptxloom.machine.memory.address_map import shared_arrays
from ptxloom.machine.results.provenance import ProvenanceRecord
from ptxloom.machine.results.provenance_tags import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.results.provenance import TracedArray

_FLAT_BYTES: Final = 128  # of an array without rows: the bytes of one unit


@dataclass(frozen=True, slots=True)
class SharedElements:
    """Consecutive elements.

    Attributes:
        array: The array's name; "" if the origin of the bytes is unknown.
        kind: Whether they are the elements themselves, converted, or something made of others.
        first: The index of the first.
        last: Likewise of the last.
        regular: Between them, only one index counts up, by one.
        row: The row of its array that holds the first; None if unknown.
        chunk: Which 16 bytes of its row the first is in.
    """

    array: str
    kind: Kind
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    regular: bool = True
    row: int | None = None
    chunk: int = 0


@dataclass(frozen=True, slots=True)
class SharedPiece:
    """Neighbouring bytes.

    Attributes:
        address: Of the first, in shared memory.
        size: How many.
        elements: The elements there.
        values: The bytes as numbers of the requested type.
    """

    address: int
    size: int
    elements: SharedElements
    values: tuple[Any, ...]

    @property
    def bank(self) -> int:
        """The bank of the first byte."""
        return self.address // BANK_BYTES % BANKS


@dataclass(frozen=True, slots=True, eq=False)
class SharedMap:
    """Shared memory of a CTA at a moment.

    Attributes:
        kernel: The kernel's name.
        moment: The next instruction: "line 388: ldmatrix..."; "" at the end.
        cta: The CTA's (x, y, z).
        contents: (bytes,) uint8.
        origins: (bytes,) of `ORIGIN`.
        arrays: What `array` counts in origins.
        names: What arrays are called, by their number.
        type: What bytes are read as.
        start: The first byte that is of interest; likewise `end`, the one behind the last.
        of: What these bytes are: the name of a variable or of an array; "" for all.
        only: The number of the array that is asked for, so that lines without it are left out; -1 for all.
    """

    kernel: str
    moment: str
    cta: tuple[int, int, int]
    contents: NDArray[np.uint8] = field(repr=False)
    origins: NDArray[Any] = field(repr=False)
    arrays: tuple[TracedArray, ...] = field(repr=False)
    names: Mapping[int, str]
    type: str
    start: int
    end: int
    of: str = ""
    only: int = -1

    @property
    def lines(self) -> Sequence[int]:
        """The addresses of the lines of 32 banks that are of interest."""
        lines = range(self.start // LINE_BYTES * LINE_BYTES, self.end, LINE_BYTES)
        if self.only < 0:
            return lines
        held = self.origins["array"] == self.only
        return [line for line in lines if held[line : line + LINE_BYTES].any()]

    def pieces(self, line: int, size: int) -> tuple[SharedPiece, ...]:
        """A line in pieces; what is not of interest is left out.

        Args:
            line: Its address.
            size: Bytes of a piece.
        """
        places = range(max(line, self.start // size * size), min(line + LINE_BYTES, self.end), size)
        return tuple(SharedPiece(at, size, self._elements(at, size), self._values(at, size)) for at in places)

    def _values(self, at: int, size: int) -> tuple[Any, ...]:
        """The numbers that bytes hold."""
        wide = max(size, element_type(self.type).container_bits // 8)
        held = self.contents[at // wide * wide : at // wide * wide + wide]
        if len(held) < wide:
            return ()
        word = min(wide, 8)
        return tuple(read_registers(held.view(f"u{word}"), self.type).ravel().tolist())

    def _elements(self, at: int, size: int) -> SharedElements:
        """The contents of some bytes."""
        fields = ("kind", "array", "element")
        rows: list[tuple[int, int, int]] = [tuple(one) for one in self.origins[at : at + size][[*fields]].tolist()]
        kinds = {Kind(kind) for kind, _, _ in rows}
        arrays = {array for _, array, _ in rows}
        if len(kinds) > 1 or len(arrays) > 1:
            known = [row for row in rows if row[1] >= 0]
            return self._of_array(known, regular=False) if known else SharedElements("", max(kinds), regular=False)
        kind, array, _ = rows[0]
        return SharedElements("", Kind(kind)) if array < 0 else self._of_array(rows, regular=True)

    def _of_array(self, rows: Sequence[tuple[int, int, int]], *, regular: bool) -> SharedElements:
        kind, number, _ = rows[0]
        array = self.arrays[number]
        order = [element for element, _ in groupby(element for _, _, element in rows)]
        first, last = (array.index(element) for element in (order[0], order[-1]))
        steps = {
            tuple(b - a for a, b in zip(array.index(one), array.index(other), strict=True))
            for one, other in pairwise(order)
        }
        in_row = len(steps) <= 1 and all(sorted(step) == [*[0] * (len(step) - 1), 1] for step in steps)
        size = array.dtype.itemsize
        columns = array.shape[-1] if len(first) > 1 else max(_FLAT_BYTES // size, 1)
        row, column = first[-2] if len(first) > 1 else order[0] // columns, order[0] % columns
        name = self.names.get(number, array.name)
        return SharedElements(name, Kind(kind), first, last, regular and in_row, row, column * size // CHUNK_BYTES)


def shared_map(
    record: ProvenanceRecord,
    *,
    shared_bytes: int = 0,
    names: Mapping[int, str] | None = None,
    array: str | None = None,
    offset: int | None = None,
    type: str | None = None,  # noqa: A002 - what arguments of options are called
) -> SharedMap | None:
    """The shared memory of the first CTA of which a launch has kept it: at the first moment kept, or at its end.

    Args:
        record: Of a launch; its `Provenance` says of which CTAs shared memory is kept, and when.
        shared_bytes: Dynamic shared memory of the launch, in bytes.
        names: What arrays are called, by their numbers; by default as in the record.
        array: A variable or an array by its name: only its bytes are of interest. By default all that hold something.
        offset: The first byte that is of interest.
        type: What bytes are read as, such as "f16"; by default the type of the array that most of them come from.

    Returns:
        The map; without contents if the kernel has no shared memory, and None if the CTA came to none of the moments.

    Raises:
        UsageError: An argument is wrong.
    """
    must_be(ProvenanceRecord, "record", record, "the provenance of a launch")
    number, (x, y, _) = record.raw.kept[0], record.raw.grid
    cta = (number % x, number // x % y, number // (x * y))
    for site in record.raw.moments or (None,):
        origins, contents = record.shared(cta, site), record.shared_bytes(cta, site)
        if origins is not None and contents is not None:
            break
    else:
        return None
    called = {one.number: one.name for one in record.arrays} if names is None else names
    variables = [(piece.name, piece.start, piece.size) for piece in shared_arrays(record.program, shared_bytes)]
    what = interesting(origins, variables, called, array) if len(contents) else Interest(0, 0)
    if offset is not None and len(contents):
        if not 0 <= offset < len(contents):
            raise UsageError("offset", offset, f"an address from 0 to {len(contents) - 1}")
        what = replace(what, start=offset, end=max(what.end, offset + 1))
    op = None if site is None else record.program.ops[site]
    return SharedMap(
        record.program.entry.name, "" if op is None else f"line {op.line}: {op.text}", cta, contents, origins,
        record.arrays, called, _read_as(type, record, origins), what.start, min(what.end, len(contents)), what.of,
        what.only,
    )  # fmt: skip


def _read_as(asked: str | None, record: ProvenanceRecord, origins: NDArray[Any]) -> str:
    """The type to read bytes as.

    Raises:
        UsageError: There is no such type.
    """
    if asked is not None:
        known = element_type(asked)
        if known.count > 1 or known.container_bits not in {8, 16, 32, 64}:
            raise UsageError("type", asked, "a type of one number of 8 to 64 bits, such as f16")
        return asked
    numbers: list[int] = origins["array"][origins["kind"] == Kind.EXACT].tolist()
    if not numbers:
        return "b32"
    return ptx_name(record.arrays[Counter(numbers).most_common(1)[0][0]].dtype) or "b32"


@dataclass(frozen=True, slots=True)
class Interest:
    """Which bytes are of interest: as in `SharedMap`."""

    start: int
    end: int
    of: str = ""
    only: int = -1


def interesting(
    origins: NDArray[Any], variables: Sequence[tuple[str, int, int]], arrays: Mapping[int, str], asked: str | None
) -> Interest:
    """The bytes of a variable, those that come from an array, or all that hold something.

    Args:
        origins: (bytes,) of `ORIGIN`.
        variables: Name, address and size of each variable in shared memory.
        arrays: The names of arrays, by number.
        asked: A variable or an array by its name; None for all.

    Raises:
        UsageError: No variable or array has that name.
    """
    if asked is not None:
        return _named(origins, variables, arrays, asked)
    found = np.flatnonzero(origins["kind"] != Kind.NONE)
    if len(found):
        return Interest(int(found[0]), int(found[-1]) + 1)
    known = [(start, start + size) for _, start, size in variables]
    return Interest(min(known)[0], max(end for _, end in known)) if known else Interest(0, len(origins))


def _named(
    origins: NDArray[Any], variables: Sequence[tuple[str, int, int]], arrays: Mapping[int, str], asked: str
) -> Interest:
    for name, start, size in variables:
        if name == asked:
            return Interest(start, start + size, name)
    for number, name in arrays.items():
        found = np.flatnonzero(origins["array"] == number)
        if name == asked and len(found):
            return Interest(int(found[0]), int(found[-1]) + 1, name, number)
    there = [name for number, name in arrays.items() if (origins["array"] == number).any()]
    legal = ", ".join([*(name for name, _, _ in variables), *there])
    raise UsageError("array", asked, legal or "left out: nothing in shared memory has a name then")
