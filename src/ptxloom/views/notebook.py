"""What a notebook shows for each value: text always, HTML or SVG where a picture says more."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ptxloom.views.findings import full

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic


def diagnostic(value: Diagnostic) -> dict[str, str]:
    """A finding with its carets."""
    return _preformatted(full([value]))


def _preformatted(text: str) -> dict[str, str]:
    """Text that a notebook shows in a fixed-width font."""
    return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
