"""Hooks that run as soon as a program has imported a module."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def follow(name: str, then: Callable[[ModuleType], None]) -> None:
    """Call `then` with a module now, or once it has been imported."""
    there = sys.modules.get(name)
    if there is None:
        sys.meta_path.insert(0, _Finder(name, then))
    elif not getattr(there.__spec__, "_initializing", False):
        then(there)


class _Finder(MetaPathFinder):
    """Precedes the other finders until a module is imported: programs may also only look for its spec."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module with the other finders, and wrap its loader."""
        del path, target
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        try:
            spec = find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._loaded)
        return spec

    def _loaded(self, module: ModuleType) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._then(module)


class _Loader(Loader):
    """Loads a module with another loader, then calls the hook."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Delegate to the other loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Delegate to the other loader, then call the hook."""
        self._loader.exec_module(module)
        self._then(module)
