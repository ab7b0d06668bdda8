"""Laws of a whole run: every k once, every place of the result once, the intended arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ptxloom.binding.touches import touches
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.arrays.left_open import has_computed_factor
from ptxloom.diagnosis.kept import was_copied
from ptxloom.diagnosis.lines.ctas import ctas_of, deciding
from ptxloom.diagnosis.origins.bases import way
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows
from ptxloom.diagnosis.staged import through_shared
from ptxloom.diagnosis.tallies import arrays_of_operands, bits_of_nibbles, k_of_a_sum, lines_beyond, stores_of
from ptxloom.readings.computed import source
from ptxloom.readings.terms import words
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.arrays.coverage import Coverage
    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.pictures import Picture
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


class Total(NamedTuple):
    """A broken law that no single operand shows.

    Attributes:
        law: Which one.
        named: The cause.
        role: The operand that shows it; empty: the product itself.
        array: The array's number; -1: none.
        paths: The paths of the elements concerned.
        sites: The instructions concerned.
        wrong: The number of wrong elements.
        total: The number of elements that were judged.
        certain: Whether nothing else explains it.
        ways: The paths of the factors whose k it is, from which their loads are found.
        field: The part of the CTA's index by which the products of one sum differ; empty if they are of one CTA. For
            places that are stored twice, the part by which some CTAs lose results.
        read_wrong: Whether the missing elements were there, so that their reader is wrong.
        alone: Whether all lines of the factors occur, so that only the place is wrong.
        again: How k occur twice: "step", if k advances by less than products take; "copy", if it does not advance, or
            one product has a k twice; empty if unknown.
        picture: The wrong elements as they are, and as they should be.
        lines: The instructions to change, if they are known with the cause.
        by: The instruction that takes the wrong elements, if its load also brings right ones; -1: none.
    """

    law: str
    named: Named
    role: str
    array: int
    paths: Integers
    sites: tuple[int, ...]
    wrong: int
    total: int
    certain: bool
    ways: Integers = np.zeros(0, np.int64)
    field: str = ""
    read_wrong: bool = False
    again: str = ""
    alone: bool = False
    picture: Picture | None = None
    lines: tuple[int, ...] = ()
    by: int = -1


STEP, COPY = "step", "copy"


_BYTE_BITS = 8
_NO_PATHS = np.zeros(0, np.int64)


def every_k_once(
    sites: Sequence[SiteEvidence], reading: Reading, coverage: Coverage, record: ProvenanceRecord, *, whole_chains: bool
) -> Iterator[Total]:
    """Check that each k is multiplied into each element of the result exactly once.

    Args:
        sites: Instructions that multiply the same arrays.
        reading: Of these.
        coverage: Likewise.
        record: Knows the arrays, and the CTAs of products.
        whole_chains: Nothing else adds to the results.
    """
    role = "b" if reading.image else next(role for role in "ab" if role in reading.planes)
    if reading.planes[role].unit_bits < _BYTE_BITS:
        return  # two elements in one byte cannot be distinguished
    axis = 1 if role == "a" else 0
    extent = reading.planes[role].extents[axis]
    array = reading.planes[role].array
    chains = len(np.unique(np.concatenate([site.chain for site in sites])))
    own = tuple(site.site for site in sites)
    ways, field = _paths(sites, role), _field(sites, record)
    if coverage.repeated.get(role):
        twice = coverage.repeated[role]
        named = Named("k-twice", f"{twice // chains} of {extent} k are multiplied twice into each element")
        seen, paths = ("", _NO_PATHS) if "a" in reading.planes else (role, _paths(sites, role))
        certain = not has_computed_factor(reading, len(record.arrays))
        plane = reading.planes[role]
        read_wrong = was_copied(plane, coverage.absent.get(role), record, slow=plane.slow_rows == (role == "b"))
        facts = ("once", named, seen, array, paths, own, twice, chains * extent, certain, ways, field)
        again = _how_again(sites, reading, role)
        again = "" if again == COPY and coverage.missing[role, axis] else again
        picture = k_of_a_sum(sites, reading, role)
        yield Total(*facts, read_wrong=read_wrong, again=again, picture=picture)
    elif whole_chains and coverage.missing[role, axis] and _is_whole(reading, coverage):
        missing = coverage.missing[role, axis]
        named = Named("k-missing", f"{missing // chains} of {extent} k are never multiplied")
        certain = not coverage.in_one_piece  # else rows may be padded, or another launch adds the rest
        picture = k_of_a_sum(sites, reading, role)
        facts = ("once", named, "", array, _NO_PATHS, own, missing, chains * extent, certain, ways, field)
        yield Total(*facts, picture=picture)


def _how_again(sites: Sequence[SiteEvidence], reading: Reading, role: str) -> str:
    """How k are multiplied twice, as in `Total.again`."""
    axis = 1 if role == "a" else 0
    lines = [(common_columns if axis else common_rows)(tiles_of(site, reading)[role]) for site in sites]
    if len({one.shape[1] for one in lines}) > 1:
        return ""
    held = np.concatenate(lines)
    size = held.shape[1]
    ordered = np.sort(held, axis=1)
    if ((np.diff(ordered, axis=1) == 0) & (ordered[:, 1:] >= 0)).any():
        return COPY
    numbers, chains = (np.concatenate([getattr(site, name) for site in sites]) for name in ("numbers", "chain"))
    order = np.lexsort((numbers, chains))
    steps = np.diff(held[order, 0])[chains[order][1:] == chains[order][:-1]]
    if not len(steps) or (steps < 0).any():
        return ""
    if (steps == 0).any():
        return COPY
    return STEP if (steps < size).all() else ""


def _field(sites: Sequence[SiteEvidence], record: ProvenanceRecord) -> str:
    """The part of the CTA's index by which the products of one chain differ."""
    numbers, chains = (np.concatenate([getattr(site, name) for site in sites]) for name in ("numbers", "chain"))
    for field, values in reversed(ctas_of(numbers, record)):
        pairs = np.unique(np.stack((chains, values), axis=1), axis=0)
        if len(pairs) > len(np.unique(chains)):
            return field
    return ""


