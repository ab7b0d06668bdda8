"""Rewrites names of files in a compiler's line tables and messages: to the caller's names, not those of copies."""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE: Final = re.compile(r'^([^\S\n]*+\.file\s++\d++\s++")([^"\n]*+)(?=")', re.MULTILINE)
_ANONYMOUS: Final = re.compile(r"(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}(?=_)")
_PLACE: Final = re.compile(
    r"^((?:In file included from |[^\S\n]+from )?)([^\s(:][^(:\n]*+)(?=\(\d+\)|:\d+)", re.MULTILINE
)


class Names:
    """Maps a compiler's absolute paths to the caller's names.

    Args:
        name: The caller's name of the source.
        copy: The copy that the compiler was given; a relative path is below the current folder.
        folders: The folders of included files, with the caller's names.

    Example:
        >>> names = Names("src/gemm.cu", Path("/tmp/x1/gemm.cu"), {"/home/me/src": "src"})
        >>> print(names.in_ptx('.file 1 "/tmp/x1/gemm.cu"'), names.in_ptx('.file 2 "/home/me/src/tile.h"'))
        .file 1 "src/gemm.cu" .file 2 "src/tile.h"
    """

    def __init__(self, name: str, copy: Path, folders: Mapping[str, str]) -> None:
        self._name = name
        self._copies = {str(copy), str(copy.absolute()), str(copy.resolve()), copy.name}
        self._folders = {Path(folder).resolve(): called for folder, called in folders.items()}
        self._folders |= {Path(folder).absolute(): called for folder, called in folders.items()}

    def in_ptx(self, text: str) -> str:
        """PTX with rewritten `.file` directives.

        nvcc names anonymous namespaces after the path that it was given. Here they are named after the source's name.
        """
        hashed = f"{crc32(self._name.encode('utf-8', 'surrogatepass')):08x}"
        text = _ANONYMOUS.sub(lambda found: found[1] + hashed, text)
        return _FILE.sub(lambda found: found[1] + self._plain(found[2]), text)

    def in_messages(self, text: str) -> str:
        """Messages with rewritten file names."""
        return _PLACE.sub(lambda found: found[1] + self._called(found[2]), text)

    def _plain(self, path: str) -> str:
        """A name that is safe between quotation marks."""
        return self._called(path).replace("\n", " ").replace('"', "'")

    def _called(self, path: str) -> str:
        if path in self._copies:
            return self._name
        found = Path(path)
        for folder, called in self._folders.items():
            if found.is_relative_to(folder):
                return str(Path(called) / found.relative_to(folder))
        here = Path.cwd()
        return relpath(found, here) if found.is_absolute() and found.is_relative_to(here) else path
