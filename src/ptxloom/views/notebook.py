"""What a notebook shows for each value: text always, HTML or SVG where a picture says more."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ptxloom.views import bank_pictures, maps, trees
from ptxloom.views.findings import full
from ptxloom.views.fragment_picture import svg

if TYPE_CHECKING:
    from ptxloom.banks import BankReport
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.fragments import Fragment
    from ptxloom.syntax import Module


def bank_report(value: BankReport) -> dict[str, str]:
    """A bank report with its picture."""
    return _preformatted(bank_pictures.full(value))


def diagnostic(value: Diagnostic) -> dict[str, str]:
    """A finding with its carets."""
    return _preformatted(full([value]))


def fragment(value: Fragment) -> dict[str, str]:
    """A fragment as its map and as its picture."""
    return {"text/plain": maps.full(value), "image/svg+xml": svg(value)}


def module(value: Module) -> dict[str, str]:
    """A module's headline, its functions, and what could not be read."""
    lines = [trees.headline(value), *(f"  {f.kind} {name}" for name, f in value.functions.items())]
    return _preformatted("\n".join(lines) + "\n" + full(value.diagnostics))


def _preformatted(text: str) -> dict[str, str]:
    """Text that a notebook shows in a fixed-width font."""
    return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
