"""No module of the package outgrows what one reads in one go, and no folder what one takes in at a glance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import ptxloom

MOST_LINES: Final = 400
MOST_MODULES: Final = 30  # of a folder, besides its `__init__.py`


def test_no_module_has_more_lines_than_one_reads_in_one_go() -> None:
    modules = sorted(Path(ptxloom.__file__).parent.rglob("*.py"))
    lines = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in modules}
    assert len(lines) > 500
    assert {module.name: count for module, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_has_more_modules_than_one_takes_in_at_a_glance() -> None:
    root = Path(ptxloom.__file__).parent
    modules = Counter(module.parent.relative_to(root) for module in root.rglob("*.py") if module.stem != "__init__")
    assert len(modules) > 50
    assert {str(folder): count for folder, count in modules.items() if count > MOST_MODULES} == {}
