"""Compile the CUDA driver's libraries into a wheel: `HATCH_BUILD_HOOKS_ENABLE=1 python -m build --wheel`.

Without it a wheel holds their sources, fits every platform, and the libraries are compiled where they are first needed.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DriverHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the libraries beside their sources, and names the platform that they were compiled for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile them."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        from ptxloom.cuda_driver import build  # noqa: PLC0415 - the package that is being built

        if version == "editable" or sys.platform != "linux":
            return
        build.BUILT.mkdir(exist_ok=True)
        build.build(build.BUILT)
        files = ("key", *(library.soname for library in build.LIBRARIES))  # a wheel has no links
        build_data["artifacts"] += [f"src/ptxloom/cuda_driver/built/{name}" for name in files]
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["pure_python"] = False
