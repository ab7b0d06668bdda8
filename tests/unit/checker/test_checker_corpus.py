"""What nvcc, Triton and our own hands wrote and ptxas accepts gets no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxloom.checker import check
from ptxloom.isa import known
from ptxloom.syntax import instructions, load, parse
from ptxloom.syntax.bind import bind

ROOT = Path(__file__).parents[3]
FILES = sorted([*(ROOT / "tests" / "corpus").glob("*.ptx"), *(ROOT / "examples").glob("*.ptx")])


@pytest.mark.sample(every=7)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_finding(path: Path) -> None:
    module = load(path)
    assert check(module) == ()
    bound = [bind(each) for each in instructions(module) if known(each.opcode)]
    assert all(each.form is not None and (each.operands or not each.instruction.operands) for each in bound)


def test_there_are_matrix_moves_in_it() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    for opcode in ("ldmatrix", "stmatrix", "movmatrix"):
        assert list(instructions(parse(next(text for text in texts if opcode in text)), opcode))
