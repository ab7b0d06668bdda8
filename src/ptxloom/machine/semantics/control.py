"""Control flow within a function: `bra`, `brx.idx`, `exit`, `trap` (PTX ISA 9.7.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Emitter, Value, vector
from ptxloom.machine.program.symbols import BlockLabel, BranchTable
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.machine.runtime.warps import reconvergence
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()


@family("bra", ends=True)
def bra(b: Builder, op: Op) -> None:
    """Go to a label, each lane for itself."""
    target = _block_of(b, op.operands[0])
    if op.node.predicate is None:
        b.goto(target)
    else:
        b.branch(b.active_mask, target)


@family("brx", ends=True)
def brx(b: Builder, op: Op) -> None:
    """Go to the label that an index picks; past the list's end it is undefined, and a fault."""
    table = _table(b, op.operands[1])
    index = b.read(op.operands[0], "u32")
    _must_be_below(b, index, len(table.blocks))
    chosen = b.emit(vector("i32"), f"call {vector('i32')} @{_lookup(b, table)}({index})")
    if table.first <= b.block.number:
        b.spend(turns.LOOP_COST)
    b.resume(scattered(b, chosen, b.following))


def _lookup(b: Builder, table: BranchTable) -> str:
    """The function that returns the block of each lane's index: one for a list, however many branches go by it."""
    type_ = vector("i32")
    name = f"ptxloom_table_{len(b.functions)}"
    known = b.tables.setdefault(table, name)
    if known == name:
        inside = Emitter()
        index = Value(type_, "%index")
        chosen = inside.constant(type_, table.blocks[-1])
        for number, block in enumerate(table.blocks[:-1]):
            here = inside.compare("eq", index, inside.constant(type_, number))
            chosen = inside.select(here, inside.constant(type_, block), chosen)
        body = "\n".join(inside.lines)
        b.functions.append(f"define internal {type_} @{name}({index}) #0 {{\n{body}\nret {chosen}\n}}")
    return known


def _must_be_below(b: Builder, index: Value, count: int) -> None:
    """A fault of the active lanes whose index is not below `count`."""
    beyond = b.mask_of(b.compare("uge", index, b.constant(index.type, count)))
    bad = b.apply("and", beyond, b.active_mask)
    b.store(b.resize(index, 64), b.scratch(), 64)
    b.check(b.runtime(lane_access.fault_if_any, W, b.scratch(), bad, state.GENERIC, state.BAD_BRANCH, 0, 0, b.op.site))


def scattered(b: Builder, blocks: Value, following: int) -> Value:
    """Send the active lanes to the blocks of a vector of numbers, the other running lanes to `following`."""
    if b.active is not None:
        blocks = b.select(b.lanes(b.active), blocks, b.constant(blocks.type, following))
    b.store(blocks, b.scratch(), 64)
    return b.runtime(reconvergence.scatter, W, b.mask)


def _block_of(b: Builder, operand: tree.Operand) -> int:
    """The number of the block a label names."""
    if isinstance(operand, tree.Name) and isinstance(found := b.op.scope.label(operand.text), BlockLabel):
        return found.block
    raise b.op.unsupported(f"`{print_operand(operand)}` is not a label")


def _table(b: Builder, operand: tree.Operand) -> BranchTable:
    """The list of a `.branchtargets`, whose labels all stand for a block."""
    if not isinstance(operand, tree.Name) or not isinstance(found := b.op.scope.label(operand.text), BranchTable):
        raise b.op.unsupported(f"`{print_operand(operand)}` names no list of targets")
    if found.unknown or not found.blocks:
        raise b.op.unsupported(f"`{found.unknown or operand.text}` is not a label")
    return found


@family("exit", ends=True)
def exit_(b: Builder, op: Op) -> None:
    """End the lanes."""
    if b.active is None:
        b.ended = True
        b.runtime(reconvergence.leave_whole, W, Value("i32", str(op.site)))
        b.do(f"ret i32 {turns.DONE}")
        return
    if_any(b, b.following)
    b.resume(
        b.runtime(reconvergence.leave, W, b.active_mask, Value("i32", str(b.following)), Value("i32", str(op.site)))
    )


def if_any(b: Builder, following: int) -> None:
    """Jump to a block if no lane executes this instruction."""
    if b.op.node.predicate is None:
        return
    some, none = b.fresh("L"), b.fresh("L")
    empty = b.compare("eq", b.active_mask, Value("i32", "0"))
    b.do(f"br {empty}, label %{none}, label %{some}")
    b.label(none)
    b.goto(following)
    b.label(some)


@family("trap", ends=True)
def trap(b: Builder, op: Op) -> None:
    """Abort the kernel."""
    if_any(b, b.following)
    b.runtime(lane_access.fault, W, state.TRAP, op.site, 0, 0, 0, 0, 0)
    b.do("br label %fault")
    b.ended = True
