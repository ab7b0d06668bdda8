"""The vocabulary of semantics: operands, calls and control flow of a whole warp, and notifications of instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.codegen.llvm_words import LlvmWords
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime import turns
from ptxloom.machine.runtime.warps import reconvergence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.program.knowledge import AddressSum
    from ptxloom.machine.program.model import BasicBlock, Op, Program
    from ptxloom.machine.program.symbols import BranchTable
    from ptxloom.syntax import tree


class Instrument:
    """Observes a running kernel by adding code around instructions of its own variant; the base class adds nothing."""

    def sees(self, op: Op) -> bool:
        """Whether it adds code at an instruction, which must then be built separately."""
        del op
        return False

    def enter(self, b: Builder) -> None:
        """The running lanes are about to run the block."""

    def before(self, b: Builder) -> None:
        """The instruction is about to run, in the active lanes."""

    def access(self, b: Builder, access: Access) -> None:
        """The instruction is about to access memory."""

    def give(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """The instruction is about to store registers to words of tensor memory, in this order."""

    def take(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """The instruction has loaded words of tensor memory into registers, in this order."""

    def after(self, b: Builder) -> None:
        """The instruction has run, and lanes continue after it."""

    def diverged(self, b: Builder) -> None:
        """A branch makes the running lanes diverge."""


class Builder(LlvmWords):
    """Builds one variant of a kernel, instruction by instruction.

    Attributes:
        checks: The tools that watch this run, by compute-sanitizer's names; memcheck always does.
        instruments: The observers: racecheck, initcheck, the profile, the trace.
        entered: Whether the instruments were notified that the lanes are in this block.
        sums: Sums that loads and stores compute themselves, by their sites; empty if instruments need them.
        ended: The block's end has been built.
        follows: This variant follows poison: unwritten bits of registers.
        frees: The kernel frees memory of the device heap.
        tables: The functions that look up lists of labels, by the list.
        functions: The IR of functions that belong to this variant alone.
        written_out: Whether strips are always unrolled.
    """

    def __init__(
        self, program: Program, whole: bool, checks: frozenset[str] = frozenset(), instruments: Instrument | None = None
    ) -> None:
        super().__init__(program, whole)
        self.checks = checks
        self.instruments = Instrument() if instruments is None else instruments
        self.entered = False
        self.block: BasicBlock = program.blocks[0]
        self.sums: Mapping[int, AddressSum] = program.sums if instruments is None and not program.is_paired else {}
        self.ended = False
        self.follows = False
        self.frees = False
        self.tables: dict[BranchTable, str] = {}
        self.functions: list[str] = []
        self.written_out = False

    def touch(self, access: Access) -> None:
        """Report to all instruments an access that the active lanes are about to make."""
        self.instruments.access(self, access)

    # -- control flow: each of these ends the block

    @property
    def following(self) -> int:
        """The number of the block after this one."""
        return self.block.number + 1

    def goto(self, target: int) -> None:
        """Send all running lanes to a block."""
        self.ended = True
        if not self.whole:
            pending = self.load("i32", self.field("pending"), 4)
            first = self.compare("ult", Value("i32", str(target)), pending)
            direct, slow = self.fresh("L"), self.fresh("L")
            self.do(f"br {first}, label %{direct}, label %{slow}")
            self.label(slow)
            self.resume(self.runtime(reconvergence.go, W, Value("i32", str(target))))
            self.label(direct)
        if target > self.block.number:
            self.do(f"br label %B{target}")
            return
        self.within_budget(turns.LOOP_COST, Value("i32", str(target)), f"B{target}")

    def spend(self, cost: int) -> Value:
        """Spend from the warp's budget; returns the rest, negative if it is used up."""
        budget = self.field("budget")
        left = self.apply("sub", self.load("i32", budget, 4), Value("i32", str(cost)))
        self.store(left, budget, 4)
        return left

    def within_budget(self, cost: int, target: Value, label: str) -> None:
        """Continue at a label, on the way to the block `target`, if the budget allows it; else let other warps run."""
        spent, on = self.compare("slt", self.spend(cost), Value("i32", "0")), self.fresh("L")
        self.do(f"br {spent}, label %{on}, label %{label}")
        self.label(on)
        chosen = self.runtime(reconvergence.tick, W, target)
        none = self.compare("eq", chosen, Value("i32", "-1"))
        self.do(f"br {none}, label %yield, label %dispatch")

    def branch(self, taken: Value, target: int) -> None:
        """Send the lanes in `taken` (part of the running lanes) to a block; the rest fall through."""
        self.ended = True
        all_, some, one, none = (self.fresh("L") for _ in range(4))
        if self.whole:
            self.do(f"switch {taken}, label %{some} [ i32 -1, label %{all_} i32 0, label %{none} ]")
        else:
            self.do(f"br {self.compare('eq', taken, self.mask)}, label %{all_}, label %{one}")
            self.label(one)
            self.do(f"br {self.compare('eq', taken, Value('i32', '0'))}, label %{none}, label %{some}")
        self.label(some)
        self.instruments.diverged(self)
        self.resume(
            self.runtime(reconvergence.diverge, W, taken, Value("i32", str(target)), Value("i32", str(self.following)))
        )
        self.label(all_)
        self.goto(target)
        self.label(none)
        self.goto(self.following)

    def resume(self, chosen: Value) -> None:
        """Continue with the block that a run-time function chose; it has placed every lane."""
        self.ended = True
        none = self.compare("eq", chosen, Value("i32", "-1"))
        self.do(f"br {none}, label %stop, label %dispatch")
