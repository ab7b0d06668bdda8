"""Which files a client may name: those below one folder, links resolved; and what these name in their turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, named
from ptxloom.files.names import exists, is_file
from ptxloom.files.reading import opened_for
from ptxloom.files.toml import read_toml
from ptxloom.source import title

_CODE: Final = {".py": "run", ".cu": "compiled"}
_LONGEST: Final = 1024


class OutOfFolder(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A file is named that a client may not name."""


@dataclass(frozen=True, slots=True)
class Folder:
    """What a client may name.

    Attributes:
        root: The folder, links resolved.
        trusted: Whether Python of the folder is run and CUDA C++ compiled: either reads what it likes.
    """

    root: Path
    trusted: bool = False

    def file(self, name: str) -> str:
        """The path of a file below the folder, links resolved.

        Raises:
            OutOfFolder: It is not below the folder, is not a file, or is code that is not trusted.
        """
        if not name or len(name) > _LONGEST or "\0" in name:
            raise OutOfFolder("the name of a file is empty, too long, or holds a zero")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise OutOfFolder(f"{title(name)}: no file can have this name") from None
        if not path.is_relative_to(self.root):
            raise OutOfFolder(f"{title(name)} leads out of the folder that this server was started for")
        if not is_file(path):
            raise OutOfFolder(f"{title(name)}: there is no such file")
        for called in (self.root / name, path):  # a link decides by its name, too, what is done
            done = _CODE.get(called.suffix)
            if done is not None and not self.trusted:
                raise OutOfFolder(f"{title(name)} would be {done}; the server was started without `--trust`")
            for other in opened_for(str(called)):
                if not self._holds(other):
                    raise OutOfFolder(
                        f"{title(name)}: {title(other)}, which may be read for it, leads out of the folder"
                    )
        return str(path.relative_to(self.root))

    def _holds(self, name: str) -> bool:
        """Whether a file is below the folder, links resolved, there or not."""
        try:
            return Path(name).resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):
            return False

    def launch(self, name: str) -> str:
        """The path of a launch file below the folder, all of whose files are below the folder, too.

        Raises:
            OutOfFolder: One is not, or the file is no launch file.
        """
        path = self.root / self.file(name)
        if path.suffix != ".toml":
            raise OutOfFolder(f"{title(name)} is not a launch file (.toml); `ptxloom run --init` writes one")
        try:
            table = read_toml(named(path, MOST_SETTINGS).decode("utf-8"))
        except (OSError, OutOfReach, ValueError) as error:
            raise OutOfFolder(f"{title(name)}: this is not TOML: {error}") from None
        for other in _named(table):
            whole = str(path.parent / other)
            for one in (whole, opened_for(whole)[0]):
                if not self._holds(one):
                    raise OutOfFolder(f"{title(name)} names {title(other)}, which leads out of the folder")
                if exists(one):  # the verb reports what does not exist
                    self.file(one)
        return str(path.relative_to(self.root))


def _named(table: dict[str, Any]) -> list[str]:
    """The files that a launch file names."""
    found: list[object] = [table.get("ptx")]
    for key, names in (("args", ("npy", "save")), ("compare", ("equals",))):
        entries: Any = table.get(key)
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else []:
            found += [cast("dict[str, Any]", entry).get(name) for name in names] if isinstance(entry, dict) else []
    return [one for one in found if isinstance(one, str)]
