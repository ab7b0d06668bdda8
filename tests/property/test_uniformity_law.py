"""Uniformity against the machine: what the analysis says of a register is so in every execution of random kernels.

The kernels branch, loop, leave loops and end early as compilers arrange it: what comes later stands further down, so
that the machine brings lanes together again where the analysis takes it that they do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ptxloom.flow import flow_graphs
from ptxloom.flow.uniformity import Uniformity
from ptxloom.machine import kernel
from ptxloom.machine.results.trace import Trace
from ptxloom.syntax import parse
from sweeps import examples

if TYPE_CHECKING:
    from ptxloom.machine.results.trace import TraceRecord
    from ptxloom.readings.bits import Bits

REGISTERS = [f"%r{n}" for n in range(6)]
CONSTANTS = ("0", "1", "2", "3", "5", "31", "32", "33", "63", "64", "96", "128", "1024", "-1", "-32", "0x55555555")
SPECIAL = ("%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x", "%ntid.x", "%ntid.y", "%lanemask_lt", "%warpid")
BINARY = (
    *("add.u32", "add.s32", "sub.s32", "and.b32", "or.b32", "xor.b32", "mul.lo.u32", "mul.lo.s32", "min.s32"),
    *("max.u32", "shl.b32", "shr.u32", "shr.s32", "div.u32", "rem.u32", "div.s32", "mul.hi.u32", "mul24.lo.u32"),
)
COMPARISONS = ("eq.u32", "ne.s32", "lt.u32", "lt.s32", "le.u32", "gt.s32", "ge.s32", "ge.u32", "lo.u32", "hs.u32")
CROSSING = (
    *("shfl.sync.idx.b32 {d}, {a}, 3, 31, -1;", "shfl.sync.idx.b32 {d}, {a}, 3, 0x181f, -1;"),
    *("shfl.sync.bfly.b32 {d}, {a}, 1, 31, -1;", "redux.sync.or.b32 {d}, {a}, -1;", "activemask.b32 {d};"),
    *("vote.sync.ballot.b32 {d}, %p0, -1;", "match.any.sync.b32 {d}, {a}, -1;"),
)
LOADS = (
    *("and.b32 {d}, {a}, 60; ld.shared.u32 {d}, [{d}];", "ld.shared.u8 {d}, [tile+7];", "ld.param.u32 {d}, [n];"),
    *("and.b32 {d}, {a}, 12; ld.local.u32 {d}, [own];", "st.local.u32 [own+4], {a};", "st.shared.u32 [tile+8], {b};"),
    *("mov.u32 %base, tile; and.b32 {d}, {a}, 60; add.u32 {d}, {d}, %base; st.shared.u32 [{d}], {b};",),
    *("ld.shared.u32 {d}, [tile+4];",),
)
WIDE = (
    *(
        "mov.b64 %d0, {{{a}, {b}}}; shl.b64 %d1, %d0, 7; mov.b64 {{{d}, %r9}}, %d1;",
        "cvt.u16.u32 %h0, {a}; cvt.s32.s16 {d}, %h0;",
    ),
    *("mul.wide.s32 %d0, {a}, {b}; shr.s64 %d1, %d0, 5; cvt.u32.u64 {d}, %d1;", "cvt.s32.s8 {d}, {a};"),
    *("cvt.u64.u32 %d0, {a}; add.s64 %d1, %d0, -32; shr.u64 %d0, %d1, 5; cvt.u32.u64 {d}, %d0;", "popc.b32 {d}, {a};"),
    *(
        "mad.wide.u32 %d0, {a}, {b}, %d1; cvt.u32.u64 {d}, %d0;",
        "bfe.s32 {d}, {a}, 3, 6;",
        "bfi.b32 {d}, {a}, {b}, 4, 3;",
    ),
)
BLOCKS = (
    *(((64, 1, 1), ""), ((32, 2, 1), ""), ((96, 1, 1), ""), ((64, 1, 1), ".reqntid 64"), ((40, 1, 1), ".reqntid 40")),
    *(((16, 4, 1), ".reqntid 16, 4"), ((24, 3, 1), ".reqntid 24, 3"), ((4, 4, 4), ".reqntid 4, 4, 4")),
    *(((8, 3, 2), ".reqntid 8, 3, 2"), ((32, 1, 2), ".reqntid 32, 1, 2"), ((2, 16, 2), ".reqntid 2, 16, 2")),
)
HEAD = """.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 room, .param .u32 n) {directives}
{{
.reg .pred %p<4>; .reg .b32 %r<10>, %base; .reg .b64 %d<2>; .reg .b16 %h0;
.shared .align 16 .b8 tile[64]; .local .b8 own[16];
{start}
"""


@dataclass
class Writer:
    """A kernel being drawn."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    labels: int = 0

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"L{self.labels}"

    def pick(self, *choices: str) -> str:
        """One of several."""
        return self.draw(st.sampled_from(choices))

    def operand(self) -> str:
        """A register or a constant."""
        return self.pick(*REGISTERS, *CONSTANTS)

    def guard(self) -> str:
        """A guard, perhaps."""
        return self.pick("", "", "", "@%p0 ", "@!%p1 ", "@%p2 ")

    def instruction(self, *, whole: bool) -> None:
        """One instruction, or a few that belong together."""
        destination, a, b = self.pick(*REGISTERS), self.pick(*REGISTERS), self.operand()
        kind = self.draw(st.integers(0, 13))
        guard = self.guard()
        if kind < 4:
            self.lines.append(f"{guard}{self.pick(*BINARY)} {destination}, {a}, {b};")
        elif kind == 4:
            self.lines.append(f"{guard}mov.u32 {destination}, {self.pick(*SPECIAL, *CONSTANTS)};")
        elif kind < 8:
            p, q = self.pick("%p0", "%p1", "%p2"), self.pick("%p0", "%p1", "%p2")
            tail = self.pick("", "", f".and|, {q}", f".xor|, !{q}")
            combined, _, rest = tail.partition("|")
            compare, kind_of = self.pick(*COMPARISONS).split(".")
            pair = self.pick(p, f"{p}|%p3")
            self.lines.append(f"{guard}setp.{compare}{combined}.{kind_of} {pair}, {a}, {b}{rest};")
        elif kind == 8:
            self.lines.append(f"{guard}selp.b32 {destination}, {a}, {b}, {self.pick('%p0', '%p1', '%p3')};")
        elif kind == 9:
            text = self.pick(f"lop3.b32 {destination}, {a}, {b}, %r1, {self.draw(st.integers(0, 255))};", "")
            self.lines.append(text or f"{guard}mad.lo.u32 {destination}, {a}, {b}, {self.pick(*REGISTERS)};")
        elif kind == 10:
            self.lines.append(self.pick("not.b32", "neg.s32", "brev.b32") + f" {destination}, {a};")
        elif kind == 11 and whole:
            self.lines.append(self.pick(*CROSSING).format(d=destination, a=a))
        elif kind == 12:
            self.lines.append(self.pick(*LOADS).format(d=destination, a=a, b=self.pick(*REGISTERS)))
        else:
            self.lines.append(self.pick(*WIDE).format(d=destination, a=a, b=self.pick(*REGISTERS)))

    def body(self, depth: int, leave: str, *, whole: bool) -> None:
        """Statements in a row."""
        for _ in range(self.draw(st.integers(1, 5))):
            kind = self.draw(st.integers(0, 9)) if depth else 0
            if kind == 9:
                self.loop(depth - 1)
            elif kind > 6:
                self.choice(depth - 1, leave)
            elif kind == 6 and leave:
                self.lines.append(f"{self.pick('@%p0', '@!%p1', '@%p2')} bra {leave};")
            else:
                self.instruction(whole=whole)

    def choice(self, depth: int, leave: str) -> None:
        """An `if`, perhaps with an `else`."""
        other, after = self.label(), self.label()
        self.lines.append(f"{self.pick('@%p0', '@!%p0', '@%p1', '@%p2')} bra {other};")
        self.body(depth, leave, whole=False)
        if self.draw(st.booleans()):
            self.lines.append(f"bra {after};")
            self.lines.append(f"{other}:")
            self.body(depth, leave, whole=False)
        else:
            self.lines.append(f"{other}:")
        self.lines.append(f"{after}:")

    def loop(self, depth: int) -> None:
        """A loop of a few rounds, as many in all lanes or not; lanes may leave it earlier or begin its next round."""
        again, after, latch = self.label(), self.label(), self.label()
        counter, bound = f"%c{self.labels}", f"%b{self.labels}"
        self.lines.append(f"{{ .reg .u32 {counter}, {bound}; .reg .pred %q; mov.u32 {counter}, 0;")
        self.lines.append(f"and.b32 {bound}, {self.pick(*REGISTERS)}, 3;")
        self.lines.append(f"{again}:")
        self.body(depth, self.pick(after, latch), whole=False)
        self.lines.append(f"{latch}: add.u32 {counter}, {counter}, 1; setp.lt.u32 %q, {counter}, {bound};")
        self.lines.append(f"@%q bra {again}; {after}: }}")


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, tuple[int, int, int]]:
    """A kernel, and the CTA that it is made for."""
    block, directives = draw(st.sampled_from(BLOCKS))
    writer = Writer(draw)
    special = ("%tid.x", "%ctaid.x", *draw(st.lists(st.sampled_from(SPECIAL), min_size=4, max_size=4)))
    start = [f"mov.u32 {name}, {source};" for name, source in zip(REGISTERS, special, strict=True)]
    start += ["mov.u32 %r9, 0; mov.b64 %d0, 0; mov.b64 %d1, 0; setp.eq.u32 %p0, %r0, 3; setp.lt.u32 %p1, %r0, 32;"]
    start += ["setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p3, %r2, 0; st.local.u32 [own], %r0; st.local.u32 [own+4], %r1;"]
    start += ["st.local.u32 [own+8], 3; st.local.u32 [own+12], %r2;"]
    writer.body(3, "", whole=True)
    ended = "@%p2 exit;" if draw(st.booleans()) else ""
    writer.lines += [ended, *(f"mov.b32 {name}, {name};" for name in REGISTERS), "ret;\n}"]
    return HEAD.format(directives=directives, start="\n".join(start)) + "\n".join(writer.lines), block


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.generate],
)
@given(programs())
def test_what_is_said_to_be_shared_is_shared(program: tuple[str, tuple[int, int, int]]) -> None:
    text, block = program
    module = parse(text)
    assert module.diagnostics == ()
    lanes = Uniformity(flow_graphs(module)[0])
    traced = kernel(module, "k").launch(2, block, [np.arange(16, dtype=np.uint64), 5], trace=[Trace("*", blocks="all")])
    assert traced.trace
    for record in traced.trace:
        _compare(record, lanes)


def _compare(record: TraceRecord, lanes: Uniformity) -> None:
    """Every register that a record read against what the analysis claims of it."""
    at = lanes.graph.block_at(record.node.start)
    assert at is not None
    position = next(place for place, one in enumerate(at.instructions) if one.start == record.node.start)
    active = list(record.lanes)
    for name, values in record.before.items():
        said = lanes.register(at.number, position, name)
        here = [int(values[lane]) for lane in active]
        width = 1 if values.dtype == np.bool_ else values.dtype.itemsize * 8
        wrong = [f"{value:#x}" for value in here if not _fits(value, here[0], said, width)]
        assert not wrong, f"{record.line}: {record.instruction} {name}: {said} against {here}"


def _fits(value: int, first: int, said: Bits, width: int) -> bool:
    inside = (1 << width) - 1
    return not (value & said.zeros & inside or ~value & said.ones & inside or (value ^ first) & ~said.varies & inside)
