"""An instruction is defined once: data, a row, effects. Other modules that name it are listed here."""

from __future__ import annotations

import pytest

from ptxloom.isa.resolution.forms import forms
from ptxloom.meaning.deeds import effects_of_form
from ptxloom.tellings import tellings, told

ABOUT = {
    "an instruction's atom: CuTe has one for it": (
        "atoms/advice.py", "atoms/copy.py", "atoms/fit.py", "atoms/mma.py", "atoms/naming.py",
        "atoms/wrappers/__init__.py", "atoms/wrappers/cuda.py", "atoms/wrappers/cute.py", "atoms/wrappers/parts.py",
        "atoms/wrappers/ptx.py", "atoms/wrappers/triton.py", "views/atoms/atom_pages.py",
    ),
    "an instruction's fragments, banks or picture": (
        "banks/access.py", "fragments/derive.py", "fragments/native.py", "fragments/products.py", "inspection.py",
        "fragments/matrix_operands.py", "views/pictures.py", "web/code.py",
    ),
    "what of an instruction was compared with hardware": ("conformance/operands.py", "conformance/paths.py"),
    "an instruction's way to add": (
        "confirmed.py", "machine/runtime/interpolation.py", "machine/runtime/memory/matrices.py",
        "machine/tensor/batch.py", "machine/tensor/emit.py", "machine/tensor/recipe.py", "machine/tensor/wgmma.py",
    ),
    "an instruction with a grammar of its own: calls, lists of targets, handles of textures": (
        "binding/call_graph.py", "binding/effects.py", "checker/instruction/calls.py",
        "checker/instruction/texture_mode.py", "checker/instruction/texture_operands.py", "checker/module/labels.py",
        "checker/walk.py", "lsp/completion.py", "machine/compile/meaning.py",
        "machine/compile/needs_of.py", "machine/plan/calls.py", "machine/plan/planner.py", "syntax/operands.py",
    ),
    "an instruction's descriptor: what `tcgen05.mma` multiplies stands in its bits": (
        "descriptors/tensor_instruction.py",
    ),
    "an instruction that is others done to several devices: `multimem`": ("machine/program/model.py",),
}  # fmt: skip
"""Modules that are about an instruction, by the reason why they name it."""
WORDS = (
    "comparison/functions.py", "machine/codegen/llvm_words.py", "machine/results/trace_condition.py",
    "readings/bit_words.py", "readings/integers.py", "readings/pointees.py", "readings/poison.py",
    "readings/computed.py",
)  # fmt: skip
"""Modules that name operations of LLVM, Python or NumPy, such as `add` and `and`, which are called as opcodes are."""
MODULES = 0
"""Others that name one: ask data, rows or effects instead."""
TABLES = 15
"""Tables of opcodes, at most, in modules that do not mean other operations."""

LISTED = [*(module for modules in ABOUT.values() for module in modules), *WORDS]


def test_no_more_modules_name_opcodes() -> None:
    others = sorted({one.module for one in tellings()} - set(LISTED))
    assert len(others) == MODULES, "lower MODULES, or ask data, rows or effects instead:\n" + "\n".join(others)


def test_no_more_tables_of_opcodes() -> None:
    tables = [
        f"{one.module}:{one.line} {', '.join(one.opcodes)}"
        for one in tellings()
        if one.table and one.module not in WORDS
    ]
    assert len(tables) == TABLES, "lower TABLES, or ask data, rows or effects instead:\n" + "\n".join(tables)


@pytest.mark.parametrize("module", LISTED)
def test_what_is_listed_names_one(module: str) -> None:
    assert LISTED.count(module) == 1
    assert any(one.module == module for one in tellings())


def test_fewer_modules_are_about_an_instruction_than_were_allowed() -> None:
    assert len(LISTED) < 60


def test_what_is_told_of_an_instruction() -> None:
    found = told("prmt")
    assert found.forms
    assert [row.partition(":")[0] for row in found.rows] == ["meaning/arithmetic/bits.py"]
    assert {"permute", "read", "write"} <= set(found.words)


@pytest.mark.parametrize("opcode", ["clusterlaunchcontrol", "mbarrier", "suld"])
def test_effects_are_those_of_every_form(opcode: str) -> None:
    every = {str(one) for form in forms(opcode) for count in form.counts for one in effects_of_form(form, count)}
    assert set(told(opcode).effects) == every
    assert every
