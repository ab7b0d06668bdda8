# ruff: noqa: INP001 - no package: its folder stands in the search path
"""Runs first in Python programs that `ptxloom exec` starts, even where ptxloom is not installed.

`cuda.bindings.runtime` gets the functions of the libcudart of `exec`, and PyTorch its device, if ptxloom is
installed: each when it is imported. This module hides any other `sitecustomize`, and therefore runs it.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).parent)
# Cython modules with a capsule for each function, which later modules import. The second is that of 13.1.
_BINDINGS = frozenset({"cuda.bindings._internal.runtime", "cuda.bindings._bindings.cyruntime"})
_LIBRARY = "libcudart.so.13"


class _Finder(MetaPathFinder):
    """Precedes the other finders until the module is imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Find the module with the other finders, and wrap its loader."""
        del path, target
        if fullname not in _BINDINGS:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads a module as another loader does, and then adds functions to it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        """Delegate to the other loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Delegate to the other loader, then add the functions."""
        self._loader.exec_module(module)
        _bind(module.__dict__.get("__pyx_capi__", {}))


def _bind(functions: dict[str, Any]) -> None:
    """Replace `_cudaMalloc` and so on with the library's; functions that it lacks stay."""
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return
    for name, capsule in list(functions.items()):
        function = getattr(library, name.removeprefix("_"), None) if name.startswith("_cuda") else None
        if function is not None:
            signature = ctypes.create_string_buffer(python.PyCapsule_GetName(capsule))
            _names.append(signature)
            functions[name] = python.PyCapsule_New(ctypes.cast(function, ctypes.c_void_p), signature, None)


_names: list[Any] = []  # names of capsules, which do not own them


def _run() -> None:
    sys.path[:] = [one for one in sys.path if one != _HERE]
    mine = sys.modules.pop(__name__)
    try:
        import sitecustomize  # noqa: F401, PLC0415 # pyright: ignore[reportUnusedImport] - the other
    except ModuleNotFoundError:
        sys.modules[__name__] = mine
    sys.meta_path.insert(0, _Finder())
    try:
        from ptxloom.triton.awaited import follow_torch  # noqa: PLC0415 - this Python may have no ptxloom
    except ModuleNotFoundError:
        return
    follow_torch()


_run()
