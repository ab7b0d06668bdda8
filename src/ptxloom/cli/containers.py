"""PTX inside of cubins, fatbins, objects and programs, taken out by NVIDIA's `cuobjdump`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.source import Source
from ptxloom.syntax.loader import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS: Final = 120


class NoPtxInside(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A compiled file gives no PTX."""


def extract(path: str) -> tuple[Source, ...]:
    """Every PTX text in a compiled file, in the order in which `cuobjdump` gives them.

    Raises:
        NoPtxInside: There is none, or no `cuobjdump` to look with.
    """
    tool = find_cuobjdump()
    if tool is None:
        raise NoPtxInside(
            f"{path}: this is a compiled file; reading the PTX in it takes `cuobjdump`, which is not on the PATH "
            "(it comes with the CUDA toolkit and with `pip install nvidia-cuda-cuobjdump`)"
        )
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "--extract-ptx", "all", str(Path(path).resolve())]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS, errors="replace"
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise NoPtxInside(f"{path}: `cuobjdump` could not be run ({problem})") from None
        found = tuple(_read(path, sorted(Path(folder).iterdir(), key=_number)))
        if found:
            return found
        said = " ".join((done.stderr or done.stdout).split()[:30])
        reason = f" (cuobjdump: {said})" if done.returncode and said else ""
        raise NoPtxInside(f"{path}: this is a compiled file that holds no PTX text{reason}")


def _read(path: str, files: list[Path]) -> Iterator[Source]:
    for file in files:
        name = f"{path}:{file.name}"
        yield Source(decoded(file.read_bytes(), name), name)


def _number(file: Path) -> tuple[int, str]:
    """`name.12.sm_80.ptx`: by its number."""
    numbers = [part for part in file.name.split(".") if part.isdecimal()]
    return int(numbers[-1]) if numbers else 0, file.name


def find_cuobjdump() -> str | None:
    """The program: on the PATH, in a CUDA toolkit, or beside this Python."""
    found = shutil.which("cuobjdump")
    if found is not None:
        return found
    homes = [Path(home) for name in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(name))]
    homes += [Path("/usr/local/cuda"), *_packaged()]
    beside = (home / "bin" / "cuobjdump" for home in homes)
    return next((str(one) for one in beside if os.access(one, os.X_OK)), None)


def _packaged() -> Iterator[Path]:
    """The folders of NVIDIA's packages in this environment."""
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted(one for one in Path(folder).glob("cu*") if one.is_dir())
