"""Translates a program: one function per variant, its blocks one after the other, all state in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.machine import semantics
from ptxloom.machine.analysis.loops import unrepeated_blocks
from ptxloom.machine.analysis.product_registers import product_registers
from ptxloom.machine.codegen import lengths, strips
from ptxloom.machine.codegen.builder import Builder
from ptxloom.machine.codegen.instrument import Instruments
from ptxloom.machine.codegen.outlining import Outlines
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.compile.meaning import called
from ptxloom.machine.compile.needs import SYMBOL
from ptxloom.machine.instruments import initcheck, racecheck
from ptxloom.machine.instruments.poison import Poisoning
from ptxloom.machine.instruments.profile import Profiling
from ptxloom.machine.instruments.provenance import Following
from ptxloom.machine.instruments.trace import Tracing
from ptxloom.machine.instruments.variable_bounds import Overruns
from ptxloom.machine.instruments.wanted import (
    POISON,
    PROFILE,
    PROVENANCE,
    VARIABLES,
    is_initcheck_wanted,
    is_racecheck_wanted,
    sites_in,
)
from ptxloom.machine.native import interrupts
from ptxloom.machine.native.closure import ATTRIBUTES
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime import turns
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.machine.semantics.calls import after_call
from ptxloom.machine.semantics.ordering import sees_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Instrument
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import BasicBlock, Op, Program

_STRETCH: Final = 8  # instructions in one piece of code: longer ones cost more than their number


@dataclass(frozen=True, slots=True)
class Variant:
    """The code of a kernel for whole warps, or for parts of warps.

    Attributes:
        ir: The code.
        builder: Its builder.
        is_outlined: Whether some of its instructions are calls.
    """

    ir: str
    builder: Builder
    is_outlined: bool

    def serves(self, *, whole: bool, checks: frozenset[str], careful: bool) -> bool:
        """Whether it is the variant for such warps and tools."""
        return self.builder.whole == whole and self.builder.checks == checks and not (careful and self.is_outlined)


def translate(
    program: Program,
    *,
    whole: bool,
    checks: frozenset[str] = frozenset(),
    careful: bool = False,
    written_out: bool = False,
) -> Variant:
    """The IR of one variant.

    Args:
        program: The program to translate.
        whole: For warps whose lanes all run.
        checks: The tools that watch.
        careful: Whether to outline nothing.
        written_out: Whether strips are always unrolled.

    Raises:
        UnsupportedInstruction: The machine does not know an instruction.
    """
    several = _instruments(program, checks)
    b = Builder(program, whole, checks, Instruments(*several) if several else None)
    b.written_out = written_out
    b.follows = POISON in checks
    b.frees = "free" in called(program)
    if b.follows:
        _enter_resumed(b)
    else:
        b.do("br label %dispatch")
    _dispatch(b)
    seldom = Outlines(b)
    outlined = frozenset[int]() if several or careful else _outlined_blocks(program)
    for block in program.blocks:
        _block(b, block, seldom if block.number in outlined else None)
    dispatch = b.lines.index("dispatch:") + 1
    b.lines[dispatch:dispatch] = b.images.resets
    body = "\n".join((*b.images.allocas, *(b.images.resets if b.follows else ()), *b.lines))
    declarations = "\n".join(b.declarations.values())
    functions = "\n".join((*b.functions, *seldom.functions))
    ir = f"{declarations}\n{functions}\ndefine i32 @{SYMBOL}(ptr %w) #0 {{\nentry:\n{body}\n}}\n{ATTRIBUTES}"
    return Variant(ir, b, bool(seldom.functions))


def _instruments(program: Program, checks: frozenset[str]) -> list[Instrument]:
    """The instruments. Initcheck comes first, because the instruction restarts if it finds something."""
    traced = sites_in(checks)
    several: list[Instrument] = []
    if is_initcheck_wanted(checks):
        several.append(initcheck.Initcheck())
    if is_racecheck_wanted(checks):
        several.append(racecheck.Racecheck(checks, product_registers(program)))
    if PROFILE in checks:
        several.append(Profiling(program))
    if traced:
        several.append(Tracing(program, traced))
    if PROVENANCE in checks:
        several.append(Following(program, checks))
    if VARIABLES in checks:
        several.append(Overruns(program))
    if POISON in checks:
        several.append(Poisoning(program, semantics.find))
    return several


def _dispatch(b: Builder) -> None:
    """Jump to the block that the warp's state names, if this variant serves the running lanes.

    With any other value, execution stays in the function: a number that is not a block's ends the kernel.
    """
    b.label("dispatch")
    if b.follows:
        _dispatch_to_block(b)
        return
    all_ = b.compare("eq", b.load("i32", b.field("mask"), 4), Value("i32", "-1"))
    here, elsewhere = ("go", "switch") if b.whole else ("switch", "go")
    b.do(f"br {all_}, label %{here}, label %{elsewhere}")
    b.label("switch")
    b.do(f"ret i32 {turns.SWITCH}")
    _dispatch_to_block(b)


def _enter_resumed(b: Builder) -> None:
    """At the start of the function, jump to the instruction that the warp's state names, if any, else to the block."""
    place = b.field("resume")
    at = b.load("i32", place, 4)
    b.store(Value("i32", "0"), place, 4)
    sites = [op.site for op in b.program.ops if initcheck.brings_poison(op)]
    sites = [site for site in sites if site not in b.program.knowledge.uniform_ops]
    cases = " ".join(f"i32 {site + 1}, label %R{site}" for site in sites)
    b.do(f"switch {at}, label %dispatch [ {cases} ]")


