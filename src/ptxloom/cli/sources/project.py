"""The settings of each file, from the project and the command line, and what is left out of a folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.checker import Selection
from ptxloom.cli.results.output import talk
from ptxloom.cli.sources.left_out import usual
from ptxloom.lazy import cached_property
from ptxloom.settings import found, git
from ptxloom.settings.patterns import Patterns
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.settings.found import Settings


class Terms(NamedTuple):
    """How one file is judged.

    Attributes:
        target: Instead of the file's own.
        ptx_version: Instead of the file's own.
        selection: Which rules are reported.
    """

    target: str | None
    ptx_version: str | None
    selection: Selection


class Project:
    """The effective settings; the command line takes precedence.

    `--select` replaces what the settings select and ignore, `--ignore` adds to it.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._asked = Selection.of(options.select, options.ignore)
        self._excluded = Patterns.of(options.exclude)
        self._told: set[Path] = set()
        self._passed_over: set[str] = set()
        self._hidden: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    @cached_property
    def _given(self) -> Settings | None:
        """The settings that apply to every file, if `--config` or `--isolated` is given."""
        if self._options.isolated:
            return found.NONE
        return found.read_settings(Path(self._options.config)) if self._options.config else None

    def settings(self, path: Path) -> Settings:
        """The settings of a project for a file or folder.

        Raises:
            BadSettings: The file of settings cannot be read, or holds an illegal value.
        """
        settings = found.settings_for(path) if self._given is None else self._given
        for sentence in settings.passed_over:
            if sentence not in self._passed_over:
                self._passed_over.add(sentence)
                talk(f"ptxloom: {sentence}")
        if settings.path is not None and settings.path not in self._told:
            self._told.add(settings.path)
            self.remark(f"settings: {title(_short(settings.path))}")
        return settings

    def terms(self, path: Path) -> Terms:
        """How a file is judged; raises as `settings` does."""
        settings, asked = self.settings(path), self._asked
        said = Selection() if asked.select else settings.selection
        ignore = (*said.ignore, *asked.ignore, *settings.ignored_in(path))
        selection = Selection(asked.select or said.select, ignore)
        options = self._options
        return Terms(options.target or settings.target, options.ptx_version or settings.ptx_version, selection)

    def heard(self, file: Path, every: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
        """The findings of a file to report; those that only the settings hide are counted."""
        told = self.terms(file).selection.of_interest(every)
        asked = self._asked.of_interest(every)
        settings = self.settings(file)
        if settings.path is not None and self._given is None and (hidden := len({*asked} - {*told})):
            self._hidden[title(_short(settings.path))] += hidden
        return told

    @property
    def remark_on_settings(self) -> str:
        """A remark on what settings files that the user did not name hide; empty if they hide nothing."""
        hidden = [f"{name} hides {number} more" for name, number in sorted(self._hidden.items())]
        return "; ".join([*hidden, *(f"{name} leaves out {n}" for name, n in sorted(self._left_out.items()))])

    def leaves_out(self, path: Path, *, folder: bool) -> bool:
        """Whether something in a folder that is searched is skipped; raises as `settings` does."""
        why = self._why(path, folder=folder)
        if why:
            self.remark(f"left out: {title(_short(path))} ({title(why)})")
        return bool(why)

    def _why(self, path: Path, *, folder: bool) -> str:
        if why := usual(path, folder=folder):
            return why
        if self._excluded.cover(_short(path)) or self._excluded.says(_short(path), folder=folder):
            return "--exclude"
        settings = self.settings(path.parent)
        relative = settings.relative(path)
        if relative is not None and settings.exclude.says(relative, folder=folder):
            if settings.path is not None and self._given is None:
                self._left_out[title(_short(settings.path))] += 1
            return "exclude in the settings"
        heeded = self._options.gitignore and settings.respect_gitignore
        file = git.ignored_by(found.whole(path), folder=folder) if heeded else None
        return "" if file is None else _short(file)

    def remark(self, text: str) -> None:
        """Print a remark if `-v` is given."""
        if self._options.verbose:
            talk(f"ptxloom: {text}")


def _short(path: Path) -> str:
    """A path as seen from here."""
    whole, here = found.whole(path), Path.cwd()
    return (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix()


def settings_files(names: Iterable[str]) -> Iterator[str]:
    """The possible settings files of some files; they need not exist."""
    folders = {above for name in names for above in (found.whole(Path(name)), *found.whole(Path(name)).parents)}
    yield from (str(folder / name) for folder in sorted(folders) for name in (found.OWN, found.SHARED))


def forget() -> None:
    """Forget all cached settings."""
    found.forget()
    git.forget()
