"""Something that is done as soon as a module is imported."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING

from ptxloom.triton.imported import follow

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_to_ask_whether_a_module_is_there_is_not_to_import_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "followed_here.py").write_text("value = 1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    finders = list(sys.meta_path)
    seen: list[str] = []
    follow("followed_here", lambda module: seen.append(module.__name__))
    assert importlib.util.find_spec("followed_here") is not None
    assert not seen
    importlib.import_module("followed_here")
    assert seen == ["followed_here"]
    assert sys.meta_path == finders
    monkeypatch.delitem(sys.modules, "followed_here")
