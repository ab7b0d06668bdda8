"""Finds numbers that `run --init` left open in a launch file and that are not filled in yet."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.files.limited import MOST_SETTINGS, content
from ptxloom.files.names import is_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.launch_files.launch_file import Argument

_OPEN: Final = re.compile(r'^name = ("(?:[^"\\\n]|\\.)*")\nvalue = 0[ \t]*#[ \t]*\?', re.MULTILINE)
"""The mark of an open value in the template of a launch file."""


def left_open(file: str, arguments: Sequence[Argument]) -> tuple[str, ...]:
    """The names of arguments that are still the 0 with a question mark from the template.

    Args:
        file: The launch file, or the PTX that words describe how to run.
        arguments: The arguments of the launch.
    """
    path = Path(file)
    if not is_file(path) or path.suffix != ".toml":
        return ()
    try:
        text = content(path, MOST_SETTINGS).decode("utf-8")
    except (OSError, ValueError, PtxloomError):  # it was read a moment ago, and may be gone
        return ()
    named = {json.loads(name) for name in _OPEN.findall(text)}
    return tuple(one.name for one in arguments if one.name in named and isinstance(one.value, int) and one.value == 0)
