"""The judge `ptxas`: whether NVIDIA's assembler accepts what the ISA data makes legal."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path as File
from typing import TYPE_CHECKING

from ptxloom.conformance.kernel_text import module_text
from ptxloom.conformance.suite import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.conformance.suite import Subject
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion


def assembled(
    ptxas: str, paths: Sequence[Subject], target: Target, version: PtxVersion, level: int | None = None
) -> dict[str, str]:
    """The paths that a ptxas refuses, by name, each with its first error."""
    if not paths:
        return {}
    texts = [text_of(f"k{at}", path, 1) for at, path in enumerate(paths)]
    said = _run(ptxas, module_text(version, target, texts), target, level)
    if not said:
        return {}
    if len(paths) == 1:
        return {paths[0].name: said}
    half = len(paths) // 2
    return assembled(ptxas, paths[:half], target, version, level) | assembled(
        ptxas, paths[half:], target, version, level
    )


def _run(ptxas: str, text: str, target: Target, level: int | None) -> str:
    """The first line of ptxas's errors for a module; empty if it accepts it."""
    with tempfile.TemporaryDirectory() as folder:
        source = File(folder) / "paths.ptx"
        source.write_text(text, encoding="utf-8")
        options = [f"-arch={target}", *([f"-O{level}"] if level is not None else [])]
        command = [ptxas, *options, "-o", str(File(folder) / "paths.cubin"), str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if run.returncode == 0:
        return ""
    lines = [line for line in (run.stderr + run.stdout).splitlines() if "error" in line or "fatal" in line]
    return lines[0].replace(str(source), "paths.ptx") if lines else f"ptxas ended with {run.returncode}"
