"""PTX that runs opcode cases over their input pools: thread i takes element i of each pool.

Operands travel as 64-bit patterns, so that every case reads and writes memory alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from machine.opcode_inputs import CELLS, INPUTS, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from machine.opcode_cases import Case

HEADER = (
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    + "".join(
        f".{space} .align 8 .b8 {space}_cells[{8 * count}];\n.{space} .align 16 .b8 {space}_stretches[{16 * count}];\n"
        for space, count in CELLS.items()
    )
    + f".shared .align 16 .b8 parts[{16 * CELLS['shared']}];\n.shared .align 8 .b64 bars[{CELLS['shared']}];\n"
)
_OPENING = """{
.reg .b64 at, address, raw, wide; .reg .b32 t, n, i;
mov.u32 t, %tid.x; mov.u32 n, %ntid.x; mov.u32 i, %ctaid.x; mad.lo.u32 t, i, n, t; mul.wide.u32 at, t, 8;
"""


def pool_kind(kind: str) -> str:
    """The input pool an operand draws from: signed, unsigned and untyped integers share theirs."""
    return kind if kind[0] in {"f", "p"} or kind.startswith("bf") else f"b{width_of(kind)}"


def pools(cases: Iterable[Case]) -> tuple[tuple[str, int], ...]:
    """The (kind, position) of every pool that the cases draw from, each once."""
    return tuple(dict.fromkeys((pool_kind(kind), at) for case in cases for at, kind in enumerate(case.sources)))


def kernel(name: str, cases: tuple[Case, ...]) -> str:
    """PTX of an entry that runs the cases one after the other.

    Its parameters are `out`, (cases, INPUTS) uint64, and a pointer for each of `pools(cases)`, (INPUTS,) uint64.
    """
    needed = pools(cases)
    params = ", ".join(f".param .u64 {p}" for p in ("out", *(_parameter(kind, at) for kind, at in needed)))
    bodies = "".join(_body(case, 8 * INPUTS * n) for n, case in enumerate(cases))
    cluster = " .explicitcluster .reqnctapercluster 1" if "shared::cluster" in bodies else ""  # or it cannot be reached
    return f".visible .entry {name}({params}){cluster}\n{_OPENING}{bodies}ret;\n}}\n"


def statement(case: Case) -> str:
    """A case on the registers `a`, `b` and `c`, its result zero-extended in `wide`; declares `d`."""
    width = width_of(case.destination)
    result = f".reg .{'pred' if width == 1 else f'b{max(width, 16)}'} d;"
    return "\n".join((result, case.text.format(d="d", a="a", b="b", c="c"), _pack(width)))


def _parameter(kind: str, position: int) -> str:
    return f"{kind}_{position}"


def _body(case: Case, offset: int) -> str:
    lines = ["{"]
    for at, (letter, kind) in enumerate(zip("abc", case.sources, strict=False)):
        parameter = _parameter(pool_kind(kind), at)
        lines.append(f"ld.param.u64 address, [{parameter}]; add.u64 address, address, at;")
        lines.append(_fetch(letter, kind))
    lines.append(statement(case))
    lines.append(f"ld.param.u64 address, [out]; add.u64 address, address, at; st.global.b64 [address+{offset}], wide;")
    return "\n".join([*lines, "}", ""])


def _fetch(letter: str, kind: str) -> str:
    """Load an operand in its own width.

    Not in 64 bits to be cut down: ptxas 13.0 and 13.5 then take the wrong upper half for atom.shared.add.noftz.f16x2.
    """
    width = 32 if kind == "count" else width_of(kind)
    if width == 1:
        return f".reg .pred {letter}; ld.global.b64 raw, [address]; setp.ne.b64 {letter}, raw, 0;"
    width = max(width, 16)
    return f".reg .b{width} {letter}; ld.global.b{width} {letter}, [address];"


def _pack(width: int) -> str:
    if width == 1:
        return "selp.b64 wide, 1, 0, d;"
    return "mov.b64 wide, d;" if width == 64 else f"cvt.u64.u{max(width, 16)} wide, d;"
