"""No verdict is lost unseen: what each tool says of every kernel of the corpus is what it said before."""

from __future__ import annotations

import pytest

from recorded.verdicts.corpus import corpus, recorded

CORPUS = corpus()


@pytest.mark.sample(every=40)
@pytest.mark.parametrize("name", sorted(CORPUS))
def test_a_verdict_is_as_it_is_kept(name: str) -> None:
    """Where it is meant to change: `python -m recorded.verdicts.corpus`, from `tests`, and read the diff."""
    assert CORPUS[name]() == recorded().get(name)


def test_every_kernel_has_a_verdict_and_no_verdict_lacks_its_kernel() -> None:
    assert sorted(recorded()) == sorted(CORPUS)


def test_each_tool_has_kernels_that_it_speaks_of_and_more_that_it_does_not() -> None:
    kept = recorded().values()
    for tool in ("memcheck", "memcheck:variables", "racecheck", "racecheck:global", "initcheck", "synccheck"):
        assert 10 <= sum(tool in verdict for verdict in kept) < len(kept) / 2
