"""One browser and one page for all tests of the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import Browser, browser, installed
from ptxloom.web import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "explorer.html"
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if installed() is None:
        pytest.skip("no browser is installed (chromium)")
    with browser() as running:
        yield running


@pytest.fixture
def shown(chromium: Browser, explorer: Path) -> Iterator[Browser]:
    """The page as it opens; what it writes to the console fails the test."""
    chromium.size(1440, 900)
    chromium.prefer(color_scheme="light", reduced_motion="reduce")
    chromium.messages.clear()
    chromium.requests.clear()
    chromium.open(explorer)
    yield chromium
    assert chromium.messages == []
