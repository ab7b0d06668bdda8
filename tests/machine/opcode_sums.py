"""PTX that runs opcode cases over all their inputs, or 2^32 hashed ones, and gives sums of what comes out.

A sum is taken mod 2^64 over the outputs, each times an odd hash of its input's number: one wrong output is always
noticed, several all but always, wherever they are. Sums are kept level by level: of the first 2^16 inputs, of those
that follow up to 2^20, and so on; each level is spread over all inputs.
"""

from __future__ import annotations

import io
import json
import lzma
from typing import TYPE_CHECKING, Final

import numpy as np

from machine import opcode_draws
from machine.opcode_draws import declarations, draws, enumerated, masks, weight
from machine.opcode_inputs import CELLS
from machine.opcode_kernels import pool_kind, statement
from machine.opcode_recording import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from machine.opcode_cases import Case

LEVELS: Final = (16, 20, 24, 28, 32)  # inputs up to the end of each, as powers of two
BLOCK: Final = 256
SUMS: Final = FOLDER / "sums"
_OPENING: Final = """{
.reg .b32 t, rounds, step; .reg .b64 wide, out, at, address; .reg .pred more;
mov.u32 t, %ctaid.x; mov.u32 step, %ntid.x; mov.u32 rounds, %tid.x; mad.lo.u32 t, t, step, rounds;
mov.u32 rounds, %nctaid.x; mul.lo.u32 step, step, rounds; mul.wide.u32 at, t, 8;
ld.param.u64 out, [out_]; ld.param.u32 rounds, [rounds_];
"""
_FIRST: Final = "ld.param.u32 n, [first]; add.u32 n, n, t;\n"
_CLOSING: Final = "add.u32 n, n, step; sub.u32 rounds, rounds, 1; setp.ne.u32 more, rounds, 0; @more bra ROUND;\n"


def threads(case: Case) -> int:
    """How many threads run a case: no more than there are cells, where each has one of its own."""
    return CELLS["global"] if "_cells" in case.text else opcode_draws.THREADS


def level(case: Case) -> int:
    """The inputs of a case, as a power of two: all of them if they are at most 2^32.

    2^24 are enough where each goes to memory or to other threads.
    """
    bits = sum(map(opcode_draws.bits_of, operands(case)))
    most = 24 if "_cells" in case.text or "%laneid" in case.text else LEVELS[-1]
    return next(n for n in LEVELS if n >= min(bits, most))


def parts(case: Case, highest: int) -> Iterator[tuple[int, int]]:
    """Of each level up to `highest`, the number of its first input and how many rounds of `threads` it takes."""
    first = 0
    for power in LEVELS[: LEVELS.index(min(level(case), highest)) + 1]:
        yield first, ((1 << power) - first) // threads(case)
        first = 1 << power


def operands(case: Case) -> tuple[str, ...]:
    """What cases of one kernel have in common: the kinds of their operands."""
    return tuple(kind if kind == "count" else pool_kind(kind) for kind in case.sources)


def shapes(case: Case) -> list[np.ndarray]:
    """The arrays that a kernel takes: a shape for each operand, if these are not enumerated."""
    kinds = operands(case)
    return [] if enumerated(kinds) else [opcode_draws.shapes(kind, at) for at, kind in enumerate(kinds)]


def kernel(name: str, cases: tuple[Case, ...], *, whole: bool = False) -> str:
    """PTX of an entry that runs cases over the same operands, in rounds of as many inputs as there are threads.

    Its parameters are `out`, (cases,) uint64, to which the sums are added; the number of the first input; how many
    rounds; and `shapes` of a case. If `whole`, out is (cases, threads) uint64, the outputs of one round.
    """
    kinds = operands(cases[0])
    parameters = "".join(f", .param .u64 shape{at}" for at in range(0 if enumerated(kinds) else len(kinds)))
    sums = "".join(f".reg .b64 sum{at}; mov.b64 sum{at}, 0;\n" for at in range(len(cases)))
    rows = [8 * threads(cases[0]) * at if whole else None for at in range(len(cases))]
    body = "".join(_body(case, at, row) for at, (case, row) in enumerate(zip(cases, rows, strict=True)))
    ending = "".join(f"red.global.add.u64 [out+{8 * at}], sum{at};\n" for at in range(0 if whole else len(cases)))
    return (
        f".visible .entry {name}(.param .u64 out_, .param .u32 first, .param .u32 rounds_{parameters})\n"
        f"{_OPENING}{declarations(kinds)}{_FIRST}{masks(kinds)}{sums}ROUND:\n{draws(kinds)}{weight()}{body}{_CLOSING}{ending}"
        "ret;\n}\n"
    )


def _body(case: Case, number: int, row: int | None) -> str:
    kept = f"mad.lo.u64 sum{number}, wide, weight, sum{number};"
    if row is not None:
        kept = f"add.u64 address, out, at; st.global.b64 [address+{row}], wide;"
    return f"{{\n{statement(case)}\n{kept}\n}}\n"


def save(path: Path, provenance: Mapping[str, str], sums: Mapping[Case, np.ndarray]) -> None:
    """Write a family: `sums` maps each case to one uint64 a level."""
    table = np.zeros((len(sums), len(LEVELS)), np.uint64)
    for row, found in zip(table, sums.values(), strict=True):
        row[: len(found)] = found
    buffer = io.BytesIO()
    names = np.array([str(case) for case in sums])
    np.savez(buffer, names=names, sums=table, provenance=np.array(json.dumps(dict(provenance))))
    path.write_bytes(lzma.compress(buffer.getvalue(), preset=9))


def load(path: Path, cases: tuple[Case, ...]) -> dict[Case, np.ndarray]:
    """Read a family back: of each case that was recorded, one uint64 a level."""
    by_name = {str(case): case for case in cases}
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
        rows = zip(arrays["names"].tolist(), arrays["sums"], strict=True)
        found = ((by_name[name], row) for name, row in rows)
        return {case: row[: LEVELS.index(level(case)) + 1] for case, row in found}
