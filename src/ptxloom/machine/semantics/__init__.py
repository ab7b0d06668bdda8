"""The semantics of every instruction: one table, grouped by family, a few lines per instruction.

A family is a module here or in `ptxloom.meaning` with a `Family` named `family`; `FAMILIES` lists them. To add one,
write a function `(b: Builder, op: Op) -> None` in its family's file and decorate it with the opcodes, and the types it
covers: a row fits if the instruction's *last* type qualifier is among `types` (none given: any) and `when(op)` holds.
The first fitting row wins, families in the order of `FAMILIES`. Instructions without a row are refused before anything
runs; a row that meets an unknown form raises `op.unsupported("why")`.

`Op` is the instruction: `op.opcode`, `op.qualifiers`, `op.has("sat")`, `op.one_of(("lo", "hi", "wide"))`, `op.types`,
`op.type` (the last type), `op.operands`. `Builder` is what you write with; values are `<32 x T>` SSA values, one lane
an element (packed types: `<64 x half>` for f16x2), predicates and lane masks are i32 with bit l for lane l.

* operands: `b.read(operand, type)`, `b.read_all({...}, type)`, `b.read_mask(predicate)`;
* results: `b.write(operand, value)` (`signed=True` to sign-extend into a wider register), `b.write_all`,
  `b.write_mask(predicate, mask)`; they touch the active lanes only, so rows need not think about predicates;
* LLVM: `b.apply("add", x, y)` for any instruction whose result has its operands' type; `b.compare("slt", x, y)`,
  `b.select`, `b.convert("sitofp", x, "float")`, `b.resize(x, bits, signed)`, `b.bitcast(x, "<32 x i32>")`,
  `b.intrinsic("llvm.fma", x, y, z)`, `b.constant("<32 x i32>", 7)`, `b.splat(scalar)`, `b.shuffle`,
  `b.emit(type, "code")`;
* masks: `b.lanes(mask)` returns `<32 x i1>`, `b.mask_of(lanes)` i32; `b.active_mask` is the lanes executing (i32);
* run-time calls, for anything with loops or lane-by-lane work: write the function in the native language
  (`native/language.py`, see `runtime/memory/lane_access.py`), then `b.runtime(function, W, b.scratch(), 7)`. Vectors
  go through memory: `b.store(x, b.scratch(scratch.VALUES), 64)`, `b.load("<32 x i32>", b.scratch(scratch.VALUES), 64)`
  (what lies where in the scratch: `codegen/scratch.py`); a register's own place is
  `b.register_place(*b.register(operand))`. A function that may fault returns nonzero: `b.check(result)`;
* whole LLVM functions of your own (big bodies used many times): `b.helper("my_name", ir_text)`, then `b.call("my_name",
  ...)`: compiled optimised, once, and cached; a name stands for one text;
* addresses: `addresses_at(b, operand, space, size)` stores the 32 addresses to the scratch (all rows go this way: it
  refuses generic addresses in shared and local memory), and `lane_access.place_lanes_of` turns them into checked
  host addresses;
* accesses to memory: `b.touch(Access(READ, state.SHARED, addresses, bits=32))` (`codegen/access.py`), once, before each
  is made: racecheck, initcheck, profile and every other instrument are notified, and families need not know them;
* hazards: `b.runtime(hazards.note, W, state.DIVERGENT, op.site, lanes, 0, other)` notes one (kinds: `state`, meanings:
  `event_kinds.EVENTS`; the run goes on), `memory.fault` ends the kernel; `b.checks` are the tools that watch this run;
* control: a row with `ends=True` must be the last of its block and may end it with `b.goto(block)`, `b.branch(taken,
  block)`, `b.resume(chosen)` (after a run-time function has placed the lanes); a row with `starts=True` begins a block,
  which a warp-synchronous instruction needs to wait for its members: `converge(b, members)` of
  `codegen/convergence.py`, or `aligned(b)` for what the whole warp must execute.

Instructions of one value for the whole CTA (`analysis/uniform_values.py`: rows with `lanewise=True` on parameters,
block indices and literals) are built with `<1 x T>` operands, so such rows derive types from their values
(`b.vector("i32")`, `x.type`) and never write `<32 x` out; `b.literal(operand)` is the integer an operand is known to
hold.

A row with `lanewise=True` computes each lane for itself, whatever the number of lanes: `codegen/strips.py` builds runs
of such instructions for eight lanes at a time (`b.width`; masks have as many bits). It takes its types from its
values, uses no scratch, no run-time call and no special register, and reads and writes through `b.read`, `b.write`,
`b.read_mask`, `b.write_mask` alone.

Three worked examples:

    @family("popc", types="b32 b64")
    def popc(b: Builder, op: Op) -> None:
        bits = b.intrinsic("llvm.ctpop", b.read(op.operands[1], op.type))
        b.write(op.operands[0], b.resize(bits, 32))

    @family("cvt", when=lambda op: [t.name for t in op.types] == ["f16", "f32"] and op.has("rn"))
    def cvt_rn_f16_f32(b: Builder, op: Op) -> None:
        b.write(op.operands[0], b.convert("fptrunc", b.read(op.operands[1], "f32"), "half"))

    @family("activemask")
    def activemask(b: Builder, op: Op) -> None:
        b.write(op.operands[0], b.splat(b.active_mask))

and, with waiting, `shfl.sync` in `warp.py` and `bar.sync` in `barriers.py`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.machine.semantics import (
    atomics,
    barriers,
    bulk_stores,
    calls,
    cluster_launch,
    control,
    copies,
    matrix,
    mbarriers,
    memory,
    ordering,
    stack,
    surfaces,
    tensor_copies,
    tensor_maps,
    tensor_memory,
    tensor_products,
    textures,
    votes,
    warp,
    wgmma,
    wmma,
)
from ptxloom.meaning import table

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.program.unsupported import UnsupportedInstruction
    from ptxloom.meaning.family import RowsOf

FAMILIES: Final[tuple[RowsOf[Builder, Op], ...]] = (
    *table.FAMILIES,
    mbarriers.family,
    cluster_launch.family,
    bulk_stores.family,
    memory.family,
    atomics.family,
    control.family,
    calls.family,
    warp.family,
    votes.family,
    matrix.family,
    wmma.family,
    wgmma.family,
    tensor_memory.family,
    tensor_products.family,
    barriers.family,
    copies.family,
    tensor_copies.family,
    tensor_maps.family,
    textures.family,
    surfaces.family,
    ordering.family,
    stack.family,
)


# What is left out as a whole, and the opcodes or qualifiers that show it.
_MISSING: Final = (
    ("ways to the fabric", ("fabric",)),
    ("vectors of structured sparsity", ("spcompress", "spdecompress")),
)
# How qualifiers begin that change what an instruction does, where rows look at other ones.
_UNKNOWN: Final = (
    ("reports of what a copy finds in its data", "mbarrier::report::validity"),
    ("ways to the fabric", "generic::fabric"),
    ("ways to the fabric", "fabric::"),
)


def find(op: Op) -> Row | None:
    """The row that covers an instruction; None if the machine cannot run it."""
    if _unknown(op.node.qualifiers):
        return None
    return next((row for row in ROWS.get(op.opcode, ()) if row.fits(op)), None)


def missing(op: Op) -> UnsupportedInstruction:
    """The error for an instruction that no row covers."""
    groups = [
        *_unknown(op.node.qualifiers),
        *(words for words, names in _MISSING if op.opcode in names or op.has(*names)),
    ]
    return op.unsupported(f"{groups[0]} are not supported") if groups else op.unsupported()


@lru_cache(1024)
def _unknown(qualifiers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(words for words, start in _UNKNOWN if any(q.startswith(start) for q in qualifiers))


class BlockCuts:
    """The table as `flow.Boundaries`: which instructions cut blocks."""

    def starts(self, op: Op) -> bool:
        """Whether `op` must be the first of its block."""
        return op.opcode in _CUTTING and (row := find(op)) is not None and row.starts

    def ends(self, op: Op) -> bool:
        """Whether `op` must be the last of its block."""
        return op.opcode in _CUTTING and (row := find(op)) is not None and row.ends


ROWS: Final = {
    opcode: tuple(row for family in FAMILIES for row in family.rows.get(opcode, ()))
    for opcode in {opcode for family in FAMILIES for opcode in family.rows}
}
"""The rows of all families by opcode, in the order in which they are tried."""
_CUTTING: Final = frozenset(opcode for opcode, rows in ROWS.items() if any(r.starts or r.ends for r in rows))
