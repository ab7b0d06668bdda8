"""Tags of shared memory: one for each word all of whose bytes follow from its first, else one for each byte.

A word has a head, from which the tags of its bytes follow as those of a value do; bytes of which nothing is known but
that they were written all have the same tag. The head `SPLIT` says that the bytes have tags of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, fill, length, part, u32, u64
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.provenance.paths import moved_tag, of_one_path, path_after, step_run
from ptxloom.machine.runtime.provenance.register_heads import FULL, step_alike
from ptxloom.machine.runtime.provenance.tag_words import (
    SPLIT,
    WORD,
    found_tag,
    given_tag,
    split_at,
    tag_of_byte,
    word_byte,
)
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, WINDOW_BYTES, Cta, Warp
from ptxloom.machine.runtime.structs.trail import KIND, PATH_FIELD, WRITTEN, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def start_words(cta: Cta) -> None:
    """Nothing is known of what a CTA finds in its shared memory."""
    fill(cta.word_tags, 0)
    whole = length(cta.word_tags) * WORD
    fill(part(cta.tags, whole, length(cta.tags) - whole), 0)


def shared_tag(cta: Cta, at: u64) -> u64:
    """The tag of a byte of a CTA's shared memory."""
    return tag_of_byte(cta.word_tags, cta.tags, at)


def copy_words(cta: Cta, out: Slice[u64]) -> None:
    """The tags of all bytes of a CTA's shared memory, from the first on."""
    at: u64 = 0
    while at < length(out):
        out[at] = shared_tag(cta, at)
        at = at + 1


