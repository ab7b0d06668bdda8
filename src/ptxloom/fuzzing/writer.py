"""Writes programs as PTX: one kernel of one or many, CTA by CTA; each stores all its registers and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.conformance.operands import EVERY_LANE
from ptxloom.fuzzing.banks import BANKS, BLOCK, CELL_BYTES, CELLS, FRAME_BYTES, SHARED_BYTES, named_in
from ptxloom.fuzzing.engines import MAP_BYTES, MAPS, TEXTURE
from ptxloom.fuzzing.nodes import CLUSTER, Fork, Invoke, Program, Repeat, Step, Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.fuzzing.banks import Bank
    from ptxloom.fuzzing.nodes import Node, Region
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

KERNEL: Final = "k"
"""The kernel's name."""
_OPENING: Final = f"""\
.reg .b64 %in, %out, %ag, %as, %al, %gg, %gs, %zw, %v; .reg .b32 %t, %c, %n;
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;
ld.param.u64 %in, [in_]; ld.param.u64 %out, [out_]; cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;
mad.wide.u32 %in, %t, {FRAME_BYTES}, %in;
mad.lo.u32 %n, %c, {BLOCK}, %t; mad.wide.u32 %out, %n, {FRAME_BYTES}, %out;
"""
_SHARED_CELLS: Final = (
    f"mul.wide.u32 %as, %t, {CELL_BYTES}; mov.u64 %v, area; add.u64 %as, %as, %v; cvta.shared.u64 %gs, %as;\n"
    f"and.b32 %n, %t, {BLOCK - 32}; mul.wide.u32 %zw, %n, {CELL_BYTES}; add.u64 %zw, %zw, %v;\n"
)
_LOCAL_CELL: Final = f".local .align {CELL_BYTES} .b8 own[{CELL_BYTES}]; mov.u64 %al, own;\n"
_SPACES: Final = {"ag": "global", "as": "shared", "al": "local"}
RESULT: Final = ".param .align 8 .b8"


def module_text(
    programs: Sequence[Program], target: Target, version: PtxVersion, beside: Sequence[Program] = ()
) -> str:
    """A module whose one kernel runs each program in a CTA, or a cluster, of its own.

    Args:
        programs: The programs.
        target: The module's target.
        version: The version of PTX.
        beside: Other programs, whose banks and cells are loaded and stored as well.
    """
    writer = _Writer()
    kernel = writer.kernel(programs, {name for one in beside for name in names_of(one)})
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    if f" {MAPS};" in kernel:
        size = MAP_BYTES * len(programs) * (CLUSTER if programs[0].clustered else 1)
        head += f".global .align {MAP_BYTES} .b8 {MAPS}[{size}];\n"
    return f"{head}.shared .align 1024 .b8 area[{SHARED_BYTES}];\n{''.join(writer.functions)}{kernel}"


def names_of(program: Program) -> set[str]:
    """The banks and cells that a program itself uses."""
    return named_in(_Writer().region(program.body))


