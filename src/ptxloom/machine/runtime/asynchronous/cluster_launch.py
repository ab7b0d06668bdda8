"""Requests to cancel the launch of a cluster, and their responses (PTX ISA 9.7.13.17).

A request takes the next cluster off the queue of clusters that are still to start: the requester does its work instead.
It is refused when the queue is empty. Hardware may also refuse it in favour of a more urgent kernel; where the schedule
has a seed, ptxloom refuses one request in eight. The cluster then starts as if it had never been requested.

The 128 bits of a response are opaque to a program; here they are four words: the index of the first CTA in x, y, z and
1, or three words of all ones and 0 after a refusal. No hardware has confirmed that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import address, nothing, u8, u32, u64, view
from ptxloom.machine.runtime.asynchronous.copies import finish, write_told
from ptxloom.machine.runtime.asynchronous.mbarriers import place_object
from ptxloom.machine.runtime.hazards import note
from ptxloom.machine.runtime.initcheck.slow_path import written_lane
from ptxloom.machine.runtime.memory.lane_access import place, shared_place
from ptxloom.machine.runtime.racecheck.happens_before import stamp_of
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    NONE,
    NOT_CANCELED,
    REQUESTED_AGAIN,
    SHARED,
    WINDOW_BYTES,
    Warp,
)
from ptxloom.machine.runtime.warps.launch_queue import draw, next_cluster, place_cluster

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

RESPONSE_BYTES: Final = 16


def try_cancel(
    w: Warp, mask: u32, responses: Ptr[u64], barriers: Ptr[u64], multicast: u32, space: u32, site: u32
) -> u32:
    """`clusterlaunchcontrol.try_cancel`: each lane makes a request and gets its response at once; 1 after a fault.

    A `multicast` response goes to all CTAs of the cluster, each of which has an mbarrier at the same place.
    """
    for lane in range(32):
        if mask >> lane & 1 != 0:
            if address(place_object(w, lane, responses[lane], space, RESPONSE_BYTES, site)) == 0:
                return 1
            if address(place_object(w, lane, barriers[lane], space, 8, site)) == 0:
                return 1
            index = request_cluster(w)
            at = responses[lane] & (WINDOW_BYTES - 1)
            told = barriers[lane] & (WINDOW_BYTES - 1)
            if multicast == 0:
                if respond(w, lane, at, told, index, site) != 0:
                    return 1
            else:
                for rank in range(w.launch.members):
                    if respond(w, lane, in_cta(at, rank), in_cta(told, rank), index, site) != 0:
                        return 1
    return 0


def request_cluster(w: Warp) -> u64:
    """The number of the cluster that will not start; `launch.total` or more if the request is refused."""
    if w.launch.seed != 0 and draw(w.worker) >> 61 == 0:
        return w.launch.total
    return next_cluster(w.launch)


def in_cta(at: u64, rank: u32) -> u64:
    """The same place in the shared memory of another CTA of the cluster."""
    return at & ((1 << CLUSTER_SHIFT) - 1) | u64(rank + 1) << CLUSTER_SHIFT


def respond(w: Warp, lane: u32, at: u64, told: u64, index: u64, site: u32) -> u32:
    """Write a response to shared memory, and report its bytes to an mbarrier; returns 1 after a fault."""
    into = place(w, lane, at, SHARED, RESPONSE_BYTES, 1, site)
    if address(into) == 0:
        return 1
    if address(w.shadow) != 0:
        stamp = stamp_of(w, site)
        write_told(w, lane, at, SHARED, RESPONSE_BYTES, stamp, address(shared_place(w, told, 8)), nothing(u8))
        released(w)
    written_lane(w, lane, at, SHARED, RESPONSE_BYTES)
    words = view(u32, into)
    if index < w.launch.total:
        place_cluster(w.launch, index, words)
        words[3] = 1
    else:
        words[0] = NONE
        words[1] = NONE
        words[2] = NONE
        words[3] = 0
    return finish(w, lane, told, RESPONSE_BYTES, site)


# -- undefined behaviour that synccheck reports


def check_request(w: Warp, lanes: u32, site: u32) -> None:
    """Report lanes that make a request although their CTA has seen one refused."""
    if w.cta.refused != 0 and lanes != 0:
        note(w, REQUESTED_AGAIN, site, lanes, 0, 0)


def see_refusal(w: Warp, lanes: u32) -> None:
    """Record that lanes have seen a refusal."""
    if lanes != 0:
        w.cta.refused = 1


def check_canceled(w: Warp, lanes: u32, site: u32) -> None:
    """Report lanes that read the index of a cluster that was not canceled."""
    if lanes != 0:
        note(w, NOT_CANCELED, site, lanes, 0, 0)
