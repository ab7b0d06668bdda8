"""The rows, read with plain numbers, give what hardware gave: a second opinion that LLVM has no part in."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from machine.opcode_cases import families
from machine.opcode_inputs import pool, width_of
from machine.opcode_kernels import pool_kind
from machine.opcode_recording import FOLDER, load
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import is_type
from ptxloom.machine.program.model import Op
from ptxloom.meaning import table
from ptxloom.meaning.form import Unreadable
from ptxloom.meaning.types import ptx_type
from ptxloom.readings.interpreter import Cell, Interpreter
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Block, Declaration, Instruction

if TYPE_CHECKING:
    from ptxloom.machine.program.model import FunctionPlan
    from ptxloom.machine.program.symbols import Scope

CASES = dict(families())
READ = {
    "integer": 156, "logic": 74, "compare": 700, "extended": 40, "single": 150, "half": 144, "convert": 700,
    "convert_packed": 20, "video": 600, "video_simd": 300,
}  # fmt: skip
"""Families, and how many of their cases are read at least."""
LEAST = 64  # inputs of each


def interpreted(text: str, registers: dict[str, Cell]) -> None:
    """Run statements on registers, those that they declare among them."""
    reader = Interpreter(registers)
    waiting = list(parse(text).statements)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Block):
            waiting = [*node.statements, *waiting]
        elif isinstance(node, Declaration) and node.space == "reg":
            for one in node.declarators:
                registers[one.name] = Cell(ptx_type(node.type).bits)
        elif isinstance(node, Instruction) and node.predicate is None:
            types = tuple(ptx_type(word) for word in node.qualifiers if is_type(word))
            op = Op(node, cast("Scope", None), 0, types, cast("FunctionPlan", None))
            row = table.find(op)
            if row is None:
                raise Unreadable(text)
            row.build(reader, op)
        else:
            raise Unreadable(text)


@pytest.mark.parametrize("family", READ)
def test_plain_numbers_equal_hardware(family: str) -> None:
    recordings = load(FOLDER / f"{family}.npz.xz", CASES[family])
    wrong: list[str] = []
    read = 0
    for case, recording in recordings.items():
        given = [pool(pool_kind(kind), at)[:LEAST] for at, kind in enumerate(case.sources)]
        found: list[int] = []
        text = case.text.format(d="d", a="a", b="b", c="c")
        try:
            for start in range(0, LEAST, LANES):
                cells = {
                    letter: Cell(1 if kind == "pred" else max(16, 32 if kind == "count" else width_of(kind)),
                                 tuple(int(one) & (1 << width_of(kind)) - 1 for one in values[start : start + LANES]))
                    for letter, kind, values in zip("abc", case.sources, given, strict=False)
                }  # fmt: skip
                bits = width_of(case.destination)
                cells["d"] = Cell(bits if bits == 1 else max(16, bits))
                interpreted(text, cells)
                found += cells["d"].values
        except Unreadable:
            continue
        read += 1
        kept = width_of(case.destination)  # of results of 8 bits no more was recorded
        expected = recording.outputs[:LEAST].astype(np.uint64)
        at = np.flatnonzero(np.array([one & (1 << kept) - 1 for one in found], np.uint64) != expected)
        if at.size:
            wrong.append(f"{case} at input {at[0]}: {found[at[0]]:#x}, not {int(expected[at[0]]):#x}")
    assert not wrong, f"{len(wrong)} of {read}:\n" + "\n".join(wrong[:20])
    assert read >= READ[family], read
