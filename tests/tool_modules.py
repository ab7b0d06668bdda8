"""Scripts of `tools/` and of the tests, which are in no package, as modules."""

from __future__ import annotations

import sys
from importlib import util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def loaded(path: Path) -> ModuleType:
    """A script, executed anew as a module of its own, which its dataclasses look for among those that are imported."""
    spec = util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
