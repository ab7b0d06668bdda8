"""Memory that was allocated as bytes, as arrays of the elements that a kernel moves in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.isa.types import element_type
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_WHOLE: Final = (1, 2, 4, 8)  # bytes of an element


def typed(record: ProvenanceRecord) -> ProvenanceRecord:
    """The record, with typed elements for device memory that was allocated as bytes."""
    if not any(_is_bytes(array) for array in record.arrays):
        return record
    sizes = _read_sizes(record)
    arrays = [
        _of(array, _stored_bytes(record, array) or sizes.get(array.number, 0)) if _is_bytes(array) else array
        for array in record.arrays
    ]
    return replace(record, arrays=tuple(arrays))


def _is_bytes(array: TracedArray) -> bool:
    return array.dtype == np.uint8 and len(array.shape) == 1 and array.parameter is None


def _of(array: TracedArray, size: int) -> TracedArray:
    if size not in _WHOLE or size < 2 or array.nbytes % size:
        return array
    return replace(array, dtype=np.dtype(f"u{size}"), shape=(array.nbytes // size,), strides=(size,))


def _stored_bytes(record: ProvenanceRecord, array: TracedArray) -> int:
    """The size in bytes of the elements stored there, from the stored values; 0 if nothing is stored."""
    contents = record.contents(array.number)
    origins = contents.origins
    value = np.isin(origins["kind"], (Kind.PRODUCT, Kind.COMPUTED, Kind.CONVERTED)) & (contents.stored_at >= 0)
    if not value.any():
        return 0
    places = np.flatnonzero(value)
    keys = np.stack([origins[name][places].astype(np.int64) for name in ("kind", "node", "item", "element")], axis=1)
    new = np.r_[True, (keys[1:] != keys[:-1]).any(axis=1) | (np.diff(places) != 1)]
    starts = places[new]
    lengths = np.diff(np.r_[np.flatnonzero(new), len(places)])
    usual = int(np.bincount(lengths).argmax())
    stores: list[int] = np.unique(contents.stored_at[places[new]]).tolist()
    usual = min((usual, *filter(None, (width(record.program.ops[site]) for site in stores))))  # equal ones are one run
    while usual > 1 and (usual not in _WHOLE or (starts % usual).any()):
        usual -= 1
    return usual


def width(op: Op) -> int:
    """The bytes of the elements that an instruction moves; 0 for instructions without a type, such as bulk copies."""
    return op.types[-1].bits // 8 if op.types else 0


def _read_sizes(record: ProvenanceRecord) -> dict[int, int]:
    """The size in bytes of the elements of loaded arrays: as products use them, or as they were loaded."""
    found: dict[int, int] = {}
    nodes = record.nodes["sources"].ravel()
    loaded = nodes[np.isin(nodes["kind"], (Kind.EXACT, Kind.CONVERTED))]
    for number in np.unique(loaded["array"]).tolist():
        paths = np.unique(loaded["path"][loaded["array"] == number])
        ways = [[width(record.program.ops[site]) for site in record.path(one)] for one in paths.tolist()]
        widths = [next(filter(None, way)) for way in ways if any(way)]
        if widths:
            found[number] = min(widths)
    for event in {int(site): n for n, site in enumerate(record.raw.events["site"])}.values():
        product = record.products[event]
        for name in "ab":
            origins = product.operand(name).origins
            exact = origins["kind"] == Kind.EXACT
            for number in np.unique(origins["array"][exact]).tolist():
                bits = element_type(product.form.type_of(name)).packed_bits
                found[number] = max(bits // 8, 1)
    return found