def _dispatch_to_block(b: Builder) -> None:
    if not b.follows:
        b.label("go")
    at = b.load("i32", b.field("pc"), 4)
    b.within_budget(turns.DISPATCH_COST, at, "enter")
    b.label("enter")
    labels = " ".join(f"i32 {block.number}, label %B{block.number}" for block in b.program.blocks)
    b.do(f"switch {at}, label %lost [ {labels} ]")
    b.label("stop")
    none = b.compare("eq", b.load("i32", b.field("live"), 4), Value("i32", "0"))
    b.do(f"br {none}, label %done, label %blocked")
    for name, status in (
        ("done", turns.DONE),
        ("blocked", turns.BLOCKED),
        ("yield", turns.YIELD),
        ("fault", turns.FAULT),
        ("lost", turns.LOST),
    ):
        b.label(name)
        b.do(f"ret i32 {status}")


def _outlined_blocks(program: Program) -> frozenset[int]:
    """The blocks whose instructions are outlined: those that run once, if they are long."""
    blocks = unrepeated_blocks(program)
    return frozenset(b.number for b in blocks) if sum(len(b.ops) for b in blocks) >= lengths.LONG else frozenset()


def _block(b: Builder, block: BasicBlock, outlines: Outlines | None) -> None:
    """One block; its instructions outlined as far as they can be, if that is wanted."""
    b.block = block
    b.ended = False
    b.images.enter(block)
    b.label(f"B{block.number}")
    b.mask = Value("i32", "-1") if b.whole else b.load("i32", b.field("mask"), 4)
    if block.ops:
        counter = b.field("instructions")
        b.store(b.apply("add", b.load("i64", counter, 8), Value("i64", str(len(block.ops)))), counter, 8)
    rows = [semantics.find(op) for op in block.ops]
    b.entered = b.whole or not _may_wait(rows)  # else `converge` says it, once the lanes have come together
    if b.entered:
        b.instruments.enter(b)
    start = len(b.lines)
    if block.after is not None:
        b.begin(block.after)
        after_call(b, block.after)
    _instructions(b, block, rows, start, outlines)
    if not b.ended:
        b.goto(b.following)


def _instructions(
    b: Builder, block: BasicBlock, rows: Sequence[Row | None], start: int, outlines: Outlines | None
) -> None:
    """The instructions of a block; suitable ones in runs, strip by strip."""
    run: list[tuple[Op, Row]] = []
    pieces = 0
    unmade = {sum_.site for sum_ in b.sums.values()}
    for op, row in zip(block.ops, rows, strict=True):
        interrupts.check()
        if op.site in unmade:
            continue
        if row is None:
            raise semantics.missing(op)
        uniform = op.site in b.program.knowledge.uniform_ops
        if not uniform and strips.fits(b, op, row):
            if outlines is not None:  # for the whole of a block: nothing is left for a run
                outlines.call(op, row)
                continue
            run.append((op, row))
            if len(run) == strips.LONGEST:
                strips.build(b, run)
                run.clear()
            continue
        if not uniform:  # uniform instructions depend on nothing in the run, and can come before it
            strips.build(b, run)
            run.clear()
        pieces += 1
        if pieces % _STRETCH == 0:
            following = b.fresh("L")
            b.do(f"br label %{following}")
            b.label(following)
        _instruction(b, op, row, start)
    strips.build(b, run)


def _instruction(b: Builder, op: Op, row: Row, start: int) -> None:
    """One instruction with its instruments; `start` is the first line of its block."""
    if b.follows and initcheck.brings_poison(op):
        _resume_here(b, op)
    b.begin(op)
    if b.entered:
        b.instruments.before(b)
    row.build(b, op)
    if b.frees and sees_others(op):
        b.runtime(lane_access.notice_frees, W)
    if not b.entered:
        _enter_late(b, start)
    if not b.ended:
        b.instruments.after(b)


def _resume_here(b: Builder, op: Op) -> None:
    """An entry at which warps that have just found poison continue."""
    b.do(f"br label %R{op.site}")
    b.label(f"R{op.site}")
    b.mask = b.load("i32", b.field("mask"), 4)


def _may_wait(rows: Sequence[Row | None]) -> bool:
    """Whether lanes may have to wait at the start of a block of these rows."""
    return bool(rows) and rows[0] is not None and rows[0].starts


def _enter_late(b: Builder, start: int) -> None:
    """The first instruction did not have to wait: notify instruments as of the block's first line."""
    built, b.lines = b.lines, []
    b.entered = True
    b.instruments.enter(b)
    b.instruments.before(b)
    b.lines = [*built[:start], *b.lines, *built[start:]]
