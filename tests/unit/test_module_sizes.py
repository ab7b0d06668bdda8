"""No module of the package outgrows what one reads in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import ptxloom

MOST_LINES: Final = 400


def test_no_module_has_more_lines_than_one_reads_in_one_go() -> None:
    modules = sorted(Path(ptxloom.__file__).parent.rglob("*.py"))
    lines = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in modules}
    assert len(lines) > 500
    assert {module.name: count for module, count in lines.items() if count > MOST_LINES} == {}
