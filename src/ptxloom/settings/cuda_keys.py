"""The keys that say how CUDA C++ is compiled, in settings and in launch files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.files.compiler_flags import STANDARDS, Flags, of_words
from ptxloom.settings.toml_model import Flag, Key, Text, Texts, TomlTable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OPTIONS: Final = "more options of {}, of those that change no more than the code; others are the command line's"
CUDA: Final = Key(
    "cuda",
    TomlTable(
        (
            Key("defines", Texts(), "macros: `NAME` or `NAME=VALUE`", example='["N=4"]'),
            Key("includes", Texts(), "folders of headers, relative to this file", example='["../include"]'),
            Key("std", Text(STANDARDS), "the version of C++; the compiler's own if left out"),
            Key("use_fast_math", Flag(), "as the compilers' option of this name"),
            Key("nvcc_flags", Texts(), _OPTIONS.format("nvcc"), example='["--maxrregcount=64"]'),
            Key("nvrtc_flags", Texts(), _OPTIONS.format("NVRTC")),
        )
    ),
    "how CUDA C++ is compiled",
)
"""The key, and the table that it holds."""


def flags_in(table: Mapping[str, Any], file: str, folder: Path) -> Flags:
    """The flags in a file that the model has checked.

    Args:
        table: The whole file, or the part of it that holds the key.
        file: Its name in messages.
        folder: The folder that holds it.

    Raises:
        RefusedFlag: It has options that a file must not set.
        UsageError: It names macros that are malformed.
    """
    said: Mapping[str, Any] = table.get("cuda", {})
    flags = Flags(
        tuple(said.get("defines", ())),
        tuple(said.get("includes", ())),
        said.get("std", ""),
        said.get("use_fast_math", False),
    )
    for compiler in ("nvcc", "nvrtc"):
        flags += of_words(said.get(f"{compiler}_flags", ()), [compiler], file=file)
    return flags.below(folder)
