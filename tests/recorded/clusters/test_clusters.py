"""Instructions that reach into a cluster do in launches with clusters and without what an H200 did."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ptxloom as pl
from recorded.clusters.cluster_cases import BODIES, HEADS, ILLEGAL, RECORDING, THREADS, kernel

OUTCOMES: dict[tuple[str, str], list[int] | str] = {
    (body, head): what for body, head, what in json.loads(RECORDING.read_text(encoding="utf-8"))["outcomes"]
}


def test_every_kernel_was_run_both_ways() -> None:
    assert set(OUTCOMES) == {(body, head) for body in BODIES for head in HEADS}
    assert ILLEGAL in OUTCOMES.values()


@pytest.mark.parametrize(("body", "head"), OUTCOMES)
def test_equals_hardware(body: str, head: str) -> None:
    out = np.full(THREADS, 77, np.uint32)
    launch = pl.kernel(pl.parse(kernel(body, head)), "k").launch
    wanted = OUTCOMES[body, head]
    if wanted == ILLEGAL:
        with pytest.raises(pl.LaunchError) as caught:
            launch(1, THREADS, [out])
        assert [one.rule for one in caught.value.hazards] == ["memcheck.no-cluster"]
        return
    launch(1, THREADS, [out])
    assert out.tolist() == wanted
