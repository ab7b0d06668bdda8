"""CUTLASS's headers, compiled here, judge tiled copies and tiled products."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from oracle.cute_host import printed
from ptxloom.atoms import (
    TiledCopy,
    TiledMma,
    make_tiled_copy,
    make_tiled_copy_a,
    make_tiled_copy_b,
    make_tiled_copy_c,
    make_tiled_mma,
)
from ptxloom.layout import Layout, Tensor

if TYPE_CHECKING:
    from ptxloom.atoms.mma import Operand

THREADS = (0, 1, 37, 63)
TENSORS: Final[dict[Operand, str]] = {"a": "(128,64):(64,1)", "b": "(128,64):(64,1)", "c": "(128,128):(128,1)"}

MMAS = {
    "one": ("SM80_16x8x16_F32F16F16F32_TN", "(1,1,1):(0,0,0)", (None, None, None)),
    "2x2": ("SM80_16x8x16_F32F16F16F32_TN", "(2,2,1):(1,2,0)", (32, 32, 16)),
    "row": ("SM80_16x8x16_F32F16F16F32_TN", "(2,2,1):(2,1,0)", (64, 32, 32)),
    "k": ("SM80_16x8x8_F32TF32TF32F32_TN", "(2,1,2):(1,0,2)", (32, 16, 16)),
    "s8": ("SM80_16x8x32_S32S8S8S32_TN", "(4,1,1):(1,0,0)", (64, 16, 32)),
    "quads": ("SM70_8x8x4_F32F16F16F32_TN", "(2,2,1):(1,2,0)", (None, None, None)),
}
COPIES: dict[str, tuple[str, Operand, str]] = {
    "A by x4": ("2x2", "a", "SM75_U32x4_LDSM_N"),
    "A by x2": ("2x2", "a", "SM75_U32x2_LDSM_N"),
    "A by x4, transposed": ("2x2", "a", "SM75_U16x8_LDSM_T"),
    "B by x4": ("2x2", "b", "SM75_U32x4_LDSM_N"),
    "B by x2": ("row", "b", "SM75_U32x2_LDSM_N"),
    "B by x4, transposed": ("2x2", "b", "SM75_U16x8_LDSM_T"),
    "A of one warp by x1": ("one", "a", "SM75_U32x1_LDSM_N"),
    "tf32": ("k", "a", "SM75_U32x4_LDSM_N"),
}


def mma_of(name: str) -> TiledMma:
    atom, groups, tile = MMAS[name]
    return make_tiled_mma(atom, Layout.parse(groups), tile)


def static(value: object) -> str:
    """A layout or an integer as a C++ expression of static integers."""
    if isinstance(value, Layout):
        return f"make_layout({static(value.shape)}, {static(value.stride)})"
    if isinstance(value, tuple):
        return f"make_tuple({', '.join(map(static, value))})"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - nested integers
    return "_" if value is None else f"Int<{value}>{{}}"


def tiled_mma_code(name: str) -> str:
    atom, groups, tile = MMAS[name]
    return (
        f"auto mma = make_tiled_mma({atom}{{}}, {static(Layout.parse(groups))}, "
        f"make_tile({', '.join(map(static, tile))}));"
    )


def counting(operand: Operand) -> str:
    """C++ of a tensor whose elements are their own offsets."""
    return f"auto t = make_tensor(counting_iterator<int>(0), {static(Layout.parse(TENSORS[operand]))});"


def threads_of(mma: TiledMma) -> list[int]:
    return [thread for thread in THREADS if thread < mma.thr_layout_vmnk.cosize]


def listed(mma: TiledMma) -> str:
    return ", ".join(map(str, threads_of(mma)))


OPERANDS: Final[tuple[Operand, ...]] = ("a", "b", "c")


def mma_program(name: str) -> str:
    """C++ that prints a tiled mma's layouts, then for each operand and thread what the thread has."""
    parts = [
        tiled_mma_code(name),
        "row(mma.get_layoutA_TV(), mma.get_layoutB_TV(), mma.get_layoutC_TV(), mma.get_thr_layout_vmnk(), size(mma));",
    ]
    parts += [
        f"{{ {counting(operand)} for (int i : {{ {listed(mma_of(name))} }}) {{"
        f" auto p = mma.get_slice(i).partition_{operand.upper()}(t); row(p.layout(), int(p(0))); }} }}"
        for operand in OPERANDS
    ]
    return f"{{ {' '.join(parts)} }}"


def copy_of(name: str) -> tuple[TiledMma, TiledCopy]:
    mma_name, operand, atom = COPIES[name]
    mma = mma_of(mma_name)
    make = {"a": make_tiled_copy_a, "b": make_tiled_copy_b, "c": make_tiled_copy_c}[operand]
    return mma, make(atom, mma)


