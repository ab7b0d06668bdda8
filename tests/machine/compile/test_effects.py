"""What an instruction writes by the ISA data is what its lowering writes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from machine.compile.test_every_form import RUN, program_of
from ptxloom.binding.effects import destinations
from ptxloom.machine import IllegalPtx, UnsupportedInstruction
from ptxloom.machine.codegen.builder import Builder
from ptxloom.machine.compile import variant
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree, walk
from recorded.ptxas.mutation_cases import seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.native.ir import Value

Found = dict[int, set[str]]


def recorded(monkeypatch: pytest.MonkeyPatch) -> tuple[Found, Found]:
    """By instruction: the names that its lowering writes, and those whose registers it asks for, to hand them on."""
    written: Found = {}
    touched: Found = {}

    def watch(name: str) -> None:
        inner: Callable[..., None] = getattr(Builder, name)

        def write(self: Builder, operand: tree.Operand, value: Value, *rest: object, **named: object) -> None:
            names = (one.text for one in walk(operand) if isinstance(one, tree.Name))
            written.setdefault(self.op.site, set()).update(names)
            inner(self, operand, value, *rest, **named)

        monkeypatch.setattr(Builder, name, write)

    watch("write")
    watch("write_mask")
    asked = Builder.register

    def register(self: Builder, operand: tree.Operand) -> tuple[Register, int]:
        touched.setdefault(self.op.site, set()).update(one.text for one in walk(operand) if isinstance(one, tree.Name))
        return asked(self, operand)

    place = Builder.register_place

    def register_place(self: Builder, found: Register, index: int = 0) -> Value:
        names = (one.text for operand in self.op.operands for one in walk(operand) if isinstance(one, tree.Name))
        touched.setdefault(self.op.site, set()).update(name for name in names if self.op.scope.find(name) is found)
        return place(self, found, index)

    monkeypatch.setattr(Builder, "register", register)
    monkeypatch.setattr(Builder, "register_place", register_place)
    return written, touched


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("opcode", RUN)
def test_the_lowering_writes_what_the_data_says(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written, touched = recorded(monkeypatch)
    for statement in seeds(opcode, 6, random.Random(opcode)):
        written.clear()
        touched.clear()
        try:
            program = program_of(str(statement))
            variant.translate(program, whole=False)
        except (IllegalPtx, UnsupportedInstruction):
            continue
        for op in program.ops:
            said = {
                one.name.text for one in destinations(op.node) if isinstance(op.scope.find(one.name.text), Register)
            }
            assert written.get(op.site, set()) - {"_"} <= said, op.text
            assert said <= written.get(op.site, set()) | touched.get(op.site, set()), op.text