def read_shared_tags(trail: Trail, site: u32, cta: Cta, at: u64, size: u32, out: Slice[u64]) -> None:
    """The tags of bytes of shared memory that are there, as an instruction that reads them finds them."""
    into = part(out, 0, size)
    if (at | u64(size)) % WORD != 0:
        for n in range(size):
            into[n] = found_tag(trail, site, shared_tag(cta, at + u64(n)))
        return
    heads = part(cta.word_tags, at // WORD, size // WORD)
    for word in range(size // WORD):
        four = part(into, word * WORD, WORD)
        head = heads[word]
        if head == SPLIT:
            for byte in range(WORD):
                four[byte] = found_tag(trail, site, cta.tags[at + u64(word * WORD + byte)])
        else:
            tag = found_tag(trail, site, head)
            for byte in range(WORD):
                four[byte] = word_byte(tag, byte)


def write_shared_tags(trail: Trail, site: u32, cta: Cta, at: u64, size: u32, given: Slice[u64]) -> None:
    """Bytes of shared memory that are there take tags."""
    new = part(given, 0, size)
    if (at | u64(size)) % WORD != 0:
        for n in range(size):
            split_at(cta.word_tags, cta.tags, at + u64(n))
            cta.tags[at + u64(n)] = given_tag(trail, site, new[n])
        return
    heads = part(cta.word_tags, at // WORD, size // WORD)
    for word in range(size // WORD):
        four = part(new, word * WORD, WORD)
        head = four[0]
        apart = word_byte(head, 1) ^ four[1] | word_byte(head, 2) ^ four[2] | word_byte(head, 3) ^ four[3]
        if apart == 0:
            heads[word] = given_tag(trail, site, head)
        else:
            heads[word] = SPLIT
            for byte in range(WORD):
                cta.tags[at + u64(word * WORD + byte)] = given_tag(trail, site, four[byte])


def word_places(w: Warp, lanes: u32, addresses: Ptr[u64], offset: u64, out: Slice[u64]) -> u32:
    """1 if lanes, of which there is one, are at words of their CTA's own shared memory: the numbers of these."""
    into = part(out, 0, 32)
    wrong: u64 = 0
    most: u64 = 0
    for lane in range(32):
        at = addresses[lane] + offset & WINDOW_BYTES - 1 if lanes >> lane & 1 != 0 else 0
        wrong = wrong | at % WORD | at >> CLUSTER_SHIFT
        most = max(most, at)
        into[lane] = at // WORD
    return u32(wrong == 0) & within(most, WORD, length(w.cta.word_tags) * WORD)


def fetch_words(cta: Cta, lanes: u32, places: Slice[u64], out: Slice[u64]) -> None:
    """The heads of 16 words: of one, side by side, or anywhere."""
    words = part(cta.word_tags, 0, length(cta.word_tags))
    known = part(places, 0, 16)
    into = part(out, 0, 16)
    start = known[0]
    gaps: u64 = 0
    apart: u64 = 0
    for n in range(16):
        apart = apart | known[n] ^ start
        gaps = gaps | known[n] - start ^ u64(n)
    if apart == 0:
        head = words[start]
        for n in range(16):
            into[n] = head
    elif gaps == 0 and lanes == FULL:
        copy(into, part(words, start, 16), 128)
    else:
        for n in range(16):
            into[n] = words[known[n]]


def is_row(places: Slice[u64]) -> u32:
    """1 if half a warp is at words side by side."""
    known = part(places, 0, 16)
    gaps: u64 = 0
    for n in range(16):
        gaps = gaps | known[n] - known[0] ^ u64(n)
    return u32(gaps == 0)


def load_word_rows(w: Warp, site: u32, addresses: Ptr[u64], offset: u64) -> u32:
    """1 if each half of a warp loads one word of its CTA's shared memory, or words side by side, that have come alike.

    It stages their heads, as the instruction finds them.
    """
    trail = w.launch.trail
    words = part(w.cta.word_tags, 0, length(w.cta.word_tags))
    for half in range(2):
        start = addresses[16 * half] + offset & WINDOW_BYTES - 1
        step = addresses[16 * half + 1] - addresses[16 * half]
        wrong = start % WORD | start >> CLUSTER_SHIFT | step & ~WORD
        for n in range(16):
            wrong = wrong | addresses[16 * half + n] - addresses[16 * half] ^ step * u64(n)
        if wrong != 0 or within(start, 15 * step + WORD, length(words) * WORD) == 0:
            return 0
        head = words[start // WORD]
        if head & KIND == 0 or head & KIND == WRITTEN:
            return 0
        given = part(trail.stage, 16 * half, 16)
        if step == 0:
            head = moved_tag(trail, site, head)
            for n in range(16):
                given[n] = head
        else:
            row = part(words, start // WORD, 16)
            if of_one_path(row, 16) == 0:
                return 0
            step_run(given, row, 16, path_after(trail, site, head & PATH_FIELD))
    return 1


def load_word_tags(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64) -> u32:
    """1 if the words that lanes load have heads: these are staged, as the instruction finds them."""
    trail = w.launch.trail
    places = part(trail.stage, 64, 32)
    if lanes == 0 or word_places(w, lanes, addresses, offset, places) == 0:
        return 0
    found = part(trail.stage, 32, 32)
    fetch_words(w.cta, lanes, part(places, 0, 16), part(found, 0, 16))
    fetch_words(w.cta, lanes, part(places, 16, 16), part(found, 16, 16))
    given = part(trail.stage, 0, 32)
    if step_alike(trail, site, found, given) != 0:
        return 1
    split: u32 = 0
    for lane in range(32):
        split = split | lanes >> lane & 1 & u32(found[lane] == SPLIT)
    if split != 0:
        return 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            given[lane] = found_tag(trail, site, found[lane])
    return 1


def store_word_tags(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, heads: Slice[u64]) -> u32:
    """1 if lanes store to words of their CTA's shared memory: these take heads of values that are as long."""
    trail = w.launch.trail
    places = part(trail.stage, 64, 32)
    if lanes == 0 or word_places(w, lanes, addresses, offset, places) == 0:
        return 0
    out = part(heads, 0, 32)
    given = part(trail.stage, 0, 32)
    if step_alike(trail, site, out, given) == 0:
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                given[lane] = given_tag(trail, site, out[lane])
    words = part(w.cta.word_tags, 0, length(w.cta.word_tags))
    for half in range(2):
        first = 16 * half
        if lanes == FULL and is_row(part(places, first, 16)) != 0:
            copy(part(words, places[first], 16), part(given, first, 16), 128)
        else:
            for lane in range(first, first + 16):
                if lanes >> lane & 1 != 0:
                    words[places[lane]] = given[lane]
    return 1