def _paths(sites: Sequence[SiteEvidence], role: str) -> Integers:
    """The ways of an operand's elements."""
    return np.concatenate([s.path[s.known] for site in sites for s in site.stacks if s.role == role])


def _is_whole(reading: Reading, coverage: Coverage) -> bool:
    """Whether the run computes all of the result from all of the factors, as far as the extents show."""
    planes = reading.planes
    if set(planes) != set("abd"):
        return False
    extents = planes["a"].extents, planes["b"].extents, planes["d"].extents
    fits = extents[0] == (extents[2][0], extents[1][0]) and extents[1][1] == extents[2][1]
    return fits and not coverage.missing["d", 0] and not coverage.missing["d", 1]


def stored_twice(
    sites: Sequence[SiteEvidence],
    reading: Reading,
    broken: Sequence[Suspect],
    coverage: Coverage,
    record: ProvenanceRecord,
    *,
    incomplete: bool = False,
) -> Iterator[Total]:
    """Check that no place of the result receives two products, or slices that incomplete sums lack."""
    stacks = [(site, site.d) for site in sites if site.d is not None]
    misplaced = any(s.tile.role == "d" for s in broken)
    if not stacks:
        return
    contents = record.contents(stacks[0][1].array)
    if not (
        incomplete
        or misplaced
        or coverage.missing["d", 0]
        or coverage.missing["d", 1]
        or (contents.stored_at < 0).any()
    ):
        return
    lost = sum(int(np.count_nonzero(stack.missing[site.chain == site.numbers])) for site, stack in stacks)
    twice = contents.stored_twice & (contents.stored_at >= 0)
    if not lost:
        return
    array, total = contents.array.number, contents.stored_at.size
    if twice.any():
        by = tuple(np.unique(contents.stored_at[twice]).tolist())
        named = Named("stored-twice", f"{int(np.count_nonzero(twice)):,} places take more than one product")
        field = _multiplied_again(sites, reading, record)
        alone = not field
        field = "" if incomplete else field or _lost_by(stacks, record)
        facts = ("place", named, "d", array, _NO_PATHS, by, lost, total)
        yield Total(*facts, certain=True, field=field, alone=alone, picture=stores_of(contents))
        return
    paths = np.concatenate([stack.path[stack.known] for _, stack in stacks])
    if misplaced and through_shared(paths, record):
        named = Named("stored-twice", f"{lost:,} elements are lost in shared memory: others are stored over them")
        yield Total("place", named, "d", array, paths, tuple(s.site for s, _ in stacks), lost, total, certain=False)


