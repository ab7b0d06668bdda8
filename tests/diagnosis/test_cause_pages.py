"""Every cause has a page with a kernel that gets it, a picture, and the repair, behind which the kernel is silent."""

from __future__ import annotations

import pytest

from diagnosis.cause_pages import FILE, SHOWN, examined, example, written
from ptxloom import explain
from ptxloom.glossary import CAUSES


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_a_kernel_a_picture_and_a_repair(cause: str) -> None:
    page = explain(cause).markdown
    assert "as it is | as it should be" in page
    assert "\n- " in page
    assert "\n+ " in page
    assert f"\n{cause}" in page.partition("```text")[2]


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("cause", SHOWN)
def test_the_kernel_gets_its_cause_and_is_silent_once_it_is_repaired(cause: str) -> None:
    bug = SHOWN[cause].bug
    first = examined(bug, repaired=False).found[0]
    assert first.cause == cause
    assert first.picture is not None
    assert first.picture.wrong.any()
    assert examined(bug, repaired=True).found == ()


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("cause", SHOWN)
def test_the_page_says_what_comes_of_its_kernel(cause: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        FILE.write_text(written({one: example(shown) for one, shown in SHOWN.items()}), encoding="utf-8")
    assert example(SHOWN[cause]) in explain(cause).markdown


def test_examples_are_those_of_causes() -> None:
    assert list(SHOWN) == list(CAUSES)
