"""Registers that `wgmma` may still read or write (PTX ISA 9.7.15.7).

A thread must not touch an accumulator before it has waited for its group, nor write what a product takes as A; and what
it has touched it must put before `wgmma.fence` when a product is to take it. Only products of one shape follow each
other on an accumulator without that.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, u32
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import entry
from ptxloom.machine.runtime.state import IN_FLIGHT, NO_PRODUCT_FENCE, NONE, Warp
from ptxloom.machine.runtime.structs.pending_operations import ProductRegister


def fragment_at(w: Warp, number: u32) -> ProductRegister:
    """The record of a warp's register."""
    return w.shadow.fragments[w.index * w.shadow.fragment_count + number]


@watching
def touch_register(w: Warp, number: u32, write: u32, site: u32) -> None:
    """Check a register that threads read or write."""
    f = fragment_at(w, number)
    f.fenced = 0
    if f.written > w.product_done or (write != 0 and f.read > w.product_done):
        tell_register(w, IN_FLIGHT, site, f.site, number)


@watching
def rename_register(w: Warp, into: u32, source: u32) -> None:
    """Copy the record of a register that a `mov` renames."""
    f = fragment_at(w, source)
    other = fragment_at(w, into)
    other.written = f.written
    other.read = f.read
    other.fenced = f.fenced
    other.shape = f.shape
    other.site = f.site


@watching
def fence_registers(w: Warp) -> None:
    """`wgmma.fence`: what has been done with registers comes before the products from now on."""
    for number in range(w.shadow.fragment_count):
        f = fragment_at(w, number)
        f.fenced = 1
        f.shape = 0


@watching
def accumulate(w: Warp, number: u32, shape: u32, site: u32) -> None:
    """A product takes a register as part of D."""
    f = fragment_at(w, number)
    follows = u32(f.written <= w.product_done or f.shape == 0) | u32(f.shape == shape)
    if f.fenced & follows == 0:
        tell_register(w, NO_PRODUCT_FENCE, site, NONE, number)
    f.fenced = 1
    f.written = w.product_groups + 1
    f.shape = shape
    f.site = site


@watching
def take_factor(w: Warp, number: u32, site: u32) -> None:
    """A product takes a register as part of A."""
    f = fragment_at(w, number)
    if f.written > w.product_done:
        tell_register(w, IN_FLIGHT, site, f.site, number)
    elif f.fenced == 0:
        tell_register(w, NO_PRODUCT_FENCE, site, NONE, number)
    f.fenced = 1
    f.read = w.product_groups + 1
    f.site = site


def tell_register(w: Warp, kind: u32, site: u32, second: u32, number: u32) -> None:
    """Report a hazard of a register."""
    index = entry(w, kind, site, second)
    if index < w.worker.event_limit:
        event = w.worker.events[index]
        event.mask = w.mask
        event.other = number
        event.second_warp = NONE


def forget_registers(w: Warp) -> None:
    """A CTA starts: no product has taken anything."""
    if address(w.shadow.fragments) == 0:
        return
    for number in range(w.shadow.fragment_count):
        f = fragment_at(w, number)
        f.written = 0
        f.read = 0
        f.fenced = 0
        f.shape = 0