def _multiplied_again(sites: Sequence[SiteEvidence], reading: Reading, record: ProvenanceRecord) -> str:
    """The component of the CTA's index on which the multiplied rows and columns do not depend."""
    if not {"a", "b"} <= set(reading.planes):
        return ""
    rows: list[Integers] = []
    for site in sites:
        tiles = tiles_of(site, reading)
        parts = [np.full(len(site.numbers), site.site), common_rows(tiles["a"])[:, 0], common_columns(tiles["b"])[:, 0]]
        rows.append(np.stack(parts, axis=1))
    numbers = np.concatenate([site.numbers for site in sites])
    _, tile = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    tile = tile.ravel()
    for field, values in reversed(ctas_of(numbers, record)):
        if len(np.unique(values)) > 1 and _repeats(tile, values):
            return field
    return ""


def _repeats(tile: Integers, values: Integers) -> bool:
    """Whether each tile is multiplied for every value of the component."""
    pairs = np.unique(np.stack((tile, values), axis=1), axis=0)
    return len(pairs) == len(np.unique(tile)) * len(np.unique(values))


def _lost_by(stacks: Sequence[tuple[SiteEvidence, Stack]], record: ProvenanceRecord) -> str:
    """The component of the CTA's index that decides which CTAs lose results; empty if all or none do."""
    numbers = np.concatenate([site.numbers[site.chain == site.numbers] for site, _ in stacks])
    lost = np.concatenate([stack.missing[site.chain == site.numbers].any(axis=(1, 2)) for site, stack in stacks])
    ctas = record.raw.events["cta"][numbers]
    return deciding(numbers, np.isin(ctas, ctas[lost]), record)


def stored_over(sites: Sequence[SiteEvidence], used: Integers, record: ProvenanceRecord) -> Total | None:
    """Whole products whose results are lost, while places of the result are never stored: others overwrite them.

    Args:
        sites: All instructions that multiply.
        used: The products of whose results factors are made.
        record: Knows what is stored.
    """
    lost = [site for site in sites if site.d is None and not np.isin(site.chain, used).any()]
    arrays = {site.d.array for site in sites if site.d is not None}
    if not lost or len(arrays) != 1:
        return None
    contents = record.contents(arrays.pop())
    twice = contents.stored_twice & (contents.stored_at >= 0)
    if (contents.stored_at >= 0).all():
        return None  # what is stored over, step by step, may be what is meant
    if not twice.any():  # a compiler leaves out what is stored over at once
        twice = contents.stored_at >= 0
    by: tuple[int, ...] = tuple(np.unique(contents.stored_at[twice]).tolist())
    count = sum(len(site.numbers) for site in lost)
    places = int(np.count_nonzero(contents.stored_at < 0))
    named = Named("stored-twice", f"{count:,} products end nowhere, and {places:,} places of the result hold nothing")
    paths = contents.origins["path"][twice].astype(np.int64)
    facts = ("place", named, "d", contents.array.number, paths, by, places, contents.stored_at.size)
    return Total(*facts, certain=False, picture=stores_of(contents))


