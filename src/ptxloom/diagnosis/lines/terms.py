"""Which instruction on the elements' paths to report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.binding.touches import touches
from ptxloom.diagnosis.lines.addresses import made_for
from ptxloom.diagnosis.lines.indices import index_of
from ptxloom.diagnosis.origins.bases import way
from ptxloom.readings.effects import copies, exchanges, loads

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


_ITS_OWN: Final = (
    0.75  # the share of an instruction's elements that must be wrong, relative to the instruction with the most
)


class Line(NamedTuple):
    """The instruction to report, and all that are concerned."""

    op: Op
    concerned: tuple[Op, ...]


def line_of(
    paths: Integers, wrong: Truth, record: ProvenanceRecord, *, leaves_tile: bool, within: bool = False
) -> Line:
    """The instruction that moved the wrong elements but not right ones, if there is one.

    Args:
        paths: (terms,) the paths of all elements.
        wrong: (terms,) bool: which are wrong.
        leaves_tile: Whether only a load from global memory can have reached the wrong elements.
        record: Knows the paths.
        within: Whether places of a tile are exchanged, so that only its reader or writer can be wrong.
    """
    ops = record.program.ops
    bad, good = Counter[int](), Counter[int]()
    ways: dict[int, tuple[int, ...]] = {}
    for counter, which in ((bad, wrong), (good, ~wrong)):
        numbers, counts = np.unique(paths[which], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            ways[number] = way(record, int(number))
            for site in ways[number]:
                counter[site] += count
    numbers, counts = np.unique(paths[wrong], return_counts=True)
    shares = counts / np.array([np.count_nonzero(paths == number) for number in numbers])
    own = ways[int(numbers[np.argmax(counts * shares**2)])]
    share = {site: bad[site] / (bad[site] + good[site]) for site in own}
    moves = [site for site in own if touches(ops[site].node) or exchanges(ops[site].node)] or list(own)
    best = max(share[site] for site in moves)
    likeliest = [site for site in moves if share[site] > best - 0.01]
    reading = [site for site in likeliest if _reads(ops[site])] or likeliest
    from_array = [site for site in moves if ops[site].has("global") and _reads(ops[site])]
    if leaves_tile and from_array and share[from_array[0]] < _ITS_OWN * best:
        from_array = (
            likeliest  # it also loads right elements: the instruction that puts them in the wrong place is wrong
        )
    chosen = (from_array or reading)[0] if leaves_tile else reading[-1]
    if within:
        chosen = next((site for site in reversed(moves) if loads(ops[site].node)), chosen)
    concerned = (ops[site] for number in numbers[:64].tolist() for site in ways[number])
    return Line(ops[chosen], tuple(dict.fromkeys(concerned)))


def at_index(line: Line, record: ProvenanceRecord, array: int = -1) -> Line:
    """The line where the index of a wrong global address is computed.

    Args:
        line: The instruction that uses the address.
        record: Of the run.
        array: The number of the accessed array, if it is known: compilers merge loads of several.
    """
    if not line.op.has("global"):
        return line
    place = record.arrays[array].parameter if 0 <= array < len(record.arrays) else None
    own = None if place is None else made_for(line.op, record.program.parameters[place].name, record.program)
    index = own or index_of(line.op, record.program)
    return line if index is line.op else Line(index, (line.op, *line.concerned))


def _reads(op: Op) -> bool:
    """Whether an instruction reads memory."""
    return loads(op.node) or copies(op.node)
