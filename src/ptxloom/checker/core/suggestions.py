"""Suggestions for undeclared names: the probable intention, and the fix (PTX ISA 4.3.3, 5.5, 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Fix, Label
from ptxloom.isa.special import special_registers
from ptxloom.isa.spelling import near_misses
from ptxloom.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from ptxloom.checker.core.scope import VisibleNames

_MOST_NAMES: Final = 500  # beyond this many visible names no near miss is looked for
_MOST_MORE: Final = 100  # a series that is short by more than this is not what was meant
_PLACEHOLDER: Final = re.compile(r"[%$]\d+")
_COUNT: Final = re.compile(r"\s*<\s*(\d+)\s*>")
_IN_CUDA: Final = {
    "threadIdx": "%tid",
    "blockIdx": "%ctaid",
    "blockDim": "%ntid",
    "gridDim": "%nctaid",
    "warpSize": "WARP_SZ",
}
"""The names of special registers in CUDA C++."""

Advice: TypeAlias = "tuple[str, Fix | None, tuple[Label, ...]]"
"""A label, a fix, and remarks at other places."""


def advice(name: str, span: Span, scope: VisibleNames) -> Advice:
    """What to report about a register or variable that is not declared."""
    if _PLACEHOLDER.fullmatch(name):
        return "this is an operand of inline assembly; in a module, name a register", None, ()
    if found := _behind_series(name, span, scope):
        return found
    bare = name.lstrip("%$")
    special = _IN_CUDA.get(bare, f"%{bare}")
    near = special if special in special_registers() or special == "WARP_SZ" else ""
    if not near and scope.size <= _MOST_NAMES:
        near = next(iter(near_misses(name, scope.names())), "")
    label = f"did you mean `{near}`?" if near else "not declared in this scope or around it"
    return label, write(near, span), ()


def _behind_series(name: str, span: Span, scope: VisibleNames) -> Advice | None:
    """Advice for a name that a longer series would contain."""
    series = scope.series_of(name)
    if series is None or series.count is None:
        return None
    stem, count, index = series.name, series.count, int(name[len(series.name) :])
    source = span.source
    written = _COUNT.match(source.text, series.start + len(stem))
    label = f"`{stem}<{count}>` ends at `{stem}{count - 1}`" if count else f"`{stem}<0>` declares nothing"
    related = (Label(Span(source, series.start, written.end() if written else series.end), "declared here"),)
    if written is None or index >= count + _MOST_MORE:
        return label, None, related
    return (
        label,
        Fix(f"declare `{stem}<{index + 1}>`", Span(source, *written.span(1)), str(index + 1), is_safe=True),
        related,
    )


def near_label(name: str, span: Span, labels: Iterable[str]) -> tuple[str, Fix | None]:
    """What to report about a label that does not exist."""
    known = tuple(labels)[:_MOST_NAMES]
    near = [one for one in known if one.lower() == name.lower()] or near_misses(name, known)
    return (f"did you mean `{near[0]}`?", write(near[0], span)) if near else ("no such label is visible here", None)


def write(near: str, span: Span) -> Fix | None:
    """Write another word; None if there is no such word."""
    return Fix(f"write `{near}`", span, near) if near else None
