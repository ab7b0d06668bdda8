"""File patterns with the syntax of `.gitignore` (gitignore(5)), which settings use as well."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.settings import wildcards

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line: what it matches, whether only folders, and whether it cancels lines above it."""

    path: re.Pattern[bytes]
    folders_only: bool
    taken_back: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """The lines of a file of patterns; paths are relative to the folder that they apply to.

    Example:
        >>> some = Patterns.of(["*.ptx", "!kept.ptx", "build/"])
        >>> some.says("a/k.ptx"), some.says("a/kept.ptx"), some.says("k.cu"), some.says("build", folder=True)
        (True, False, None, True)
        >>> some.cover("build/a/k.cu")
        True
    """

    _lines: tuple[_Pattern, ...] = ()

    @classmethod
    def of(cls, lines: Iterable[str]) -> Patterns:
        """The patterns that lines stand for; empty lines and comments do not count."""
        return cls.of_bytes(map(_bytes, lines))

    @classmethod
    def of_bytes(cls, lines: Iterable[bytes]) -> Patterns:
        """The patterns of lines read from a file, as bytes."""
        return cls(tuple(found for line in lines if (found := _pattern(line)) is not None))

    def says(self, path: str, *, folder: bool = False) -> bool | None:
        """The verdict of the last line that matches a path.

        Args:
            path: With `/` between its parts.
            folder: Whether it is one.

        Returns:
            Whether it is left out; None if no line matches.
        """
        name = _bytes(path)
        for line in reversed(self._lines):
            if (folder or not line.folders_only) and line.path.fullmatch(name):
                return not line.taken_back
        return None

    def cover(self, path: str) -> bool:
        """Whether a file, or a folder that holds it, is matched."""
        if not self._lines:
            return False
        folders = (path[:at] for at, letter in enumerate(path) if letter == "/")
        return any(self.says(one, folder=True) for one in folders) or bool(self.says(path))


def _pattern(line: bytes) -> _Pattern | None:
    """One line; None if it is empty or a comment, or matches nothing."""
    text = _without_spaces(line.removesuffix(b"\n").removesuffix(b"\r").partition(b"\0")[0])
    if not text or text.startswith(b"#"):
        return None
    taken_back = text.startswith(b"!")
    text = text.removeprefix(b"!")
    folders_only = text.endswith(b"/")
    text = text.removesuffix(b"/")
    path = wildcards.compiled(text.removeprefix(b"/"), anywhere=b"/" not in text) if text else None
    return None if path is None else _Pattern(path, folders_only, taken_back)


def _without_spaces(line: bytes) -> bytes:
    """A line without the spaces at its end; one behind a backslash stays."""
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + line[len(bare) : len(bare) + backslashes % 2]


def _bytes(text: str) -> bytes:
    """The bytes of a name; an impossible name becomes bytes that no name has."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
