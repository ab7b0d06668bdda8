"""Statements of engines: textures, boxes of tensors, products in tensor memory; alike whoever runs them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.fuzzing.engines import boxed, looked_up, tensor_product
from ptxloom.fuzzing.frames import frames
from ptxloom.fuzzing.nodes import Program, Step
from ptxloom.fuzzing.opinions import MACHINE, Jury, Refused, frames_of
from ptxloom.fuzzing.together import PLACES
from ptxloom.fuzzing.vocabulary import engines
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = PtxVersion.parse("9.0")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("target", "made"), [("sm_90a", boxed), ("sm_80", looked_up), ("sm_100a", tensor_product), ("sm_100a", boxed)]
)
def test_an_engine_gives_the_same_whoever_looks(target: str, made: Callable[[Random], str], seed: int) -> None:
    """Twice in a row, so that barriers and tensor memory are given back."""
    chance = Random(seed)
    program = Program(1, seed, tuple(Step(f"{{ {PLACES} {made(chance)} }}") for _ in range(2)))
    given, jury = frames(1, seed), Jury(target, str(VERSION))
    ours = frames_of(MACHINE, jury, [program], given)
    assert not isinstance(ours, Refused), ours
    assert ours.any()
    for opinion in ("threads", "order", "tools", "cache"):
        theirs = frames_of(opinion, jury, [program], given)
        assert not isinstance(theirs, Refused), theirs
        assert np.array_equal(ours, theirs), opinion


def test_targets_have_the_engines_of_the_data() -> None:
    found = {name: engines(Target.parse(name), VERSION) for name in ("sm_80", "sm_90", "sm_90a", "sm_100a")}
    assert found["sm_80"] == set()
    assert found["sm_90"] == {"tensor"}
    assert found["sm_90a"] == {"tensor", "mma_async"}
    assert found["sm_100a"] == {"tensor", "kind::f16"}
