"""Which instruction makes a product use the scales of other blocks: the one that copies, places or selects them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.culprits import copies_of
from ptxloom.diagnosis.described.repeated import is_held
from ptxloom.diagnosis.slicing.makers import parts_of
from ptxloom.machine.results.provenance import Kind
from ptxloom.machine.results.provenance_operands import scale_columns
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_WORD: Final = 4  # scales of a row in one word
_QUARTER: Final = 32  # rows in one column
_TILE_ROWS: Final = 128
_MOST: Final = 0.5  # of the scales that are asked about
_TOLD: Final = 3  # the operand of a product that is its instruction descriptor
_PLACES: Final = {"a": 4, "b": 5}  # those that are addresses of scales


class Held(NamedTuple):
    """The scales of a factor, of all products of some instructions.

    Attributes:
        role: "a" or "b".
        array: The number of the array that most come from.
        number: (scales,) the product that takes each.
        rows: (scales,) the row of A, or column of B, that uses it.
        block: (scales,) the block along k.
        array_of: (scales,) the array that it comes from; -1: none.
        element: (scales,) its number there.
        path: (scales,) its way.
        size: Elements of a block.
        sites: The instructions.
    """

    role: str
    array: int
    number: Integers
    rows: Integers
    block: Integers
    array_of: Integers
    element: Integers
    path: Integers
    size: int
    sites: tuple[int, ...]

    def chosen(self, which: Truth) -> Held:
        """Some of them."""
        return self._replace(
            number=self.number[which],
            rows=self.rows[which],
            block=self.block[which],
            array_of=self.array_of[which],
            element=self.element[which],
            path=self.path[which],
        )


def product_of(held: Held, *, both: bool, record: ProvenanceRecord) -> tuple[int, ...]:
    """The sites of the products, if the right scales were available; else of the copies of the wrong ones.

    Args:
        held: The scales of a factor that are another's.
        both: Whether both factors take scales of one array.
        record: Knows shared memory.
    """
    used = {int(array) for array in np.unique(held.array_of)}
    others = [array.number for array in record.arrays if array.number not in used]
    copies = copies_of(held.path[held.array_of == held.array], record)
    if both and not any(is_held(number, held.sites[0], record) for number in _beside(others, held, record)) and copies:
        return (copies[0].site,)
    return held.sites


def _beside(others: Sequence[int], held: Held, record: ProvenanceRecord) -> list[int]:
    """Arrays of scales, by their elements: those that no product multiplies."""
    factors: set[int] = set()
    for site in held.sites:
        number = np.flatnonzero(record.raw.events["site"] == site)[:1]
        for name in "ab":
            factors |= set(np.unique(record.operands(number, name)["array"]).tolist())
    return [number for number in others if number not in factors]


class Taken(NamedTuple):
    """The scales in use, and the right ones.

    Attributes:
        rows: (scales,) the row of the scale in use.
        block: (scales,) its block.
        element: (scales,) the right scale's place in the array.
        wrong: (scales,) whether the two differ.
    """

    rows: Integers
    block: Integers
    element: Integers
    wrong: Truth


def reader_of(held: Held, named: Named, taken: Taken, record: ProvenanceRecord) -> tuple[int, ...]:
    """The site of the instruction to change.

    Args:
        held: The scales.
        named: What is wrong with them.
        taken: Which are used.
        record: Knows the ways.
    """
    wrong = taken.wrong
    copies = copies_of(held.path[wrong], record)
    copy = (copies[0].site,) if copies else held.sites
    if named.cause == "leading-dimension" or not _were_brought(held, taken, copies, record):
        return copy
    rows, words = held.rows - taken.rows, held.block // _WORD - taken.block // _WORD
    products = [record.program.ops[site] for site in _sites(held.number[wrong], record)]
    if not rows[wrong].any() and not words[wrong].any():
        return _maker(products, _TOLD, record)
    if _is_elsewhere(rows[wrong], (held.block - taken.block)[wrong]) or _stays(held, wrong, record):
        return _maker(products, _PLACES[held.role], record)
    placing = _placing(held.path[wrong], record)
    return (placing.site,) if placing is not None else copy


def _were_brought(held: Held, taken: Taken, copies: Sequence[Op], record: ProvenanceRecord) -> bool:
    """Whether most of the right scales reached the CTAs that use wrong ones.

    The shared memory of the first CTA decides, when it first reached the products with wrong ones, else at its end. If
    everything in it is right, and if threads load scales, a CTA must use any neighbour of the right ones: 128 rows by a
    word, or a word.
    """
    cta = record.raw.events["cta"][held.number].astype(np.int64)
    first = taken.wrong & (cta == 0)
    rows = 1
    if copies and copies[0].has("bulk"):
        if first.any() and 0 in record.raw.kept:
            return _are_in_shared(held, taken, first, record)
        rows = _TILE_ROWS

    def pieces(row: Integers, block: Integers) -> Integers:
        return (cta << 40) + (row // rows << 20) + block // _WORD

    brought = np.unique(pieces(taken.rows, taken.block))
    return bool(np.mean(np.isin(pieces(held.rows, held.block)[taken.wrong], brought)) > _MOST)


def _are_in_shared(held: Held, taken: Taken, here: Truth, record: ProvenanceRecord) -> bool:
    """Whether the first CTA had most of the scales that some of its products should take."""
    events = record.raw.events
    for site in _sites(held.number[here], record):
        number = np.flatnonzero((events["site"] == site) & (events["cta"] == 0))[0]
        own = here & (held.number == number)
        if own.any() and site in record.raw.moments:
            return _are_held(held.array, taken.element[own], record.shared(0, site))
    return _are_held(held.array, taken.element[here], record.shared(0))


def _are_held(array: int, elements: Integers, memory: NDArray[Any] | None) -> bool:
    """Whether most of some elements of an array are in memory."""
    if memory is None:
        return False
    found = memory["element"][(memory["array"] == array) & (memory["kind"] == Kind.EXACT)]
    return bool(np.mean(np.isin(elements, found)) > _MOST)


def _sites(numbers: Integers, record: ProvenanceRecord) -> list[int]:
    """The instructions of some products."""
    found: list[int] = np.unique(record.raw.events["site"][numbers]).tolist()
    return found


def _is_elsewhere(rows: Integers, blocks: Integers) -> bool:
    """Whether scales are always off by the same number of rows, in whole columns of tensor memory."""
    return not blocks.any() and len(np.unique(rows)) == 1 and not rows[0] % _QUARTER


def _stays(held: Held, wrong: Truth, record: ProvenanceRecord) -> bool:
    """Whether a product reads its scales from the same place as a product of the CTA with different k."""
    sites = _sites(held.number, record)
    bad = set(_sites(held.number[wrong], record))
    first: dict[int, int] = {}
    words: dict[int, int] = {}
    cta = int(record.raw.events["cta"][held.number[wrong][0]])
    for site in sites:
        numbers = np.flatnonzero((record.raw.events["site"] == site) & (record.raw.events["cta"] == cta))[:1]
        if len(numbers):
            first[site] = int(scale_columns(record.raw, numbers, held.role)[0])
            words[site] = int(held.block[held.number == numbers[0]].min()) // _WORD
    return any(
        first[one] == first[other] and words[one] != words[other]
        for one in first
        for other in first
        if one != other and one in bad
    )


def _maker(products: Sequence[Op], place: int, record: ProvenanceRecord) -> tuple[int, ...]:
    """The source of an operand of products: a constant that all share, or one of its own."""
    made = [_constants(op, place, record) for op in products]
    shared = [site for site in made[0] if all(site in others for others in made[1:])]
    own = [site for site in made[0] if site not in shared]
    chosen = (own or shared) if place == _TOLD or len(made) == 1 else (shared or own)
    return tuple(chosen[:1]) or tuple(op.site for op in products)


def _constants(op: Op, place: int, record: ProvenanceRecord) -> list[int]:
    """The instructions that put constants into an operand, the nearest first."""
    operand = op.operands[place]
    source = operand.base if isinstance(operand, tree.Address) else operand
    return [part.op.site for part in parts_of(op, source, record.program) if part.operand >= 0]


def _placing(paths: Integers, record: ProvenanceRecord) -> Op | None:
    """The last instruction on the path of most scales, which puts them where the product reads them."""
    numbers, counts = np.unique(paths[paths > 0], return_counts=True)
    sites = record.path(int(numbers[np.argmax(counts)])) if len(numbers) else ()
    return record.program.ops[sites[-1]] if sites else None
