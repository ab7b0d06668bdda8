"""The installed build of PyTorch: ptxloom adds a device "cuda" to the one for the CPU."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

INDEX: Final = "https://download.pytorch.org/whl/cpu"
_STATED: Final = re.compile(r"^(__version__|cuda|hip)\b[^=\n]*= *'([^'\n]*)'", re.MULTILINE)


def install(version: str = "") -> str:
    """The command that installs the build for the CPU, of a version if one is given."""
    release = version.partition("+")[0]
    return f"pip install torch{f'=={release}+cpu' if release else ''} --index-url {INDEX}"


def refusal(version: str, toolkit: str) -> str:
    """The sentence on a build for a GPU, and what to install instead.

    Args:
        version: PyTorch's.
        toolkit: The toolkit that it was built with, such as `CUDA 13.0`.
    """
    return (
        f"PyTorch {version} is built with {toolkit} and needs a GPU's own driver; ptxloom provides a device for its "
        f"CPU build: {install(version)}"
    )


def installed() -> dict[str, str] | None:
    """The contents of PyTorch's version file (`__version__`, `cuda`, `hip`), not imported; None without PyTorch."""
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return None
    try:
        text = (Path(spec.submodule_search_locations[0]) / "version.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(_STATED.findall(text))


def toolkit(cuda: str | None, hip: str | None) -> str:
    """The toolkit of a build; empty for the CPU only."""
    return f"CUDA {cuda}" if cuda else f"HIP {hip}" if hip else ""
