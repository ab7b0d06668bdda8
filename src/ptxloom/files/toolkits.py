"""Finds CUDA's compilers and headers: on the PATH, in a toolkit, in NVIDIA's packages of this Python."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def find_nvcc() -> str | None:
    """The path of nvcc: on the PATH, in a toolkit, or in a package of this Python."""
    inside = (home / "bin" / "nvcc" for home in _homes())
    return shutil.which("nvcc") or next((str(one) for one in inside if os.access(one, os.X_OK)), None)


def find_tools(name: str) -> Iterator[str]:
    """Every program with a name: on the PATH, in a toolkit, in a package of this Python; each place once."""
    found = shutil.which(name)
    places = [found] if found else []
    places += [str(one) for home in _homes() if os.access(one := home / "bin" / name, os.X_OK)]
    yield from dict.fromkeys(places)


def find_nvrtc() -> str | None:
    """The path of NVRTC's library: in a toolkit, or in a package of this Python."""
    libraries = (
        path
        for home in _homes()
        for folder in ("lib", "lib64", "bin", "bin/x64")
        for pattern in ("libnvrtc.so*", "nvrtc64_*.dll")
        for path in sorted((home / folder).glob(pattern), reverse=True)
        if "builtins" not in path.name and ".alt." not in path.name
    )
    return next(map(str, libraries), None)


def include_folders() -> Iterator[Path]:
    """The folders of CUDA's headers for NVRTC."""
    for home in _homes():
        for folder in (home / "include", home / "include" / "cccl"):
            if folder.is_dir():
                yield folder


def _homes() -> Iterator[Path]:
    """Folders laid out like a CUDA toolkit: those in variables, NVIDIA's Python packages, the usual place on Linux."""
    yield from (Path(home) for name in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(name)))
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted((one for one in Path(folder).glob("cu*") if one.is_dir()), reverse=True)
    yield Path("/usr/local/cuda")
