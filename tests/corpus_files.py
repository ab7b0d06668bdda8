"""The files of the corpus, read from `tests/corpus` and the examples whether they are packed or not."""

from __future__ import annotations

import lzma
import re
from dataclasses import dataclass
from pathlib import Path

_TESTS = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One PTX file that ptxas accepts.

    Args:
        path: Where it lies; `.ptx` or `.ptx.xz`.
    """

    path: Path

    @property
    def name(self) -> str:
        """`mma-sm_80` for `mma-sm_80.ptx.xz`."""
        return self.path.name.split(".")[0]

    def read(self) -> str:
        """The PTX text."""
        data = self.path.read_bytes()
        return (lzma.decompress(data) if self.path.suffix == ".xz" else data).decode()


def corpus_files() -> tuple[CorpusFile, ...]:
    """Every file of the corpus, every example and every kernel compiled for the machine, in order of name."""
    folders = (_TESTS / "corpus", _TESTS / "kernels" / "ptx", _TESTS.parent / "examples")
    paths = (path for folder in folders for pattern in ("*.ptx", "*.ptx.xz") for path in folder.glob(pattern))
    return tuple(sorted((CorpusFile(path) for path in paths), key=lambda file: (file.name, str(file.path))))


def count_instructions(text: str) -> int:
    """Instructions counted without a parser: statements that start with an opcode."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"[^"]*"', '""', text)
    text = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", "", text)
    text = re.sub(r"(?m)^\s*\.(loc|file|target|version|address_size)\b[^\n]*$", "", text)
    text = re.sub(r"=\s*\{.*?\};", ";", text, flags=re.DOTALL)
    opcode = r"(?:(?<=[;{}:])|^)\s*(?:@!?[\w$%]+\s+)?[a-z]\w*(?:\.[\w:]+)*(?=[\s;{\[])"
    operands = r"[^:;{}=]*(?:\{[^{}]*\}[^;{}]*)*;"
    return len(re.findall(opcode + operands, text))
