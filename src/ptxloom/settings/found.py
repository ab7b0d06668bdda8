"""The settings that apply to a file: those of the nearest `ptxloom.toml` or `[tool.ptxloom]` above it.

Settings that hide findings must be the project's own: a file above the repository, or one that other users can have
written, is skipped with a message.
"""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ptxloom.checker import Selection
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.compiler_flags import NO_FLAGS, Flags, RefusedFlag
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, content, named
from ptxloom.files.names import exists, is_file, is_folder
from ptxloom.files.toml import read_toml
from ptxloom.isa import PtxVersion, Target
from ptxloom.ownership import doubt
from ptxloom.settings.cuda_keys import flags_in
from ptxloom.settings.keys import SETTINGS
from ptxloom.settings.patterns import Patterns
from ptxloom.settings.toml_model import TOP, complaint
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OWN: Final = "ptxloom.toml"
SHARED: Final = "pyproject.toml"


class BadSettings(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A file of settings holds an illegal value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project.

    Attributes:
        path: The file that holds them; None without a file.
        target: Check for this target instead of the file's own.
        ptx_version: Check for this PTX version instead of the file's own.
        selection: Which rules are reported.
        exclude: What is left out when a folder is searched.
        respect_gitignore: Whether what git ignores is left out, too.
        per_file: Rules that are off for some files.
        flags: How CUDA C++ is compiled.
        passed_over: Nearer files that are not trusted, a sentence each.
    """

    path: Path | None = None
    target: str | None = None
    ptx_version: str | None = None
    selection: Selection = field(default_factory=Selection)
    exclude: Patterns = field(default_factory=Patterns)
    respect_gitignore: bool = True
    per_file: tuple[tuple[Patterns, tuple[str, ...]], ...] = ()
    flags: Flags = NO_FLAGS
    passed_over: tuple[str, ...] = ()

    def ignored_in(self, file: Path) -> tuple[str, ...]:
        """The rules that are off for one file."""
        relative = self.relative(file)
        if relative is None:
            return ()
        return tuple(rule for patterns, rules in self.per_file if patterns.cover(relative) for rule in rules)

    def relative(self, path: Path) -> str | None:
        """A path as the patterns here name it; None if it is not below the settings."""
        if self.path is None:
            return None
        full, folder = whole(path), self.path.parent
        return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else None


NONE: Final = Settings()
"""The default settings."""


def settings_for(path: Path) -> Settings:
    """The settings that apply to a file or folder.

    Raises:
        BadSettings: The nearest file of settings cannot be read, is not TOML, or holds an illegal value.
    """
    full = whole(path)
    return _of_folder(full if is_folder(full) else full.parent)


def _of_folder(folder: Path) -> Settings:
    """The settings in a folder, or those above it: not above the repository that the folder belongs to."""
    found, passed_over = _nearest(folder)
    return replace(found, passed_over=passed_over) if passed_over else found


_Nearest: TypeAlias = tuple[Settings, tuple[str, ...]]
_KNOWN: Final[dict[tuple[Path, bool], _Nearest]] = {}


def _nearest(folder: Path) -> _Nearest:
    """The settings in a folder or above it, and remarks on nearer ones that are not trusted.

    Results for folders above are cached, so that each folder of a search is read once.
    """
    at, outside = folder, False
    between: list[tuple[tuple[Path, bool], tuple[str, ...]]] = []
    while (nearest := _KNOWN.get((at, outside))) is None:
        found, not_believed = _in_folder(at, outside=outside)
        between.append(((at, outside), not_believed))
        if found is not None or at == at.parent:
            nearest = found or NONE, ()
            break
        at, outside = at.parent, outside or exists(at / ".git")
    for place, not_believed in reversed(between):
        nearest = _KNOWN[place] = nearest[0], (*not_believed, *nearest[1])
    return nearest


def _in_folder(folder: Path, *, outside: bool) -> tuple[Settings | None, tuple[str, ...]]:
    """The settings in a folder, if it has some that are trusted; and remarks on those that are not.

    Args:
        folder: The folder.
        outside: Whether there is a repository below it that the file belongs to.
    """
    passed_over: list[str] = []
    for name, inner in ((OWN, ()), (SHARED, ("tool", "ptxloom"))):
        path = folder / name
        if not is_file(path):
            continue
        if why := f"{title(path)} is above the repository" if outside else doubt(path):
            passed_over += [f"{title(path)} does not count: {why}; `--config FILE` has it count"] * _speaks(path, inner)
        elif (table := _table(path, inner)) is not None:
            return _settings(path, table, ".".join(inner) or TOP), tuple(passed_over)
    return None, tuple(passed_over)


def _speaks(path: Path, inner: tuple[str, ...]) -> bool:
    """Whether a file that is not trusted would have an effect; it is not read as TOML."""
    if not inner:
        return True
    try:
        return ".".join(inner).encode() in content(path, MOST_SETTINGS)
    except (OSError, OutOfReach):
        return False


def forget() -> None:
    """Forget cached files, which may have changed."""
    _KNOWN.clear()


def read_settings(path: Path) -> Settings:
    """The table of one file: all of it, or `[tool.ptxloom]` of a `pyproject.toml`.

    Raises:
        BadSettings: It cannot be read, is not TOML, or holds an illegal value.
    """
    full = whole(path)
    inner = ("tool", "ptxloom") if full.name == SHARED else ()
    return _settings(full, _table(full, inner, named) or {}, ".".join(inner) or TOP)


def whole(path: Path) -> Path:
    """A path from the root on, with no `..` in it; links stay."""
    return Path(path.anchor, *_without_dots(Path.cwd() / path))


def _without_dots(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return parts


def _table(
    path: Path, inner: tuple[str, ...], read: Callable[[Path, int], bytes] = content
) -> Mapping[str, Any] | None:
    """A file, or a table in it; None if it has no such table.

    Args:
        path: The file.
        inner: The names that lead to the table.
        read: How the file is read.

    Raises:
        BadSettings: It cannot be read, or is no TOML.
    """
    try:
        data = read(path, MOST_SETTINGS)
    except (OSError, OutOfReach, ValueError) as error:
        raise BadSettings(f"{title(path)}: the file cannot be read ({error})") from None
    try:
        found: Any = read_toml(data.decode("utf-8"))
    except ValueError as error:
        raise BadSettings(f"{title(path)}: this is not TOML: {error}") from None
    for name in inner:
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise BadSettings(f"{title(path)}: {'.'.join(inner)} is {found!r}; it must be a table")
    return cast("Mapping[str, Any] | None", found)


def _settings(path: Path, table: Mapping[str, Any], where: str) -> Settings:
    """The settings of a table.

    Raises:
        BadSettings: The table holds an illegal value.
    """
    if found := complaint(table, SETTINGS, where):
        raise BadSettings(f"{title(path)}: {found[0]} {found[1]}")
    try:
        if "target" in table:
            Target.parse(table["target"])
        if "ptx-version" in table:
            PtxVersion.parse(table["ptx-version"])
        selection = Selection.of(table.get("select", ()), table.get("ignore", ()))
        per_file = tuple(
            (Patterns.of([pattern]), Selection.of(ignore=rules).ignore)
            for pattern, rules in table.get("per-file-ignores", {}).items()
        )
        flags = flags_in(table, title(path), path.parent)
    except RefusedFlag as error:
        raise BadSettings(str(error)) from None
    except UsageError as error:
        raise BadSettings(f"{title(path)}: {error}") from None
    return Settings(
        path=path,
        target=table.get("target"),
        ptx_version=table.get("ptx-version"),
        selection=selection,
        exclude=Patterns.of(table.get("exclude", ())),
        respect_gitignore=table.get("respect-gitignore", True),
        per_file=per_file,
        flags=flags,
    )
