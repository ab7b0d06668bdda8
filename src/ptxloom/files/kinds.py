"""The kind of a text, by its contents and its name, so that other files are not mistaken for PTX."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

_DIRECTIVE: Final = re.compile(
    r"^[ \t]*\.(version|target|address_size|visible|extern|weak|common|entry|func|global|const|shared|reg|file)\b",
    re.MULTILINE,
)
_CUDA: Final = re.compile(r"\b__(global|device|shared|host)__\b")
_NAMES_OF_PTX: Final = ("", ".ptx")
_BY_NAME: Final = {
    **dict.fromkeys((".c", ".cc", ".cpp", ".cuh", ".cxx", ".h", ".hpp"), "C++; kernels are compiled from .cu files"),
    ".json": "JSON",
    ".ll": "LLVM's IR",
    ".md": "Markdown",
    ".py": "Python; `ptxloom exec -- python FILE` runs a program with its kernels",
    ".toml": "TOML; `ptxloom run` and `ptxloom why` take launch files",
}


def looks_like_ptx(text: str) -> bool:
    """Whether some line starts in a way that only PTX does.

    Example:
        >>> looks_like_ptx(".version 8.0"), looks_like_ptx("int main() {}")
        (True, False)
    """
    return _DIRECTIVE.search(text) is not None


def other_than_ptx(text: str, name: str) -> str:
    """The kind of a text that is not PTX, as the end of a sentence; empty if it is, or may be, PTX.

    Example:
        >>> other_than_ptx("int main() {}", "main.cpp"), other_than_ptx("add.s32 a, b, c;", "snippet.ptx")
        ('this is C++; kernels are compiled from .cu files', '')
    """
    if not text.strip() or looks_like_ptx(text):
        return ""
    suffix = PurePath(name).suffix.lower() if not name.startswith("<") else ""
    if suffix in _BY_NAME:
        return f"this is {_BY_NAME[suffix]}"
    if _CUDA.search(text):
        return "this is CUDA C++, and its name must end in .cu"
    if suffix not in _NAMES_OF_PTX:
        return "this is not PTX: no line begins with a directive such as `.version`, and its name does not end in .ptx"
    return ""
