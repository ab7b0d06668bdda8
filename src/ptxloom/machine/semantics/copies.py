"""Asynchronous copies: `cp.async` and `cp.async.bulk` (PTX ISA 9.7.9.25)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, UPDATE, WRITE, Access
from ptxloom.machine.codegen.addresses import SPACES, addresses_at
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.asynchronous import copies, partial_copies
from ptxloom.machine.runtime.memory.lane_access import fault_without_clusters
from ptxloom.machine.semantics.atomics import combiner
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_BARRIERS: Final = scratch.VALUES + 128  # behind 32 sizes
_CTAS: Final = _BARRIERS + 256
_MULTICASTS: Final = {"multicast::cluster": 16, "multicast::cluster::32b": 32}  # bits of the mask of CTAs
_GROUPS: Final = ("commit_group", "wait_group", "wait_all")


@family("cp", when=lambda op: op.has(*_GROUPS))
def groups(b: Builder, op: Op) -> None:
    """Copies are made at once, so every group is complete; racecheck tracks them until they are waited for."""


@family("cp", when=lambda op: op.has("ca", "cg") and not op.has("bulk"))
def cp_async(b: Builder, op: Op) -> None:
    """Copy 4, 8 or 16 bytes a lane from global to shared memory; what the source leaves out is zero."""
    target, source, size, *rest = op.operands
    if op.has("L2::cache_hint"):
        rest = rest[:-1]
    whole = b.literal(size)
    if whole not in {4, 8, 16}:
        raise op.unsupported("it copies 4, 8 or 16 bytes")
    takes = b.constant(vector("i32"), whole)
    if rest and _is_predicate(b, rest[0]):
        takes = b.select(b.lanes(b.read_mask(rest[0])), b.constant(takes.type, 0), takes)
    elif rest:
        takes = b.read(rest[0], "u32")
    into = addresses_at(b, target, state.SHARED, whole)
    at = addresses_at(b, source, state.GLOBAL, whole, scratch.SOURCES)
    sizes = b.scratch(scratch.VALUES)
    b.store(takes, sizes, 64)
    b.touch(Access(WRITE, state.SHARED, into, 8 * whole, is_issued=True, operand=0))
    reading = None
    if rest:
        some = b.mask_of(b.compare("ne", takes, b.constant(takes.type, 0)))
        reading = b.apply("and", some, b.active_mask)
    b.touch(Access(READ, state.GLOBAL, at, 8 * whole, lanes=reading, is_issued=True, operand=1))
    b.check(b.runtime(copies.copy_async, W, b.active_mask, into, at, sizes, whole, op.site))


def _is_predicate(b: Builder, operand: tree.Operand) -> bool:
    match operand:
        case tree.Unary(operator="!"):
            return True
        case tree.Name(text=name):
            found = b.find(name)
            return isinstance(found, Register) and found.type.kind == "p"
        case _:
            return False


@family("cp", when=lambda op: op.has("bulk") and not op.has("tensor", "prefetch"))
def cp_async_bulk(b: Builder, op: Op) -> None:
    """Copy (or reduce) a stretch between global and shared memory, or within a cluster's; reported to an mbarrier."""
    spaces = [SPACES[q] for q in op.qualifiers if q in SPACES]
    target, source, size, *rest = op.operands
    if spaces == [state.SHARED, state.SHARED]:
        b.check(b.runtime(fault_without_clusters, W, b.active_mask, op.site))
    if len(spaces) != 2:
        raise op.unsupported()
    takes = b.read(size, "u32")
    into = addresses_at(b, target, spaces[0], takes)
    at = addresses_at(b, source, spaces[1], takes, scratch.SOURCES)
    sizes, barriers, ctas = b.scratch(scratch.VALUES), b.scratch(_BARRIERS), b.scratch(_CTAS)
    b.store(takes, sizes, 64)
    _touch(b, op, (into, at), spaces, sizes)
    if op.has("cp_mask"):
        b.store(b.resize(b.read(rest[-1], "b16"), 32), ctas, 64)
        b.check(b.runtime(partial_copies.copy_masked, W, b.active_mask, into, at, sizes, ctas, op.site))
        return
    ignored = rest[:2] if op.has("ignore_oob") else []
    rest = rest[len(ignored) :]
    if op.has("mbarrier::complete_tx::bytes"):
        addresses_at(b, rest[0], state.SHARED, state.MBARRIER_BYTES, _BARRIERS)
        found = b.load(vector("i64"), barriers, 64)
        b.store(b.apply("add", found, b.constant(found.type, 1)), barriers, 64)
    else:
        b.store(b.constant(vector("i64"), 0), barriers, 64)
    if ignored:
        edges = ctas, b.scratch(_CTAS + 128)
        for operand, place in zip(ignored, edges, strict=True):
            b.store(b.read(operand, "u32"), place, 64)
        facts = (into, at, sizes, *edges, barriers, op.site)
        b.check(b.runtime(partial_copies.copy_within, W, b.active_mask, *facts))
        return
    b.store(receivers(b, op, rest[1:]), ctas, 64)
    combine: Value | int = 0
    if op.has("reduce"):
        symbol = combiner(b, op, spaces[0])
        combine = b.emit("i64", f"ptrtoint ptr @{symbol} to i64")
    facts = (spaces[0], spaces[1], combine, op.site)
    b.check(b.runtime(copies.copy_bulk, W, b.active_mask, into, at, sizes, barriers, ctas, *facts))


def _touch(b: Builder, op: Op, places: tuple[Value, Value], spaces: Sequence[int], sizes: Value) -> None:
    """Report both sides of a copy; what `.ignore_oob` may find outside is not read."""
    kinds = UPDATE if op.has("reduce") else WRITE, READ
    for operand, (kind, place, space) in enumerate(zip(kinds, places, spaces, strict=True)):
        if not (operand and op.has("ignore_oob")):
            stretches = partial(b.load, vector("i32"), sizes, 64)
            b.touch(Access(kind, space, place, 8, is_issued=True, operand=operand, stretches=stretches))


def receivers(b: Builder, op: Op, rest: Sequence[tree.Operand]) -> Value:
    """The masks of the CTAs that receive a multicast, from the next operand; 0 without a multicast."""
    width = next((width for word, width in _MULTICASTS.items() if op.has(word)), 0)
    return b.resize(b.read(rest[0], f"u{width}"), 32) if width else b.constant(vector("i32"), 0)
