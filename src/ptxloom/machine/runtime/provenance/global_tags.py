"""Tags of global memory: each byte that a kernel may write has its own; until it has written it, it is itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import fill, length, nothing, part, u32, u64
from ptxloom.machine.runtime.memory.lane_access import find_span, holds
from ptxloom.machine.runtime.provenance.paths import LONG, moved_tag, of_one_path, path_after, step_run
from ptxloom.machine.runtime.state import CONST, GENERIC, GLOBAL, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.structs.trail import EXACT, KIND, ORIGIN, PAGE_SHIFT, PATH_FIELD, TWICE, WRITTEN, Trail

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


def span_tags(span: Span, at: u64, size: u64) -> Slice[u64]:
    """The tags of bytes of a piece of global memory; empty if no byte of it ever changes."""
    if length(span.tags) == 0:
        return nothing(u64)
    return part(span.tags, at - span.start, size)


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
        found_run(trail, site, into, span_tags(spans[0], at, u64(size)), size, own)
        return
    for n in range(size):
        into[n] = own + u64(n)


def found_run(trail: Trail, site: u32, out: Slice[u64], tags: Slice[u64], size: u32, own: u64) -> None:
    """The tags of bytes in memory as they are found; of those without, from `own` on, if that is not 0."""
    into = part(out, 0, size)
    if length(tags) == 0:
        fill(into, 0)
        return
    known = part(tags, 0, size)
    if size >= LONG and of_one_path(known, size) != 0:
        step_run(into, known, size, path_after(trail, site, known[0] & PATH_FIELD))
        return
    before: u64 = 1  # no path stands so in a tag
    after: u64 = 0
    for n in range(size):
        tag = known[n]
        if tag == 0:
            if own != 0:
                tag = own + u64(n)
        elif tag & KIND == WRITTEN:
            tag = 0
        else:
            if tag & PATH_FIELD != before:
                before = tag & PATH_FIELD
                after = path_after(trail, site, before)
            tag = tag & ~(PATH_FIELD | TWICE) | after
        into[n] = tag


def write_global_tags(w: Warp, site: u32, at: u64, size: u32, given: Slice[u64], again: u64) -> None:
    """Set the tags of bytes of global memory; `again` as in `give_run`."""
    spans = span_of(w, at, u64(size))
    if length(spans) != 0:
        mark_changed(w.launch.trail, spans[0], at, u64(size))
        give_run(w.launch.trail, site, span_tags(spans[0], at, u64(size)), given, size, again)


def give_run(trail: Trail, site: u32, tags: Slice[u64], given: Slice[u64], size: u32, again: u64) -> None:
    """Set the tags of bytes in memory; adds `again` to those that have been written before."""
    if length(tags) == 0:
        return
    into = part(tags, 0, size)
    new = part(given, 0, size)
    before: u64 = 1  # no path stands so in a tag
    after: u64 = 0
    for n in range(size):
        tag = new[n]
        if tag == 0:
            tag = WRITTEN
        if tag & PATH_FIELD != before:
            before = tag & PATH_FIELD
            after = path_after(trail, site, before)
        tag = tag & ~(PATH_FIELD | TWICE) | after
        if into[n] != 0:
            tag = tag | again
        into[n] = tag


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


def load_values(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32) -> u32:
    """1 if the bytes of each value that lanes load follow from a head: these are staged, as they are found."""
    if lanes == 0:
        return 0
    spans = common_span(w, lanes, addresses, offset, size)
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
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                changed = changed | is_changed(trail, given[lane], size)
    if changed == 0:
        return 1
    return load_changed(trail, site, lanes, spans[0], size, given)


def load_changed(trail: Trail, site: u32, lanes: u32, span: Span, size: u32, given: Slice[u64]) -> u32:
    """The same of memory that may have been written; `given` holds the heads as they are if it has not."""
    heads = part(given, 0, 32)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            known = part(span.tags, (heads[lane] & ORIGIN) - span.origin, size)
            head = known[0]
            step = u64(head != 0 and head & KIND != WRITTEN)
            apart: u64 = 0
            for n in range(1, size):
                apart = apart | known[n] ^ head + u64(n) * step
            if apart != 0:
                return 0
            if step != 0:
                heads[lane] = moved_tag(trail, site, head)
            elif head != 0:
                heads[lane] = 0
    return 1


def store_values(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, size: u32, heads: Slice[u64]) -> u32:
    """1 if the values that lanes store, with heads from which `size` bytes follow, lie in one piece of memory."""
    if lanes == 0:
        return 0
    spans = common_span(w, lanes, addresses, offset, size)
    if length(spans) == 0:
        return 0
    span = spans[0]
    if length(span.tags) == 0:
        return 1
    trail = w.launch.trail
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = addresses[lane] + offset
            mark_changed(trail, span, at, u64(size))
            into = part(span.tags, at - span.start, size)
            head = heads[lane]
            step = u64(head != 0)
            tag = moved_tag(trail, site, WRITTEN if head == 0 else head)
            for n in range(size):
                again = TWICE * u64(into[n] != 0)
                into[n] = tag + u64(n) * step | again
    return 1
