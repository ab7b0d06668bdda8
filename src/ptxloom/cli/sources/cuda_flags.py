"""How a `.cu` is compiled: by the settings of its project, then a launch file, then the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom.files.compiler_flags import NO_FLAGS, Flags, of_words, split
from ptxloom.isa.target import known_target
from ptxloom.settings import found

if TYPE_CHECKING:
    from argparse import Namespace

    from ptxloom.cli.command_line import Options


def flags_for(options: Options | Namespace, name: str, beside: Flags = NO_FLAGS, target: str | None = None) -> Flags:
    """The flags for a file.

    Args:
        options: Of the command line.
        name: The file; only CUDA C++ has flags.
        beside: The flags of a launch file.
        target: The target; checked here, before any compiler runs.

    Raises:
        UsageError: A flag or the target does not exist.
        RefusedFlag: An option must not be passed on to a compiler.
        BadSettings: The settings hold an illegal value.
    """
    if Path(name).suffix != ".cu":
        return NO_FLAGS
    if target is not None:
        known_target(target)
    return _of_settings(options, name) + beside + _of_words(options)


def _of_settings(options: Options | Namespace, name: str) -> Flags:
    if getattr(options, "isolated", False):
        return NO_FLAGS
    config = getattr(options, "config", None)
    return (found.read_settings(Path(config)) if config else found.settings_for(Path(name))).flags


def _of_words(options: Any) -> Flags:
    """The flags of the command line."""
    flags = Flags(
        tuple(options.cuda_defines),
        tuple(options.cuda_includes),
        options.cuda_standard,
        options.cuda_fast_math,
        options.cuda_arch or "",
        keep=options.keep_ptx or "",
    )
    for compiler, texts in (("nvcc", options.nvcc_flags), ("nvrtc", options.nvrtc_flags)):
        words = [word for text in texts for word in split(text, f"--{compiler}-flags")]
        flags += of_words(words, [compiler])
    return flags
