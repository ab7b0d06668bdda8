"""A kernel of one instruction: inputs from arrays, the instruction, results to an array; one text for every judge.

Parameters: `out`, `in`. Thread `t` of `threads` reads its input register number r at `in + 8 (r threads + t)`, and
stores its result number r at `out + 8 (r threads + t)`, each as 64 bits. Cells of memory, 32 bytes a thread, follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.conformance.operands import CELL_BYTES, EVERY_LANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.conformance.operands import Operand
    from ptxloom.conformance.paths import Path
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

BLOCK: Final = 128
"""Threads of a CTA."""

_WORDS: Final = CELL_BYTES // 8
_OPENING: Final = (
    ".reg .b64 at, at_, in, out, cell, word; .reg .b32 t, n, i, low;\n"
    "mov.u32 t, %tid.x; mov.u32 n, %ntid.x; mov.u32 i, %ctaid.x; mad.lo.u32 i, i, n, t; mul.wide.u32 at, i, 8;\n"
    "ld.param.u64 in, [in_]; ld.param.u64 out, [out_];\n"
    "cvta.to.global.u64 in, in; cvta.to.global.u64 out, out;\n"
)


def module_text(version: PtxVersion, target: Target, kernels: Iterable[str]) -> str:
    """A module of kernels."""
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return f"{head}.shared .align 1024 .b8 cells[{CELL_BYTES * BLOCK}];\n{''.join(kernels)}"


def kernel_text(name: str, path: Path, threads: int) -> str:
    """The kernel of a path for a number of threads."""
    body = "".join(_body(path, threads))
    return f".visible .entry {name}(.param .u64 out_, .param .u64 in_) {{\n{_OPENING}{body}ret;\n}}\n"


def inputs_of(path: Path) -> int:
    """The number of a thread's input registers."""
    return sum(one.registers for one in path.operands if one.role == "drawn") + path.reads_carry


def results_of(path: Path) -> int:
    """The number of a thread's results, without cells."""
    return sum(one.registers for one in path.operands if one.role == "kept") + path.writes_carry


def statement(path: Path) -> str:
    """The instruction itself."""
    texts: list[str] = []
    for slot in path.slots:
        text = f"[{_spelled(slot.operand)}]" if slot.bracketed else _spelled(slot.operand)
        texts.append(text + (f"|{_spelled(slot.partner)}" if slot.partner is not None else ""))
    return f"{path.form.spelling} {', '.join(texts)};"


def _spelled(operand: Operand) -> str:
    if operand.role == "text":
        return operand.text
    if operand.role == "cell":
        return "cell"
    names = [f"{operand.name}_{at}" for at in range(operand.registers)]
    return "{" + ", ".join(names) + "}" if operand.braced else names[0]


def _body(path: Path, threads: int) -> Iterator[str]:
    yield from _given(path, threads)
    cell = path.cell
    if cell is not None:
        yield from _placed(cell, 8 * threads * inputs_of(path), 8 * threads * results_of(path))
    yield f"{statement(path)}\n"
    yield from _left(path, threads)
    if cell is not None and cell.home != "global":
        yield _returned(cell)


def _given(path: Path, threads: int) -> Iterator[str]:
    """Declare registers, and load their inputs."""
    at = 0
    for operand in path.operands:
        if operand.role in {"drawn", "kept"}:
            yield f".reg .{operand.register_type} {operand.name}_<{operand.registers}>;\n"
        for number in range(operand.registers if operand.role == "drawn" else 0):
            yield _fetched(operand, number, 8 * threads * at)
            at += 1
    if path.reads_carry:
        yield f"add.u64 word, in, at; ld.global.b32 low, [word+{8 * threads * at}];\n"
        yield "neg.s32 low, low; add.cc.u32 low, low, low;\n"


def _left(path: Path, threads: int) -> Iterator[str]:
    """Store the results."""
    at = 0
    if path.writes_carry:
        yield ".reg .b32 carry; addc.u32 carry, 0, 0;\n"
    for operand in path.operands:
        for number in range(operand.registers if operand.role == "kept" else 0):
            yield _stored(operand, number, 8 * threads * at)
            at += 1
    if path.writes_carry:
        yield f"cvt.u64.u32 word, carry; add.u64 at_, out, at; st.global.b64 [at_+{8 * threads * at}], word;\n"


def _fetched(operand: Operand, number: int, offset: int) -> str:
    name, bits = f"{operand.name}_{number}", operand.register_bits
    if bits == 1:
        return f"add.u64 word, in, at; ld.global.b32 low, [word+{offset}]; setp.ne.b32 {name}, low, 0;\n"
    return f"add.u64 word, in, at; ld.global.b{bits} {name}, [word+{offset}];\n"


def _stored(operand: Operand, number: int, offset: int) -> str:
    name, bits = f"{operand.name}_{number}", operand.register_bits
    if bits == 1:
        made = f"selp.b64 word, 1, 0, {name};"
    elif bits == 64:
        made = f"mov.b64 word, {name};"
    elif bits == 8:
        made = f"cvt.u64.u8 word, {name};"
    else:
        made = f"cvt.u64.u{bits} word, {name};"
    return f"{made} add.u64 at_, out, at; st.global.b64 [at_+{offset}], word;\n"


def _copied(source: str, target: str) -> str:
    """Copy the cell at the first `space [register]` to the second."""
    (space, at), (to, there) = source.split(), target.split()
    return "".join(f"ld.{space}.b64 word, [{at}+{8 * n}]; st.{to}.b64 [{there}+{8 * n}], word; " for n in range(_WORDS))


def _placed(cell: Operand, given: int, left: int) -> Iterator[str]:
    """`cell` is the address of the thread's cell, with the input in it; `home` is the address for its result."""
    yield ".reg .b64 source, mine, home; mul.wide.u32 mine, i, 32;\n"
    yield f"add.u64 source, in, mine; add.u64 source, source, {given};\n"
    yield f"add.u64 home, out, mine; add.u64 home, home, {left};\n"
    space = _own(cell)
    if space == "global":
        yield "mov.b64 mine, home;\n"
    elif space == "local":
        yield f".local .align {CELL_BYTES} .b8 own[{CELL_BYTES}]; mov.u64 mine, own;\n"
    else:
        yield f"mul.wide.u32 mine, t, {CELL_BYTES}; mov.u64 word, cells; add.u64 mine, mine, word;\n"
    yield f"{_copied('global source', f'{space} mine')}bar.warp.sync {EVERY_LANE};\n"
    yield "mov.b64 cell, mine;\n" if cell.space else _unseen(space)
    if cell.whole:
        yield f"mov.u32 low, %laneid; mul.wide.u32 word, low, {CELL_BYTES}; sub.u64 cell, cell, word;\n"


def _unseen(space: str) -> str:
    """A generic address of `mine` whose space no compiler can infer."""
    hidden = f"cvta.{space}.u64 cell, mine; ld.global.b64 at_, [home]; st.volatile.global.b64 [home], cell; "
    return hidden + "ld.volatile.global.b64 cell, [home]; st.volatile.global.b64 [home], at_;\n"


def _own(cell: Operand) -> str:
    """The space of a cell, as named in `ld` and `st`."""
    return cell.home.removesuffix("::cta")


def _returned(cell: Operand) -> str:
    """Copy the contents of the cell to the results."""
    return f"bar.warp.sync {EVERY_LANE};\n{_copied(f'{_own(cell)} mine', 'global home')}\n"
