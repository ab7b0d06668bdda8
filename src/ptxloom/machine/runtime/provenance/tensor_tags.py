"""Tags of tensor memory: four beside each of its words, moved as `ld`, `st`, `cp` and `shift` move the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, fill, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.provenance.memory_tags import read_tags
from ptxloom.machine.runtime.provenance.paths import element_tag, move_run
from ptxloom.machine.runtime.provenance.register_heads import tags_of
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, SHARED, Cta, Warp
from ptxloom.machine.runtime.structs.trail import MOST_WORDS, WORD_TAGS
from ptxloom.machine.runtime.tensor_cores.model import QUARTER_LANES, TENSOR_LANES

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

ROW_TAGS = 16  # of what `cp` takes at a time


def stage_words(w: Warp, number: u32, place: u32, room: u32) -> None:
    """Put aside the tags of a register, the `number`-th of those that go to tensor memory; of none, if `room` is 0."""
    words = part(w.cta.tensor_tags.staged, u64(number) * 32 * WORD_TAGS, 32 * WORD_TAGS)
    fill(words, 0)
    if room == 0:
        return
    out = tags_of(w, place, room)
    count = min(room, WORD_TAGS)
    for lane in range(32):
        copy(part(words, lane * WORD_TAGS, count), part(out, lane * room, count), 8 * u64(count))


def take_words(w: Warp, site: u32, lanes: u32, number: u32, place: u32, room: u32) -> None:
    """Move the staged tags to a register."""
    words = part(w.cta.tensor_tags.staged, u64(number) * 32 * WORD_TAGS, 32 * WORD_TAGS)
    into = tags_of(w, place, room)
    count = min(room, WORD_TAGS)
    trail = w.launch.trail
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(into, lane * room, room)
            fill(mine, 0)
            move_run(trail, site, mine, part(words, lane * WORD_TAGS, count), count)


@watching
def load_words_tags(w: Warp, first: u32, steps: Ptr[u32], starts: Slice[u32], count: u32, packed: u32) -> None:
    """Put aside the tags of the words that a warp loads; `packed`: the lower halves of two columns make a word."""
    if address(w.cta.tensor_tags) == 0:
        return
    assert count <= MOST_WORDS
    tags = w.cta.tensor_tags.tags
    staged = w.cta.tensor_tags.staged
    for register in range(count):
        for lane in range(32):
            at = u64(first + steps[lane] + starts[register]) * WORD_TAGS
            into = part(staged, u64(register * 32 + lane) * WORD_TAGS, WORD_TAGS)
            if packed == 0:
                copy(into, part(tags, at, WORD_TAGS), 8 * WORD_TAGS)
            else:
                copy(part(into, 0, 2), part(tags, at, 2), 16)
                copy(part(into, 2, 2), part(tags, at + TENSOR_LANES * WORD_TAGS, 2), 16)


@watching
def store_words_tags(
    w: Warp, site: u32, first: u32, steps: Ptr[u32], starts: Slice[u32], count: u32, packed: u32
) -> None:
    """Move the staged tags to the words that a warp stores."""
    if address(w.cta.tensor_tags) == 0:
        return
    assert count <= MOST_WORDS
    trail = w.launch.trail
    tags = w.cta.tensor_tags.tags
    staged = w.cta.tensor_tags.staged
    for register in range(count):
        for lane in range(32):
            at = u64(first + steps[lane] + starts[register]) * WORD_TAGS
            out = part(staged, u64(register * 32 + lane) * WORD_TAGS, WORD_TAGS)
            into = part(tags, at, WORD_TAGS)
            if packed == 0:
                move_run(trail, site, into, out, WORD_TAGS)
            else:
                high = part(tags, at + TENSOR_LANES * WORD_TAGS, WORD_TAGS)
                fill(into, 0)
                fill(high, 0)
                move_run(trail, site, into, part(out, 0, 2), 2)
                move_run(trail, site, high, part(out, 2, 2), 2)


@watching
def stage_piece(w: Warp, cta: Cta, at: u64, bits: u32, site: u32) -> None:
    """Put aside the tags of 16 bytes of a CTA's shared memory; of elements of `bits` that are unpacked to bytes."""
    if address(w.cta.tensor_tags) == 0:
        return
    piece_tags(w, cta, at, bits, site, part(w.cta.tensor_tags.staged, 0, ROW_TAGS))


def piece_tags(w: Warp, cta: Cta, at: u64, bits: u32, site: u32, out: Slice[u64]) -> None:
    """The tags of 16 bytes of a CTA's shared memory; where `bits` is not 0, of 16 elements of as many bits."""
    into = part(out, 0, ROW_TAGS)
    place = at | u64(cta.rank + 1) << CLUSTER_SHIFT
    if bits == 0:
        read_tags(w, site, 0, place, SHARED, ROW_TAGS, into)
        return
    packed = part(w.launch.trail.stage, 0, ROW_TAGS)
    read_tags(w, site, 0, place, SHARED, ROW_TAGS, packed)
    for index in range(16):
        first = index * bits
        into[index] = element_tag(packed[first // 8], first % 8)


@watching
def put_word(w: Warp, cta: Cta, index: u32, word: u32) -> None:
    """Move the staged tags of one of four words to a word of tensor memory."""
    if address(w.cta.tensor_tags) == 0:
        return
    staged = w.cta.tensor_tags.staged
    into = part(cta.tensor_tags.tags, u64(index) * WORD_TAGS, WORD_TAGS)
    copy(into, part(staged, u64(word) * WORD_TAGS, WORD_TAGS), 8 * WORD_TAGS)


@watching
def shift_row_tags(w: Warp, cta: Cta, start: u32, site: u32) -> None:
    """Words of a column of 32 lanes take the tags of the next one's, but the last."""
    if address(w.cta.tensor_tags) == 0:
        return
    trail = w.launch.trail
    tags = cta.tensor_tags.tags
    for row in range(QUARTER_LANES - 1):
        at = u64(start + row) * WORD_TAGS
        move_run(trail, site, part(tags, at, WORD_TAGS), part(tags, at + WORD_TAGS, WORD_TAGS), WORD_TAGS)
