"""Copies of boxes of tensors: `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` (PTX ISA 9.7.9.27)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access
from ptxloom.machine.codegen.addresses import addresses_at
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.tensor_boxes import model as tensor_copy
from ptxloom.machine.runtime.tensor_maps import copies, extents
from ptxloom.machine.semantics.atomics import tensor_combiner
from ptxloom.machine.semantics.copies import receivers
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_BARRIERS: Final = scratch.VALUES
_CTAS: Final = _BARRIERS + 256
_COORDINATES: Final = _CTAS + 128
_SIZES: Final = _COORDINATES + 128 * tensor_copy.COORDINATES
_RANKS: Final = {f"{rank}d": rank for rank in range(1, tensor_copy.MOST_DIMENSIONS + 1)}
_COLUMNS: Final = ("im2col", "im2col_no_offs")
_WIDE: Final = ("im2col::w", "im2col::w::128")
_NEWER: Final = 100  # sm_100 has more fields in tensor maps
_ROWS: Final = ("tile::gather4", "tile::scatter4")


@family("cp", when=lambda op: op.has("tensor") and not op.has("prefetch"))
def copy_tensor(b: Builder, op: Op) -> None:
    """Fetch a box of a tensor into shared memory, store one, or combine one with the tensor."""
    if any(q.startswith("override::") for q in op.qualifiers):
        raise op.unsupported("what stands for parts of a tensor map is not supported")
    form = _RANKS[op.one_of(tuple(_RANKS))] | copies.IN_COLUMNS * op.has(*_COLUMNS, *_WIDE)
    form |= copies.NEWER * (b.program.architecture >= _NEWER)
    form |= copies.PICKS * op.has(*_ROWS) | copies.PAIRED * op.has("cta_group::2")
    form |= copies.ALONG_WIDTH * next((number for number, word in enumerate(_WIDE, 1) if op.has(word)), 0)
    if op.has("mbarrier::complete_tx::bytes"):
        _load(b, op, form)
    else:
        _store(b, op, form)


def _load(b: Builder, op: Op, form: int) -> None:
    target, where, barrier, *rest = op.operands
    into = addresses_at(b, target, state.SHARED, 0)
    maps = _map(b, where)
    barriers = addresses_at(b, barrier, state.SHARED, state.MBARRIER_BYTES, _BARRIERS)
    has_offsets = op.has("im2col", *_WIDE)
    _coordinates(b, where, rest[0] if has_offsets else None)
    b.store(receivers(b, op, rest[int(has_offsets) :]), b.scratch(_CTAS), 64)
    _touch(b, WRITE, into, maps, form, operand=0)
    places = (into, maps, b.scratch(_COORDINATES), barriers, b.scratch(_CTAS))
    b.check(b.runtime(copies.load_tensor, W, b.active_mask, *places, form, op.site))


def _store(b: Builder, op: Op, form: int) -> None:
    where, source = op.operands[:2]
    at = addresses_at(b, source, state.SHARED, 0)
    maps = _map(b, where)
    _coordinates(b, where, None)
    _touch(b, READ, at, maps, form, operand=1)
    combine: Value | int = 0
    if op.has("reduce"):
        combine = b.emit("i64", f"ptrtoint ptr @{tensor_combiner(b, op)} to i64")
    places = (at, maps, b.scratch(_COORDINATES))
    b.check(b.runtime(copies.store_tensor, W, b.active_mask, *places, form, combine, op.site))


def _touch(b: Builder, kind: str, box: Value, maps: Value, form: int, *, operand: int) -> None:
    """Report the side in shared memory, where the map decides the size of a box."""

    def stretches() -> Value:
        sizes = b.scratch(_SIZES)
        facts = (W, b.active_mask, maps, b.scratch(_COORDINATES), form, int(kind == READ), sizes, b.op.site)
        b.runtime(extents.measure_boxes, *facts)
        return b.load(vector("i32"), sizes, 64)

    b.touch(Access(kind, state.SHARED, box, 8, is_issued=True, operand=operand, stretches=stretches))


def _map(b: Builder, where: tree.Operand) -> Value:
    """Where the addresses of the maps lie: generic ones."""
    return addresses_at(b, where, state.GENERIC, tensor_copy.MAP_BYTES, scratch.SOURCES)


def _coordinates(b: Builder, where: tree.Operand, offsets: tree.Operand | None) -> None:
    """Put the coordinates into the scratch, and the offsets of im2col behind them."""
    assert isinstance(where, tree.Address)
    values = list(b.read_all(where.extra[-1], "b32"))
    values += [b.constant(vector("i32"), 0)] * (tensor_copy.OFFSETS - len(values))
    if offsets is not None:
        values += [b.resize(offset, 32) for offset in b.read_all(offsets, "b16")]
    values += [b.constant(vector("i32"), 0)] * (tensor_copy.COORDINATES - len(values))
    for place, value in enumerate(values):
        b.store(value, b.scratch(_COORDINATES + 128 * place), 64)