def tail_not_masked(
    sites: Sequence[SiteEvidence], reading: Reading, coverage: Coverage, record: ProvenanceRecord
) -> Iterator[Total]:
    """Check that elements beyond the end of a row are not multiplied as part of the next one."""
    for role, axis in (("a", 1), ("b", 0)):
        plane = reading.planes.get(role)
        if plane is None or "d" not in reading.planes or not coverage.repeated.get(role):
            continue
        if plane.slow_rows != (role == "a"):
            continue
        over = total = 0
        paths: list[Integers] = []
        pictures: list[Picture] = []
        for site in sites:
            tiles = tiles_of(site, reading)
            lines, own = (
                (tiles[role].rows, common_rows(tiles["d"])[:, :, None])
                if axis
                else (tiles[role].columns, common_columns(tiles["d"])[:, None, :])
            )
            apart = np.where(tiles[role].known & (own >= 0), lines - own, 0)
            if not np.isin(apart, (0, 1)).all():
                return
            stack = next(s for s in site.stacks if s.role == role)
            paths.append(stack.path[apart == 1])
            if apart.any():
                pictures.append(lines_beyond(tiles[role], apart == 1, site.numbers, record))
            over += int(np.count_nonzero(apart))
            total += apart.size
        if 0 < over < total:
            named = Named("tail-not-masked", f"{over:,} elements are of the next row")
            facts = ("rows", named, role, plane.array, np.concatenate(paths), tuple(site.site for site in sites), over)
            yield Total(*facts, total, certain=True, picture=pictures[0])


def nibbles_unshifted(sites: Sequence[SiteEvidence], record: ProvenanceRecord) -> Iterator[Total]:
    """Check that 4-bit elements unpacked by `ldmatrix` are where in their bytes the product reads them."""
    shift = sites[0].form.payload_shift("a")
    for role in "ab":
        stacks = [stack for site in sites for stack in site.stacks if stack.role == role]
        if not shift or not stacks or sites[0].form.payload_shift(role) != shift:
            continue
        paths = np.concatenate([stack.path[stack.known] for stack in stacks])
        ways = [[record.program.ops[n] for n in way(record, int(path))] for path in np.unique(paths)]
        unpacked = [ops for ops in ways if any(op.has("b4x16_p64") for op in ops)]
        if unpacked and not any(_shifts(op, shift) for ops in unpacked for op in ops):
            named = Named("nibbles-unshifted", f"no instruction shifts the unpacked bytes left by {shift}")
            own, count = tuple(site.site for site in sites), sum(stack.known.size for stack in stacks)
            facts = ("rows", named, role, stacks[0].array, paths, own, count, count)
            yield Total(*facts, certain=True, picture=bits_of_nibbles(stacks[0].unit_bits, shift))


def _shifts(op: Op, by: int) -> bool:
    """Whether an instruction shifts bits, by `by` or by an unknown distance."""
    if touches(op.node) or source(op.node) is not None:
        return False
    last = op.operands[-1]
    return "shl" not in words(op.node) or not isinstance(last, tree.Integer) or last.value == by


def other_arrays(
    sites: Sequence[SiteEvidence], record: ProvenanceRecord, used: frozenset[int], expected: Expectation | None
) -> Iterator[Total]:
    """Check that the multiplied arrays are the intended ones: the declared ones, or all that were given."""
    first = sites[0]
    if first.a is None or first.b is None or first.a.array != first.b.array:
        return
    name = record.arrays[first.a.array].name
    stored = first.d.array if first.d is not None else -1
    unused = [a for a in record.arrays if a.number not in used and a.number != stored and a.nbytes]
    meant = expected is not None and expected.is_product and name in expected.axes
    if not unused and not meant:
        return
    left = unused[0].name if unused else "the other array"
    named = Named("operands-exchanged", f"both operands come from {name}, and {left} is not multiplied")
    for role, stack in (("b", first.b), ("a", first.a)):
        if not meant or role == "b":
            facts = ("k", named, role, stack.array, np.unique(stack.path), tuple(s.site for s in sites), 1, 1)
            yield Total(*facts, certain=False, picture=arrays_of_operands(role, (name, left)))
            return
