"""Attention of several heads, a CTA each: the keys of each begin anew, and its P is followed to its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from diagnosis.planted.catalogue import BUGS
from diagnosis.planted.diagnosing import named
from diagnosis.planted.kernels import ATTENTION
from ptxloom.diagnosis import diagnose
from ptxloom.machine import kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from diagnosis.planted.model import PlantedBug
    from ptxloom.diagnosis import Diagnosis

HEADS = 2
KEYS = 48
WIDTH = 32
OF_P_AND_V: Final = ("p-registers-1-and-2", "p-packed-the-wrong-way-round", "v-rows-cyclic", "o-row-8-forgotten")


def diagnosed(text: str, *, shaped: bool) -> tuple[tuple[Diagnosis, ...], bool]:
    """The diagnoses of a text of the kernel, and whether its result is right: each CTA has 16 queries and 48 keys."""
    limit = "add.u32 %i, %first, %first; add.u32 %i, %i, %first; add.u32 %i, %i, %keys; "
    text = text.replace("mov.u32 %start, 0", "mul.lo.u32 %start, %first, 3")
    text = text.replace("setp.lt.u32 %p_more, %start, %keys", f"{limit}setp.lt.u32 %p_more, %start, %i")
    rng = np.random.default_rng(2)
    heads = [rng.integers(-2, 3, (HEADS, lines, WIDTH)).astype(np.float16) for lines in (16, KEYS, KEYS)]
    arrays = [*heads, np.zeros((HEADS, 16, WIDTH), np.float32)]
    given = arrays if shaped else [array.reshape(-1, WIDTH) for array in arrays]
    made = kernel(parse(text), "k", target="sm_80")
    record = made.launch((HEADS,), 32, [*given, KEYS], ATTENTION.shared_bytes, threads=1, provenance=True).provenance
    q, k, v, found = (array.astype(np.float64) for array in arrays)
    powers = np.exp2(q @ k.swapaxes(1, 2))
    assert record is not None
    return diagnose(record), np.allclose(found, powers @ v / powers.sum(2, keepdims=True), 1e-5, 1e-5)


@pytest.mark.parametrize("shaped", [True, False])
def test_right_attention_of_heads_breaks_no_law(shaped: bool) -> None:
    assert diagnosed(ATTENTION.text, shaped=shaped) == ((), True)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("shaped", [True, False])
@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.kernel is ATTENTION and bug.name in OF_P_AND_V])
def test_what_is_wrong_with_p_and_v_of_heads_is_named_first(bug: PlantedBug, shaped: bool) -> None:
    found, right = diagnosed(bug.text, shaped=shaped)
    assert named(bug, found) is None
    assert not right