class _Writer:
    def __init__(self) -> None:
        self.functions: list[str] = []
        self._next = 0

    def fresh(self) -> int:
        self._next += 1
        return self._next

    def kernel(self, programs: Sequence[Program], more: set[str]) -> str:
        bodies = [self.region(one.body) for one in programs]
        used = named_in(" ".join(bodies)) | more
        clustered = programs[0].clustered
        head = f".explicitcluster .reqnctapercluster {CLUSTER}, 1, 1 " if clustered else ""
        texture = f", .param .u64 {TEXTURE}" if any(f"[{TEXTURE}]" in body for body in bodies) else ""
        lines = [f".visible .entry {KERNEL}(.param .u64 out_, .param .u64 in_{texture}) {head}\n{{\n", _OPENING]
        lines += [_declared(used), _cells(used), _fetched(used)]
        if len(bodies) == 1:
            lines.append(bodies[0])
        else:
            number = f"shr.u32 %c, %c, {CLUSTER.bit_length() - 1};\n" if clustered else ""
            names = ", ".join(f"P{at}" for at in range(len(bodies)))
            lines.append(f"{number}all: .branchtargets {names};\nbrx.idx %c, all;\n")
            lines += [f"P{at}:\n{body}bra.uni done;\n" for at, body in enumerate(bodies)]
            lines.append("done:\n")
        return "".join([*lines, _left(used), "ret;\n}\n"])

    def region(self, region: Region) -> str:
        return "".join(map(self.node, region))

    def node(self, node: Node) -> str:
        match node:
            case Step(text, guard):
                return f"{guard}{text}\n"
            case Fork():
                text = self._fork(node)
            case Repeat():
                text = self._repeat(node)
            case Switch():
                text = self._switch(node)
            case Invoke():
                text = self._invoke(node)
        return f"{text}bar.warp.sync {EVERY_LANE};\n" if node.joined else text

    def _fork(self, node: Fork) -> str:
        at = self.fresh()
        bodies = [self.region(body) for body in node.bodies]
        predicate, opening = node.predicate, ""
        if node.voted:
            opening, predicate = f".reg .pred %q; vote.sync.any.pred %q, {predicate}, {EVERY_LANE};\n", "%q"
        if len(bodies) == 1:
            return f"{{ {opening}@!{predicate} bra F{at};\n{bodies[0]}F{at}:\n}}\n"
        then, other = bodies
        return f"{{ {opening}@!{predicate} bra F{at};\n{then}bra G{at};\nF{at}:\n{other}G{at}:\n}}\n"

    def _repeat(self, node: Repeat) -> str:
        at = self.fresh()
        body = self.region(node.bodies[0])
        if not node.counted_by:
            return (
                f"{{ .reg .b32 %i; .reg .pred %q; mov.u32 %i, 0;\nL{at}:\n{body}"
                f"add.u32 %i, %i, 1; setp.lt.u32 %q, %i, {node.times}; @%q bra L{at};\n}}\n"
            )
        return (
            f"{{ .reg .b32 %i; .reg .pred %q; and.b32 %i, {node.counted_by}, 3;\nL{at}:\n"
            f"setp.eq.u32 %q, %i, 0; @%q bra M{at};\n{body}sub.u32 %i, %i, 1; bra L{at};\nM{at}:\n}}\n"
        )

    def _switch(self, node: Switch) -> str:
        at, count = self.fresh(), len(node.bodies)
        names = ", ".join(f"S{at}_{arm}" for arm in range(count))
        arms = "".join(f"S{at}_{arm}:\n{self.region(body)}bra E{at};\n" for arm, body in enumerate(node.bodies))
        return (
            f"{{ .reg .b32 %s; T{at}: .branchtargets {names};\n"
            f"and.b32 %s, {node.selector}, {count - 1}; brx.idx %s, T{at};\n{arms}E{at}:\n}}\n"
        )

    def _invoke(self, node: Invoke) -> str:
        at = self.fresh()
        self._function(at, self.region(node.bodies[0]))
        a, b, c = node.given
        w, d, f = node.taken
        given = f".param .b32 a{at}; .param .b64 b{at}; .param .b32 c{at}; {RESULT} r{at}[24];"
        put = f"st.param.b32 [a{at}], {a}; st.param.b64 [b{at}], {b}; st.param.b32 [c{at}], {c};"
        call = f"call (r{at}), f{at}, (a{at}, b{at}, c{at});"
        if node.by_address:
            shape = f"({RESULT} _[24]) _ (.param .b32 _, .param .b64 _, .param .b32 _)"
            address = f".reg .b64 %j; mov.u64 %j, f{at}; C{at}: .callprototype {shape};\n"
            call = f"{address}call (r{at}), %j, (a{at}, b{at}, c{at}), C{at};"
        got = f"ld.param.b32 {w}, [r{at}]; ld.param.b64 {d}, [r{at}+8]; ld.param.b32 {f}, [r{at}+16];"
        return f"{{ {given}\n{put}\n{call}\n{got}\n}}\n"

    def _function(self, number: int, body: str) -> None:
        """A function with banks of its own, initialised from its arguments."""
        used = named_in(body) | {"w", "d", "f"}
        first = "".join(begun(BANKS[letter]) for letter in sorted(used))
        self.functions.append(
            f".func ({RESULT} r[24]) f{number}(.param .b32 a, .param .b64 b, .param .b32 c)\n{{\n"
            f".reg .b32 %a, %c, %n; .reg .b64 %b; .reg .b16 %m; {_declared(used)}"
            f"ld.param.b32 %a, [a]; ld.param.b64 %b, [b]; ld.param.b32 %c, [c];\n{first}{body}"
            "st.param.b32 [r], %w1; st.param.b32 [r+4], %w0; st.param.b64 [r+8], %d0; st.param.b32 [r+16], %f0;\n"
            "ret;\n}\n"
        )


