"""`ptxloom examples`: the kernels that the README and the documentation use, written to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import ptxloom
from ptxloom.cli.results.output import CannotWrite, Outcome, reason, write_below
from ptxloom.files.errors import OutOfReach
from ptxloom.files.writing import inside
from ptxloom.source import title

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Write every example below the folder; a file that is there already must be the same.

    Raises:
        CannotWrite: A file of that name holds something else, or the folder cannot be made.
    """
    folder, home = Path(options.file), _home()
    found = sorted(path for path in home.rglob("*.*") if path.is_file() and path.suffix != ".pyc")
    texts = {folder / path.relative_to(home): path.read_text(encoding="utf-8") for path in found}
    try:
        for path, text in texts.items():
            if path.exists() and path.read_bytes() != text.encode():
                raise CannotWrite(f"{title(path)} exists already and holds something else; nothing was written")
        for path in texts:
            inside(folder, path).parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, OutOfReach) as error:
        raise CannotWrite(f"cannot write {title(folder)}: {reason(error)}") from error
    for path, text in texts.items():
        write_below(folder, path, text)
    return Outcome("".join(f"{title(path.as_posix())}\n" for path in texts))


def _home() -> Path:
    """Where the examples are: in the installed package, or in the checkout that the package is imported from."""
    package = Path(ptxloom.__file__).parent
    packed = package / "examples"
    return packed if packed.is_dir() else package.parents[1] / "examples"
