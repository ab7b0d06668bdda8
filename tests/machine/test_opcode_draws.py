"""What the sums over all inputs rest on: which inputs there are, and that no wrong output goes unnoticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ptxloom as pl
from machine.opcode_cases import Case
from machine.opcode_kernels import HEADER
from machine.opcode_sums import BLOCK, kernel, shapes, threads

COPY = Case("mov.b16 {d}, {a};", "b16", ("b16",))


def run(*cases: Case, whole: bool, first: int = 0) -> np.ndarray:
    function = pl.kernel(pl.parse(HEADER + kernel("k", cases, whole=whole)), "k")
    count = threads(cases[0])
    out = np.zeros((len(cases), count) if whole else len(cases), np.uint64)
    function.launch(count // BLOCK, BLOCK, [out, first, 1, *shapes(cases[0])])
    return out


def test_every_value_of_one_operand_is_run_once() -> None:
    assert sorted(run(COPY, whole=True)[0].tolist()) == list(range(1 << 16))


def test_every_pair_is_run_once() -> None:
    sources = ("count", "count")
    low, high = run(*(Case(f"mov.b32 {{d}}, {{{x}}};", "b32", sources) for x in "ab"), whole=True)
    assert len(set((low | high << np.uint64(8)).tolist())) == 1 << 16


def both(kind: str) -> np.ndarray:
    return run(*(Case(f"mov.b64 {{d}}, {{{x}}};", kind, (kind, kind)) for x in "ab"), whole=True)


def test_hashed_pairs_of_numbers_have_alike_exponents_and_plain_fractions() -> None:
    pairs = both("f64")
    assert len(np.unique(pairs, axis=1).T) > 65_000
    exponents, ends = pairs >> np.uint64(52), pairs & np.uint64(0xFFFFF)
    assert np.mean(exponents[0] == exponents[1]) > 0.02
    assert np.mean(ends == 0) > 0.05
    assert np.mean(ends == 0xFFFFF) > 0.05


def test_hashed_pairs_of_integers_are_small_and_near_each_other() -> None:
    pairs = both("b64")
    assert len(np.unique(pairs, axis=1).T) > 65_000
    assert np.mean(pairs[0] == pairs[1]) > 0.002
    assert np.mean(pairs < 1 << 32) > 0.1
    assert np.mean(pairs.view(np.int64) > -(1 << 32)) > np.mean(pairs.view(np.int64) >= 0) + 0.1


def test_one_wrong_output_and_two_exchanged_change_the_sum() -> None:
    chosen = "{{ .reg .pred p, q; setp.eq.b16 p, {a}, 77; setp.eq.b16 q, {a}, 78; mov.b16 {d}, {a}; "
    wrong = replace(COPY, text=chosen + "@p mov.b16 {d}, 78; }}")
    exchanged = replace(COPY, text=chosen + "@p mov.b16 {d}, 78; @q mov.b16 {d}, 77; }}")
    assert len(set(run(COPY, wrong, exchanged, whole=False).tolist())) == 3


def test_other_inputs_have_another_sum() -> None:
    case = Case("mov.b32 {d}, {a};", "b32", ("b32",))
    assert run(case, whole=False)[0] != run(case, whole=False, first=1 << 16)[0]