def begun(bank: Bank) -> str:
    """The initial registers of a function: its arguments, each changed a little from the previous one."""
    lines: list[str] = []
    for at, name in enumerate(bank):
        match bank.letter:
            case "w" | "x":
                lines.append(f"xor.b32 {name}, %a, {0x9E3779B9 * at & 0xFFFFFFFF};")
            case "f":
                lines.append(f"xor.b32 %n, %c, {at << 20}; mov.b32 {name}, %n;")
            case "d":
                lines.append(f"xor.b64 {name}, %b, {0x9E3779B9 * at};")
            case "e":
                lines.append(f"mov.b64 {name}, %b;")
            case "h":
                lines.append(f"cvt.u16.u32 {name}, %a;")
            case "k":
                lines.append(f"cvt.u16.u32 %m, %a; mov.b16 {name}, %m;")
            case _:
                lines.append(f"and.b32 %n, %a, {1 << at}; setp.ne.u32 {name}, %n, 0;")
    return "".join(lines) + "\n"


def _banks(used: Iterable[str]) -> list[Bank]:
    return [BANKS[letter] for letter in sorted(used) if letter in BANKS]


def _declared(used: Iterable[str]) -> str:
    return "".join(f".reg .{bank.kind} %{bank.letter}<{bank.count}>; " for bank in _banks(used)) + "\n"


def _cells(used: set[str]) -> str:
    """Set the addresses of used cells, and load their inputs."""
    lines: list[str] = []
    if "ag" in used:
        lines.append(f"add.u64 %ag, %out, {CELLS['ag']}; cvta.global.u64 %gg, %ag;\n")
    if "as" in used:
        lines.append(_SHARED_CELLS)
    if "al" in used:
        lines.append(_LOCAL_CELL)
    if lines:
        lines.append(".reg .b64 %y<2>; ")
    for cell in CELLS:
        if cell in used:
            lines += _copied(f"global [%in+{CELLS[cell]}", f"{_SPACES[cell]} [%{cell}")
    if "as" in used:
        lines.append("bar.sync 0;\n")
    return "".join(lines)


def _copied(source: str, target: str) -> list[str]:
    """A cell, 16 bytes at a time."""
    (space, at), (to, there) = source.split(), target.split()
    return [f"ld.{space}.v2.b64 {{%y0, %y1}}, {at}+{n}]; st.{to}.v2.b64 {there}+{n}], {{%y0, %y1}};\n" for n in (0, 16)]


def _vector(bank: Bank) -> str:
    return "{" + ", ".join(bank) + "}"


def _fetched(used: set[str]) -> str:
    lines: list[str] = []
    for bank in _banks(used):
        if bank.bits == 1:
            lines.append(f"{{ .reg .b32 %y<4>; ld.global.v4.b32 {{%y0, %y1, %y2, %y3}}, [%in+{bank.offset}];\n")
            lines += [f"and.b32 %y{at}, %y{at}, 1; setp.ne.u32 {name}, %y{at}, 0; " for at, name in enumerate(bank)]
            lines.append("}\n")
        else:
            lines.append(f"ld.global.v{bank.count}.b{bank.bits} {_vector(bank)}, [%in+{bank.offset}];\n")
    return "".join(lines)


def _left(used: set[str]) -> str:
    """Store all registers and cells to the thread's frame in `out`."""
    lines = ["bar.sync 0;\n"] if "as" in used else []
    for bank in _banks(used):
        if bank.bits == 1:
            made = "".join(f"selp.b32 %y{at}, 1, 0, {name}; " for at, name in enumerate(bank))
            stored = f"st.global.v4.b32 [%out+{bank.offset}], {{%y0, %y1, %y2, %y3}};"
            lines.append(f"{{ .reg .b32 %y<4>; {made}\n{stored} }}\n")
        else:
            lines.append(f"st.global.v{bank.count}.b{bank.bits} [%out+{bank.offset}], {_vector(bank)};\n")
    for cell in ("as", "al"):
        if cell in used:
            lines += _copied(f"{_SPACES[cell]} [%{cell}", f"global [%out+{CELLS[cell]}")
    return "".join(lines)
