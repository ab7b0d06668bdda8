"""Findings about features that a module's PTX version or target does not have yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.isa.spec import Need
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion
    from ptxloom.source import Span


def lacking(word: str, needs: Need, platform: Platform, place: Span, section: str) -> Iterator[Diagnostic]:
    """The findings that a module's version, or its target, does not have a word yet."""
    if platform.version is not None and platform.version < needs.version:
        yield needs_version(word, needs.version, platform, place, section)
    if platform.target is not None and needs.targets is not None and platform.target not in needs.targets:
        yield needs_target(word, str(needs.targets), platform, place, section)


def needs_version(
    word: str, since: PtxVersion, platform: Platform, place: Span, section: str, *, used: str = ""
) -> Diagnostic:
    """The finding that a word, `used` in some way, needs a later version of PTX than the module's."""
    where = platform.version_span
    return Diagnostic(
        "needs-version",
        Severity.ERROR,
        f"`{word}`{used} needs PTX {since} or later; {_says(where)} {platform.version}",
        place,
        f"new in PTX {since}",
        section,
        fix=Fix(f"write `.version {since}`", where, f".version {since}") if where else None,
        related=(Label(where, "the version is stated here"),) if where else (),
    )


def needs_target(
    word: str, targets: str, platform: Platform, place: Span, section: str, *, better: Target | None = None
) -> Diagnostic:
    """The finding that a word needs other targets than the module's; `better` is a replacement."""
    where = platform.target_span
    return Diagnostic(
        "needs-target",
        Severity.ERROR,
        f"`{word}` needs {targets}; {_says(where)} {platform.target}",
        place,
        f"not on {platform.target}",
        section,
        fix=Fix(f"write `{better}`", where, str(better)) if where and better else None,
        related=(Label(where, "the target is stated here"),) if where else (),
    )


def _says(where: Span | None) -> str:
    return "the module says" if where else "it is checked for"
