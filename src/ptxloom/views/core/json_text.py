"""JSON as every view writes it."""

from __future__ import annotations

import json
import re
from typing import Final

from ptxloom.records import record
from ptxloom.views.core.cells import visible

_NOT_ASCII: Final = re.compile(r"[^\n -~]")


def to_text(value: object) -> str:
    """JSON as we print it: indented, members in their order, one line feed at the end; nothing steers a terminal."""
    text = json.dumps(record(value), indent=2, ensure_ascii=False)
    return _NOT_ASCII.sub(_escaped, text) + "\n"


def _escaped(found: re.Match[str]) -> str:
    """A character as a JSON escape, if it must not be printed as it is."""
    return found[0] if visible(found[0]) == found[0] else json.dumps(found[0])[1:-1]
