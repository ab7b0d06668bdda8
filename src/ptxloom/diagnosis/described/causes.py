"""Whether a descriptor explains a wrong factor: tried on the contents of shared memory at the product."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ptxloom.descriptors.matrix import MatrixDescriptor
from ptxloom.diagnosis.culprits import Culprit, copies_of
from ptxloom.diagnosis.described.held import addresses, held_at, read
from ptxloom.diagnosis.described.lines import Used, described_fields, found_for
from ptxloom.diagnosis.described.solving import Question, solved, swizzled_by_writer
from ptxloom.diagnosis.explanations import Explanation, restored, should_be
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.described.held import Held
    from ptxloom.diagnosis.described.solving import Solved
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import ProvenanceRecord


class Answer(NamedTuple):
    """What explains one operand.

    Attributes:
        solved: The descriptors that would read what should be read.
        writers: The swizzles of the writer with which the descriptor would.
    """

    solved: tuple[Solved, ...]
    writers: tuple[str, ...]


def described(broken: Sequence[Suspect], record: ProvenanceRecord) -> list[Suspect]:
    """The operands that break a law; those read through descriptors, with the changes of these that explain them.

    If descriptors explain all factors that do not fit the place of the result, the result is no longer suspected,
    unless an equally simple change explains it too.
    """
    found: list[Suspect] = []
    for role in dict.fromkeys(one.tile.role for one in broken):
        own = [one for one in broken if one.tile.role == role]
        known = [(one, answer) for one in own if role in "ab" and (answer := _answer(one, record)) is not None]
        found += _explained(own, known, record) if known else own
    by_site: defaultdict[int, list[Suspect]] = defaultdict(list)
    for one in found:
        by_site[one.evidence.site].append(one)
    return [one for several in by_site.values() for one in _settled(several)]


def _settled(several: Sequence[Suspect]) -> Sequence[Suspect]:
    """The suspects of one instruction, without those that others make redundant."""
    told = [one for one in several if _is_told(one)]
    rest = [one for one in several if not _is_told(one)]
    if not told or any(one.tile.role != "d" for one in rest):
        return [*told, *(one for one in rest if not one.alternative)]
    steps = sum(one.explained[0].named.steps for one in told)
    if any(one.explained and one.explained[0].named.steps <= steps for one in rest):
        return [replace(one, sure=False) for one in several]
    return [replace(one, sure=one.sure or one.alternative) for one in told]


def _is_told(suspect: Suspect) -> bool:
    """Whether the explanation includes the line to change."""
    return bool(suspect.explained) and suspect.explained[0].culprit is not None


def _answer(suspect: Suspect, record: ProvenanceRecord) -> Answer | None:
    """The explanation of an operand for every moment at which shared memory was kept; None if it never was."""
    stack = next(one for one in suspect.evidence.stacks if one.role == suspect.tile.role)
    if suspect.tile.plane.stacked or suspect.evidence.form.sparse or suspect.tile.plane.array >= len(record.arrays):
        return None
    answers = [_at(asked) for held in held_at(suspect.evidence, stack, record) for asked in _question(suspect, held)]
    if not answers:
        return None
    first = answers[0]
    fields = [{one.wrong for one in answer.solved} for answer in answers]
    same = tuple(one for one in first.solved if all(one.wrong in others for others in fields))
    writers = tuple(name for name in first.writers if all(name in answer.writers for answer in answers))
    return Answer(same, writers)


def _at(asked: Question) -> Answer:
    return Answer(solved(asked), swizzled_by_writer(asked))


def _question(suspect: Suspect, held: Held) -> Iterator[Question]:
    """The data of a moment; empty, if memory had changed before the products read it."""
    role, plane = suspect.tile.role, suspect.tile.plane
    stack = next(one for one in suspect.evidence.stacks if one.role == role)
    place = {int(event): number for number, event in enumerate(suspect.events.tolist())}
    events = [event for event in held.events.tolist() if event in place]
    if not events:
        return
    if role == "b":
        events = events[:1]
    numbers = [place[event] for event in events]
    used = MatrixDescriptor.from_bits(held.bits, suspect.evidence.form.opcode)
    own = np.concatenate([_turned(stack.offset[event], role) for event in events])
    known = np.concatenate([_turned(stack.known[event].astype(np.int64), role) for event in events])
    count = held.lines if role == "b" else len(own)
    rows = held.first_row * (role == "a") + np.arange(count)
    found = read(held.offset, addresses(used, held.major, plane.unit_bits, rows, own.shape[1]))
    for first in range(0, len(own), count):
        share = slice(first, first + count)
        if ((found == own[share]) | (known[share] == 0)).all():

            def wanted(at_start: int, share: slice = share) -> Integers | None:
                return _wanted(suspect, numbers, rows, at_start, share)

            yield Question(held.offset, rows, plane.unit_bits, used, held.major, wanted)
            return


def _turned(values: Integers, role: str) -> Integers:
    return values if role == "a" else values.T


def _wanted(suspect: Suspect, numbers: Sequence[int], rows: Integers, at_start: int, share: slice) -> Integers | None:
    """(M or N, K) the offsets that should be read, by the other operands; else consecutive from the start's element."""
    plane, role = suspect.tile.plane, suspect.tile.role
    start = None
    if at_start >= 0:
        row, column = plane.split(np.array(at_start))
        start = (int(row), int(column)) if role == "a" else (int(column), int(row))
    said = suspect.wanted
    lines, depth = (said.rows, said.columns) if role == "a" else (said.columns, said.rows)
    across = np.concatenate([lines[n] for n in numbers])[share] if lines is not None else None
    along = depth[numbers[0]] if depth is not None else None
    if across is None or (across < 0).any():
        across = None if start is None else start[0] + rows
    if along is None or (along < 0).any():
        count = suspect.tile.shape[1 if role == "a" else 0]
        along = None if start is None else start[1] + np.arange(count)
    if across is None or along is None:
        return None
    slow_rows = plane.slow_rows == (role == "a")
    slow, fast = (across[:, None], along[None, :]) if slow_rows else (along[None, :], across[:, None])
    return slow * plane.pitch + fast


