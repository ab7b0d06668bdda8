"""Hints with a profile's counts after instructions that had bank conflicts.

The profile of `kernel.ptx` is read from `kernel.profile.json` beside it, which
`ptxloom run launch.toml --profile --output-format json -o kernel.profile.json` writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import content
from ptxloom.lsp.hints import Hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document

LARGEST_BYTES: Final = 1 << 24
"""A longer file is not read."""


def conflicts(document: Document, start: int, end: int) -> Iterator[Hint]:
    """The hints in a range of text; an instruction that has changed since, or is on another line, has no hint."""
    source = document.module.source
    for row in _rows(document.name):
        said, line = row.get("instruction"), row.get("line")
        counts = [row.get(name) for name in ("conflicts", "wavefronts", "ideal_wavefronts", "executions")]
        numbers = [one for one in counts if isinstance(one, int)]
        if not isinstance(said, str) or not isinstance(line, int) or len(numbers) < len(counts) or numbers[0] < 1:
            continue
        if not 1 <= line <= len(source.line_starts):
            continue
        text = source.line(line).rstrip()
        at = source.line_starts[line - 1] + len(text)
        if start <= at <= end and _bare(said) in _bare(text):
            passes, wavefronts, ideal, executions = numbers
            yield Hint(
                at,
                f"{passes:,} bank conflicts",
                f"{wavefronts:,} wavefronts where {ideal:,} would do, in {executions:,} executions by a warp",
            )


def _bare(text: str) -> str:
    """A text without its spaces."""
    return "".join(text.split())


def _rows(name: str) -> list[dict[str, object]]:
    """The instructions in a file's profile; empty if the file does not exist, or is not a profile."""
    try:
        path = Path(name).with_suffix(".profile.json")
        told: object = json.loads(content(path, LARGEST_BYTES))
    except (OSError, OutOfReach, ValueError, RecursionError):
        return []
    rows = _table(_table(told).get("profile")).get("instructions")
    return [_table(row) for row in cast("list[object]", rows)] if isinstance(rows, list) else []


def _table(value: object) -> dict[str, object]:
    """The value if it is a JSON object, else an empty object."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
