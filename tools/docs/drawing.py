"""The pictures of the documents: drawn by the commands that the pages show, for a light and for a dark page."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT: Final = Path(__file__).parents[2]
THEMES: Final = {"only-light": (), "only-dark": ("--dark",)}


class NothingDrawn(Exception):  # noqa: N818 - reads as the sentence it prints
    """A command that should have drawn a picture did not; the text says what it said."""


def draw(command: str, folder: Path, themes: Iterable[str] = tuple(THEMES)) -> dict[str, Path]:
    """Run a command with its picture put into a folder.

    Args:
        command: As a reader types it in the root of a checkout: `ptxloom map ldmatrix.m8n8.x4.b16 -o map.svg`.
        folder: Where to.
        themes: For which grounds, of `THEMES`.

    Returns:
        The files, for each theme.

    Raises:
        NothingDrawn: The command is none of ptxloom's, or drew nothing.
    """
    program, *words = shlex.split(command)
    if program != "ptxloom" or "-o" not in words or not words[words.index("-o") + 1].endswith(".svg"):
        raise NothingDrawn(f"`{command}` is not `ptxloom ... -o FILE.svg`")
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Path] = {}
    for theme in themes:
        options = THEMES[theme]
        name = hashlib.sha256(shlex.join([*words, *options]).encode()).hexdigest()[:16]
        made[theme] = folder / f"{words[0]}-{name}.svg"
        fresh = folder / f"{words[0]}-{name}-{os.getpid()}.svg"  # pages are read by several processes at once
        placed = [str(fresh) if before == "-o" else word for before, word in zip(["", *words], words, strict=False)]
        said = io.StringIO()
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main([*placed, *options])
        if not fresh.exists():
            raise NothingDrawn(f"`{command}` drew nothing: {said.getvalue().strip()}")
        fresh.replace(made[theme])
    return made
