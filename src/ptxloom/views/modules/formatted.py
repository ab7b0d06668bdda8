"""PTX in the one layout of `syntax.format`, checked: what `fmt` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.syntax import format as laid_out
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.syntax import Module


def formatted(module: Module) -> str | None:
    """The module's text in the one layout; None if that would change its meaning."""
    text = laid_out(module)
    again = parse(text, module.source.name)
    same = again == module and not again.diagnostics and _comments(again) == _comments(module)
    return text if same else None


def _comments(module: Module) -> list[str]:
    """The texts of the comments."""
    return [module.source.text[start:end].rstrip() for start, end in module.comments]
