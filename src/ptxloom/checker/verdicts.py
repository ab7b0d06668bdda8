"""The findings of a text as bytes, cached on disk under everything that they depend on."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ptxloom import disk_cache
from ptxloom.checker.findings.packing import packed
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.source import Source


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and the target and version to judge it for.

    Attributes:
        source: The text.
        target: Instead of the text's own.
        ptx_version: Instead of the text's own.
        hints: Whether to include rules that report only on request.
    """

    source: Source
    target: str | None = None
    ptx_version: str | None = None
    hints: bool = False

    @property
    def key(self) -> str:
        """Everything that the verdict depends on besides ptxloom itself; the file's name does not matter."""
        text = sha256(self.source.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"check {text} {self.target} {self.ptx_version} {self.hints}"


def kept(question: Question) -> bytes | None:
    """The verdict on a text, packed, if it is cached."""
    return disk_cache.kept(question.key)


def verdict(question: Question) -> bytes:
    """Judge a text, and cache the verdict: its findings, packed."""
    from ptxloom.checker import check  # noqa: PLC0415 - kept verdicts need no rules
    from ptxloom.syntax.parser import parse_source  # noqa: PLC0415 - nor a parser

    module = parse_source(question.source)
    found = check(module, target=question.target, ptx_version=question.ptx_version, hints=question.hints)
    data = packed(found)
    disk_cache.keep(question.key, data)
    return data
