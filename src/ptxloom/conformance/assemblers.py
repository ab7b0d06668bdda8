"""Finds ptxas: the named ones, or those of the installed toolkits."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.toolkits import find_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Assembler:
    """A ptxas.

    Attributes:
        path: Its path.
        version: Such as "13.5.37".
    """

    path: str
    version: str


def assemblers(named: Sequence[str] = ()) -> tuple[Assembler, ...]:
    """The named ptxas, or all that are found, each version once.

    Raises:
        PtxloomError: A named one does not run, or none is found.
    """
    candidates = [shutil.which(one) or one for one in named] or list(find_tools("ptxas"))
    found = {version: Assembler(path, version) for path in reversed(candidates) if (version := _version(path))}
    for path in candidates if named else ():
        if not _version(path):
            raise PtxloomError(f"{path} is not a ptxas that runs here")
    if not found:
        raise PtxloomError("no ptxas was found: `pip install nvidia-cuda-nvcc`, or name one: `--ptxas FILE`")
    return tuple(found[version] for version in sorted(found))


def _version(path: str) -> str:
    try:
        run = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    release = re.search(r"\bV(\d+(?:\.\d+)+)", run.stdout)
    return release[1] if release and run.returncode == 0 else ""