def _explained(
    own: Sequence[Suspect], known: Sequence[tuple[Suspect, Answer]], record: ProvenanceRecord
) -> Iterator[Suspect]:
    """The suspects of an operand, with the explanation found for those whose memory was kept."""
    explained = list(_explanations(known, record))
    if not explained:
        yield from own
        return
    fewest = min(one.named.steps for one in explained)
    best = tuple(one for one in explained if one.named.steps == fewest)
    asked = {id(one) for one, _ in known}
    for one in own:
        mended = restored(one.tile, Target(*should_be(one.tile, one.wanted)))
        repaired = tuple(replace(each, repaired=mended, proved=each.proved and id(one) in asked) for each in best)
        yield replace(one, explained=repaired)


def _explanations(known: Sequence[tuple[Suspect, Answer]], record: ProvenanceRecord) -> Iterator[Explanation]:
    first = known[0][0]
    if all(answer.solved for _, answer in known) and any(answer.solved[0].wrong for _, answer in known):
        ops = record.program.ops
        uses = [Used(ops[one.evidence.site], one.tile.role, answer.solved[0]) for one, answer in known]
        found = found_for(uses, record.program)
        repair = Repair(record.program.module, found.edits) if found.whole else None
        products = tuple(use.op for use in uses)
        culprit = Culprit("descriptor", found.op, repair, (found.op, *found.makers, *products))
        detail = "; or ".join(dict.fromkeys(described_fields(use.solved.wrong) for use in uses))
        steps = max(len(use.solved.wrong) for use in uses)
        yield Explanation(Named("descriptor", detail, steps), first.tile, culprit=culprit)
    if all(answer.writers for _, answer in known):
        yield _by_writer(known, record)


def _by_writer(known: Sequence[tuple[Suspect, Answer]], record: ProvenanceRecord) -> Explanation:
    """The writer's swizzle differs from the descriptor's."""
    first, answer = known[0]
    stack = next(one for one in first.evidence.stacks if one.role == first.tile.role)
    (held, *_) = held_at(first.evidence, stack, record)
    reader = MatrixDescriptor.from_bits(held.bits, first.evidence.form.opcode).swizzle
    copies = copies_of(stack.path[first.events].ravel(), record)
    product = record.program.ops[first.evidence.site]
    op = copies[0] if copies else product
    detail = f"what writes the tile swizzles by {answer.writers[0]}, and the descriptor by {reader}"
    culprit = Culprit("swizzle-mismatch", op, None, (*copies, product))
    return Explanation(Named("swizzle-mismatch", detail), first.tile, culprit=culprit)
