"""Poison read from rows misses nothing, and is nowhere coarser than the rules by opcode that it replaced."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from machine.opcode_cases import Case, families
from machine.opcode_inputs import width_of
from property.hand_rules_of_poison import hand_poison
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import is_type
from ptxloom.machine.program.model import Op
from ptxloom.meaning import table
from ptxloom.meaning.form import Unreadable
from ptxloom.meaning.types import ptx_type
from ptxloom.meaning.vectors import vector
from ptxloom.readings.interpreter import Cell, Interpreter, Numbers
from ptxloom.readings.poison import PoisonWords, words_of
from ptxloom.syntax import parse, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.program.model import FunctionPlan
    from ptxloom.machine.program.symbols import Scope
    from ptxloom.meaning.types import Type
    from ptxloom.readings.shadowed import Shadowed

Lanes = tuple[int, ...]
ROUNDS = 1  # draws of 32 lanes for each case
FAMILIES = ("integer", "logic", "compare", "convert", "video", "video_simd", "extended", "half", "single")
CASES = [
    case
    for family, cases in families()
    if family in FAMILIES
    for case in cases
    if "{{" not in case.text and case.text.count(";") == 1 and "[" not in case.text
]


class Cells:
    """Keeps the poison of registers by their names, as plain integers."""

    def __init__(self, poison: Mapping[str, Lanes], below: Interpreter) -> None:
        self._poison = poison
        self._below = below
        self.found: dict[str, Lanes] = {}

    def poison_of(self, operand: tree.Operand, type_: Type) -> Numbers | None:
        """The poison of a register."""
        held = self._poison.get(operand.text) if isinstance(operand, tree.Name) else None
        if held is None:
            return None
        if type_.kind == "p":
            return self._below.mask_of(Numbers(vector("i1"), held))
        plain = Numbers(vector(f"i{type_.bits}"), tuple(one & (1 << type_.bits) - 1 for one in held))
        return self._below.bitcast(plain, vector(f"i{type_.bits // type_.packed}", LANES * type_.packed))

    def keep(self, operand: tree.Operand, found: Shadowed[Numbers], *, signed: bool) -> None:
        """The poison of a result, as wide as its register."""
        assert isinstance(operand, tree.Name)
        if operand.text == "_":
            return
        cell = self._below.registers[operand.text]
        if found.poison is None:
            self.found[operand.text] = (0,) * LANES
        elif cell.bits == 1:
            self.found[operand.text] = self._below.lanes(found.poison).values
        else:
            bits = len(found.poison.values) * found.poison.bits // LANES
            plain = self._below.bitcast(found.poison, vector(f"i{bits}"))
            self.found[operand.text] = self._below.resize(plain, cell.bits, signed).values


def op_of(case: Case) -> Op:
    [node] = parse(case.text.format(d="d", a="a", b="b", c="c")).statements
    assert isinstance(node, tree.Instruction)
    types = tuple(ptx_type(word) for word in node.qualifiers if is_type(word))
    return Op(node, cast("Scope", None), 0, types, cast("FunctionPlan", None))


def bits_of(kind: str) -> int:
    """The width of the register of an operand."""
    return 1 if kind == "pred" else max(16, 32 if kind == "count" else width_of(kind))


def run(op: Op, case: Case, values: Mapping[str, Lanes]) -> Lanes:
    """What the instruction gives."""
    cells = {name: Cell(bits, values[name]) for name, bits in widths(case).items()}
    cells["d"] = Cell(bits_of(case.destination))
    row = table.find(op)
    assert row is not None
    row.build(Interpreter(cells), op)
    return cells["d"].values


def widths(case: Case) -> dict[str, int]:
    return dict(zip("abc", map(bits_of, case.sources), strict=False))


def poison(op: Op, case: Case, values: Mapping[str, Lanes], poison: Mapping[str, Lanes]) -> Lanes:
    """What is poison of its result, by its row."""
    cells = {name: Cell(bits, values[name]) for name, bits in widths(case).items()}
    cells["d"] = Cell(bits_of(case.destination))
    below = Interpreter(cells)
    keeper = Cells(poison, below)
    row = table.find(op)
    assert row is not None
    row.build(words_of(PoisonWords(below, keeper, rearranges=False)), op)
    return keeper.found["d"]


def draws(case: Case) -> Iterator[tuple[dict[str, Lanes], dict[str, Lanes]]]:
    """Values and poison, lanes of which have none, few bits, or a byte of it."""
    random = Random(str(case))
    for _ in range(ROUNDS):
        values, tainted = {}, {}
        for name, bits in widths(case).items():
            values[name] = tuple(_number(random, bits) for _ in range(LANES))
            tainted[name] = tuple(_mask(random, bits) for _ in range(LANES))
        yield values, tainted


def _number(random: Random, bits: int) -> int:
    whole = (1 << bits) - 1
    return random.choice((random.getrandbits(bits), random.getrandbits(5) & whole, whole, 0, 1 << bits - 1))


def _mask(random: Random, bits: int) -> int:
    some = random.choice((0, 0, 1, 255, 1 << random.randrange(bits), random.getrandbits(bits)))
    return some << random.randrange(bits) & (1 << bits) - 1


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_bit_is_missed_and_none_that_was_written_before(case: Case) -> None:
    """Whatever poison is changed to, the result is the same in the bits that are not poison."""
    op = op_of(case)
    if table.find(op) is None:
        pytest.skip("it does more than compute")
    random = Random(f"{case} 2")
    for values, tainted in draws(case):
        try:
            result = run(op, case, values)
        except Unreadable as why:
            pytest.skip(f"the interpreter does not know {why}")
        found = poison(op, case, values, tainted)
        for _ in range(3):
            changed = {
                name: tuple(one ^ random.getrandbits(64) & tainted[name][lane] for lane, one in enumerate(lanes))
                for name, lanes in values.items()
            }
            other = run(op, case, changed)
            missed = [(a ^ b) & ~c for a, b, c in zip(result, other, found, strict=True)]
            assert not any(missed), (missed, values, tainted)
        assert_not_coarser(op, case, values, tainted)


def assert_not_coarser(op: Op, case: Case, values: Mapping[str, Lanes], tainted: Mapping[str, Lanes]) -> None:
    """The rows find no more poison than the old rules."""
    found = poison(op, case, values, tainted)
    bits = bits_of(case.destination)
    before = hand_poison(op, values, tainted, bits, lambda given: run(op, case, given))
    coarser = [a & ~b for a, b in zip(found, before, strict=True)]
    assert not any(coarser), (coarser, values, tainted)