def copy_program(name: str) -> str:
    """C++ that prints for each thread what a tiled copy gives it."""
    mma, operand, atom = COPIES[name]
    kind = {16: "half_t", 32: "tfloat32_t", 8: "int8_t"}[copy_of(name)[1].bits]
    return (
        f"{{ {tiled_mma_code(mma)} using T = {kind};"
        f" auto copy = make_tiled_copy_{operand.upper()}(Copy_Atom<{atom}, T>{{}}, mma); {counting(operand)}"
        f" for (int i : {{ {listed(copy_of(name)[0])} }}) {{"
        " auto thr = copy.get_slice(i); auto s = thr.partition_S(t); auto d = thr.partition_D(t);"
        f" auto r = mma.get_slice(i).partition_fragment_{operand.upper()}(make_tensor((T*)nullptr, t.layout()));"
        " row(s.layout(), int(s(0)), d.layout(), int(d(0)), r.layout(), thr.retile_D(r).layout(),"
        " copy.get_layoutS_TV(), copy.get_layoutD_TV()); } }"
    )


def program_of(name: str) -> str:
    return mma_program(name) if name in MMAS else copy_program(name)


RECORDED: Final = Path(__file__).parent / "cute_tiled.json"  # what CUTLASS 4.2 prints for every program


@cache
def recorded() -> dict[str, list[list[str]]]:
    answer: dict[str, list[list[str]]] = json.loads(RECORDED.read_text())
    return answer


@pytest.mark.oracle
@pytest.mark.sweep
def test_cutlass_still_prints_what_was_recorded(tmp_path: Path) -> None:
    if os.environ.get("PTXLOOM_RECORD_CUTLASS"):
        found: dict[str, list[list[str]]] = {}
        names = iter((*MMAS, *COPIES))
        for row in printed(tmp_path, [f"row(); {program_of(name)}" for name in (*MMAS, *COPIES)]):
            if row:
                found[next(reversed(found))].append(row)
            else:
                found[next(names)] = []
        RECORDED.write_text(json.dumps(found, indent=0) + "\n")
        recorded.cache_clear()
    assert printed(tmp_path, [program_of("A of one warp by x1")]) == recorded()["A of one warp by x1"]


@pytest.mark.parametrize("name", MMAS)
def test_thread_value_layouts_and_partitions_of_tiled_products(name: str) -> None:
    mma = mma_of(name)
    first, *rest = recorded()[name]
    for operand, text in zip(OPERANDS, first, strict=False):
        ours, theirs = mma.layout_tv(operand), Layout.parse(text)
        assert ours[1].offsets() == theirs[1].offsets(), operand
        assert ours[0].offsets() == theirs[0].offsets()[: mma.size], operand
    assert mma.thr_layout_vmnk == Layout.parse(first[3])
    assert mma.size == int(first[4])
    cases: list[tuple[Operand, int]] = [(operand, thread) for operand in OPERANDS for thread in threads_of(mma)]
    for (operand, thread), row in zip(cases, rest, strict=True):
        part = mma.partition(operand, Tensor(0, Layout.parse(TENSORS[operand])), thread)
        assert_same(part, row[0], row[1])


def assert_same(part: Tensor, layout: str, start: str) -> None:
    theirs = Layout.parse(layout)
    assert isinstance(part.layout, Layout)
    assert [mode.size for mode in part.layout] == [mode.size for mode in theirs]
    assert part.offsets() == Tensor(int(start), theirs).offsets()


@pytest.mark.parametrize("name", COPIES)
def test_tiled_copies_of_operands(name: str) -> None:
    mma, copy = copy_of(name)
    operand = COPIES[name][1]
    tensor = Tensor(0, Layout.parse(TENSORS[operand]))
    for thread, row in zip(threads_of(mma), recorded()[name], strict=True):
        assert_same(copy.partition_s(tensor, thread), row[0], row[1])
        assert_same(copy.partition_d(tensor, thread), row[2], row[3])
        registers = Layout.parse(row[4])
        whole = Layout.parse(TENSORS[operand])
        assert mma.fragment_layout(operand, (whole[0].size, whole[1].size)).size == registers.size
        assert copy.retile(registers).offsets() == Layout.parse(row[5]).offsets()
        assert replace(copy, repeats=()).retile(registers).offsets() == Layout.parse(row[5]).offsets()
        assert copy.layout_s_tv().offsets() == Layout.parse(row[6]).offsets()
        assert copy.layout_d_tv().offsets() == Layout.parse(row[7]).offsets()


def test_a_copy_from_thread_and_value_layouts() -> None:
    copy = make_tiled_copy("SM75_U32x4_LDSM_N", Layout.parse("(16,2):(2,1)"), Layout.parse("(1,8):(0,1)"), 16)
    assert str(copy.layout_tv) == "((2,16),8):((128,1),16)"  # as CUTLASS prints it, up to modes of size 1
    assert copy.tiler == (16, 16)
