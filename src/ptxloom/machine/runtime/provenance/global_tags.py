"""Tags of global memory: each byte that a kernel may write has its own; until it has written it, it is itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import fill, length, nothing, part, u32, u64
from ptxloom.machine.runtime.memory.lane_access import find_span, holds
from ptxloom.machine.runtime.provenance.paths import moved_tag, path_after
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
from ptxloom.machine.runtime.state import CONST, GENERIC, GLOBAL, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.structs.trail import EXACT, KIND, ORIGIN, PAGE_SHIFT, TWICE, WRITTEN, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def is_far(at: u64, space: u32) -> u32:
    """1 if an address is one of global memory, or of constants."""
    if space == GENERIC:
        return u32(at < SHARED_WINDOW)
    return u32(space == GLOBAL or space == CONST)  # noqa: PLR1714, SIM109 - native code has no sets


def span_of(w: Warp, at: u64, size: u64) -> Slice[Span]:
    """The piece of global memory that holds some bytes, or nothing."""
    spans = find_span(w.launch, at)
    if length(spans) == 0 or holds(spans[0], at, size) == 0:
        return nothing(Span)
    return spans


def is_changed(trail: Trail, tag: u64, size: u32) -> u32:
    """1 if there may be tags of bytes of global memory that have not changed if this is the tag of the first."""
    place = tag & ORIGIN
    pages = part(trail.changed, 0, trail.page_count)
    return u32(pages[place >> PAGE_SHIFT] | pages[place + u64(size) - 1 >> PAGE_SHIFT])


def mark_changed(trail: Trail, span: Span, at: u64, size: u64) -> None:
    """Record that some bytes of a piece of global memory, fewer than a page, have tags."""
    place = span.origin + (at - span.start)
    trail.changed[place >> PAGE_SHIFT] = 1
    trail.changed[place + size - 1 >> PAGE_SHIFT] = 1


def read_global_tags(w: Warp, site: u32, at: u64, size: u32, out: Slice[u64]) -> None:
    """The tags of bytes of global memory after a read by an instruction."""
    trail = w.launch.trail
    into = part(out, 0, size)
    spans = span_of(w, at, u64(size))
    if length(spans) == 0:
        fill(into, 0)
        return
    own = EXACT | path_after(trail, site, 0) | spans[0].origin + (at - spans[0].start)
    if length(spans[0].tags) != 0 and is_changed(trail, own, size) != 0:
        found_words(trail, site, spans[0], at - spans[0].start, size, into, own)
        return
    for n in range(size):
        into[n] = own + u64(n)


def found_words(trail: Trail, site: u32, span: Span, at: u64, size: u32, out: Slice[u64], own: u64) -> None:
    """The tags of bytes of a piece as they are found; of those that have not been written, from `own` on."""
    into = part(out, 0, size)
    words = part(span.words, 0, length(span.words))
    tags = part(span.tags, 0, length(span.tags))
    if (at | u64(size)) % WORD != 0:
        for n in range(size):
            into[n] = found_or_own(trail, site, tag_of_byte(words, tags, at + u64(n)), own + u64(n))
        return
    for word in range(size // WORD):
        four = part(into, word * WORD, WORD)
        first = u64(word * WORD)
        head = words[at // WORD + u64(word)]
        if head == SPLIT:
            for byte in range(WORD):
                four[byte] = found_or_own(trail, site, tags[at + first + u64(byte)], own + first + u64(byte))
        else:
            tag = found_or_own(trail, site, head, own + first)
            for byte in range(WORD):
                four[byte] = word_byte(tag, byte)


def found_or_own(trail: Trail, site: u32, tag: u64, own: u64) -> u64:
    """The tag of a byte as an instruction finds it; `own` if it has none yet."""
    if tag == 0:
        return own
    return found_tag(trail, site, tag)


def write_global_tags(w: Warp, site: u32, at: u64, size: u32, given: Slice[u64], again: u64) -> None:
    """Set the tags of bytes of global memory; adds `again` to those that have been written before."""
    spans = span_of(w, at, u64(size))
    if length(spans) != 0:
        mark_changed(w.launch.trail, spans[0], at, u64(size))
        if length(spans[0].tags) != 0:
            give_words(w.launch.trail, site, spans[0], at - spans[0].start, size, given, again)


def give_words(trail: Trail, site: u32, span: Span, at: u64, size: u32, given: Slice[u64], again: u64) -> None:
    """The same of a piece that has tags, by places in it."""
    new = part(given, 0, size)
    words = part(span.words, 0, length(span.words))
    tags = part(span.tags, 0, length(span.tags))
    if (at | u64(size)) % WORD != 0:
        for n in range(size):
            split_at(words, tags, at + u64(n))
            give_byte(trail, site, tags, at + u64(n), new[n], again)
        return
    for word in range(size // WORD):
        four = part(new, word * WORD, WORD)
        first = at + u64(word * WORD)
        head = four[0]
        apart = word_byte(head, 1) ^ four[1] | word_byte(head, 2) ^ four[2] | word_byte(head, 3) ^ four[3]
        known = words[first // WORD]
        if apart == 0 and known != SPLIT:
            words[first // WORD] = given_tag(trail, site, head) | (again if known != 0 else 0)
        else:
            split_at(words, tags, first)
            for byte in range(WORD):
                give_byte(trail, site, tags, first + u64(byte), four[byte], again)


def give_byte(trail: Trail, site: u32, tags: Slice[u64], at: u64, tag: u64, again: u64) -> None:
    """A byte takes a tag; with `again` if it has one."""
    tags[at] = given_tag(trail, site, tag) | (again if tags[at] != 0 else 0)


def are_side_by_side(lanes: u32, addresses: Ptr[u64], size: u32) -> u32:
    """1 if all lanes access values side by side."""
    gaps: u64 = 0
    for lane in range(32):
        gaps = gaps | addresses[lane] - addresses[0] ^ u64(lane * size)
    return u32(gaps == 0) & u32(lanes == FULL)


def common_span(w: Warp, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32) -> Slice[Span]:
    """The piece of global memory that holds what all lanes, of which there is one, access; else nothing."""
    low: u64 = 0xFFFFFFFFFFFFFFFF
    high: u64 = 0
    for lane in range(32):
        at = addresses[lane] + offset
        low = min(low, at if lanes >> lane & 1 != 0 else low)
        high = max(high, at if lanes >> lane & 1 != 0 else high)
    spans = span_of(w, low, u64(size))
    if length(spans) != 0 and holds(spans[0], high, u64(size)) == 0:
        return nothing(Span)
    return spans


def span_of_all(w: Warp, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32, row: u32) -> Slice[Span]:
    """The piece of global memory that holds what all lanes access, side by side or not; else nothing."""
    if row != 0:
        return span_of(w, addresses[0] + offset, u64(32 * size))
    return common_span(w, lanes, addresses, offset, size)


def load_values(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32) -> u32:
    """1 if the bytes of each value that lanes load follow from a head: these are staged, as they are found."""
    if lanes == 0:
        return 0
    row = are_side_by_side(lanes, addresses, size)
    spans = span_of_all(w, lanes, addresses, offset, size, row)
    if length(spans) == 0:
        return 0
    trail = w.launch.trail
    given = part(trail.stage, 0, 32)
    own = EXACT | path_after(trail, site, 0) | spans[0].origin
    start = spans[0].start - offset
    for lane in range(32):
        given[lane] = own + (addresses[lane] - start)
    changed: u32 = 0
    if length(spans[0].tags) != 0:
        if row != 0:
            changed = is_changed(trail, given[0], 32 * size)
        else:
            for lane in range(32):
                if lanes >> lane & 1 != 0:
                    changed = changed | is_changed(trail, given[lane], size)
    if changed == 0:
        return 1
    return load_changed(trail, site, lanes, spans[0], size, given)


def load_changed(trail: Trail, site: u32, lanes: u32, span: Span, size: u32, given: Slice[u64]) -> u32:
    """The same of memory that may have been written; `given` holds the heads as they are if it has not."""
    assert size <= 16
    heads = part(given, 0, 32)
    words = part(span.words, 0, length(span.words))
    tags = part(span.tags, 0, length(span.tags))
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = (heads[lane] & ORIGIN) - span.origin
            head = tag_of_byte(words, tags, at)
            step = u64(head != 0 and head & KIND != WRITTEN)
            apart: u64 = 0
            if has_heads_of_words(words, at, size) != 0:
                for n in range(1, size // WORD):
                    apart = apart | words[at // WORD + u64(n)] ^ head + u64(n * WORD) * step
            else:
                for n in range(1, size):
                    apart = apart | tag_of_byte(words, tags, at + u64(n)) ^ head + u64(n) * step
            if apart != 0:
                return 0
            if step != 0:
                heads[lane] = moved_tag(trail, site, head)
            elif head != 0:
                heads[lane] = 0
    return 1


def has_heads_of_words(known: Slice[u64], at: u64, size: u32) -> u32:
    """1 if bytes are words that have heads."""
    if (at | u64(size)) % WORD != 0:
        return 0
    words = part(known, at // WORD, size // WORD)
    split: u32 = 0
    for n in range(size // WORD):
        split = split | u32(words[n] == SPLIT)
    return u32(split == 0)


def store_values(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32, heads: Slice[u64]) -> u32:
    """1 if the values that lanes store, with heads from which `size` bytes follow, lie in one piece of memory."""
    if lanes == 0:
        return 0
    row = are_side_by_side(lanes, addresses, size)
    spans = span_of_all(w, lanes, addresses, offset, size, row)
    if length(spans) == 0:
        return 0
    span = spans[0]
    if length(span.tags) == 0:
        return 1
    trail = w.launch.trail
    at = addresses[0] + offset - span.start
    if row != 0 and has_heads_of_words(span.words, at, 32 * size) != 0:
        mark_changed(trail, span, addresses[0] + offset, u64(32 * size))
        give_row(trail, site, part(span.words, at // WORD, 32 * size // WORD), size // WORD, heads)
        return 1
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mark_changed(trail, span, addresses[lane] + offset, u64(size))
            give_value(trail, site, span, addresses[lane] + offset - span.start, size, heads[lane])
    return 1


def give_row(trail: Trail, site: u32, words: Slice[u64], each: u32, heads: Slice[u64]) -> None:
    """All lanes store values of `each` words side by side, none of which is split."""
    given = part(trail.stage, 0, 32)
    if step_alike(trail, site, heads, given) == 0:
        for lane in range(32):
            given[lane] = given_tag(trail, site, heads[lane])
    into = part(words, 0, 32 * each)
    if each == 1:
        for lane in range(32):
            into[lane] = given[lane] | TWICE * u64(into[lane] != 0)
        return
    for lane in range(32):
        step = u64(given[lane] & KIND != WRITTEN)
        for n in range(each):
            known = into[lane * each + n]
            into[lane * each + n] = given[lane] + u64(n * WORD) * step | TWICE * u64(known != 0)


def give_value(trail: Trail, site: u32, span: Span, at: u64, size: u32, head: u64) -> None:
    """A lane stores a value whose bytes follow from a head."""
    tag = given_tag(trail, site, head)
    step = u64(head != 0)
    if has_heads_of_words(span.words, at, size) != 0:
        words = part(span.words, at // WORD, size // WORD)
        for n in range(size // WORD):
            words[n] = tag + u64(n * WORD) * step | TWICE * u64(words[n] != 0)
        return
    for n in range(size):
        split_at(span.words, span.tags, at + u64(n))
        into = part(span.tags, at + u64(n), 1)
        into[0] = tag + u64(n) * step | TWICE * u64(into[0] != 0)
