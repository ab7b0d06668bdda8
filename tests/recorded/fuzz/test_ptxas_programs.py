"""Programs that compilers get wrong: the machine leaves what it left when they were recorded; the page says whose."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.fuzzing.banks import BLOCK, FRAME_BYTES
from ptxloom.fuzzing.frames import frames
from recorded.fuzz.ptxas_pages import FUZZX, PAGE, RECORDED, page


@pytest.mark.parametrize("program", RECORDED["programs"], ids=lambda one: one["name"])
def test_the_machine_leaves_what_it_left(program: dict[str, Any]) -> None:
    out = np.zeros((program["ctas"] * BLOCK, FRAME_BYTES), np.uint8)
    given = frames(program["seed"], program["kernel"])
    kernel = pl.kernel(pl.parse("\n".join(program["ptx"])), "k")
    kernel.launch(program["ctas"], BLOCK, [out.reshape(-1), given.reshape(-1)])
    assert blake2b(out.tobytes(), digest_size=8).hexdigest() == program["digest"]


def test_code_that_was_not_optimised_agrees_but_where_no_level_does() -> None:
    """So two of three opinions are the machine's, or the compiler is wrong at every level, as its code shows."""
    unoptimised = {one["name"]: one["wrong"]["driver 13.0"] for one in RECORDED["programs"]}
    differ = {name: levels for name, levels in unoptimised.items() if 0 in levels}
    everywhere = {name for name, levels in differ.items() if levels == [0, 1, 2, 3]}
    assert everywhere == {"guarded-testp", "guarded-vadd4", "fp8-results-in-terms", "wmma-results-in-factors"}
    assert differ.keys() - everywhere == {"nan-of-a-shared-sum"}  # which of two NaNs a sum keeps is left open


def test_of_fuzzx_the_results_are_those_of_the_gpu_without_optimisation() -> None:
    said = Counter(one["unoptimised"] for one in FUZZX["programs"])
    assert said == {"same": 85, "differs": 1, "the compiler crashes": 1}
    assert [one["id"][:4] for one in FUZZX["programs"] if one["unoptimised"] != "same"] == ["m083", "m087"]


def test_the_page_says_what_was_recorded(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
