"""PyTorch's device "cuda", put in place as soon as PyTorch is imported, if `PTXLOOM_TORCH_CUDA=1` asks for it."""

from __future__ import annotations

import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ptxloom.extras import is_installed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE: Final = "PTXLOOM_TORCH_CUDA"
_TORCH: Final = "torch"


def is_wanted() -> bool:
    """Whether CPU tensors shall be had as those of a device "cuda", and kernels can run at all."""
    return os.environ.get(VARIABLE) == "1" and is_installed("run")


def follow_torch() -> None:
    """Put the device in place now, or when PyTorch has been imported."""
    if not is_wanted():
        return
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "ptxloom")  # NVIDIA's asks PyTorch whether there is a device
    there = sys.modules.get(_TORCH)
    if there is None:
        sys.meta_path.insert(0, _Finder())
    elif not getattr(there.__spec__, "_initializing", False):
        _install()


def _install() -> None:
    from ptxloom.triton.torch_cuda import install  # noqa: PLC0415 - imports PyTorch

    install()


class _Finder(MetaPathFinder):
    """Stands before the others until PyTorch is looked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """PyTorch, found as it would be, and with a loader that has the last word."""
        del path, target
        if fullname != _TORCH:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """Loads a module as another loader does, and then puts the device in place."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the other."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """As the other, and then what is wanted."""
        self._loader.exec_module(module)
        _install()
