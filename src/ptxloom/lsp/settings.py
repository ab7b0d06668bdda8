"""The client's settings: the target and version to check for, the reported rules, the hints."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, cast

from ptxloom.checker import Selection
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.isa import PtxVersion, Target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ptxloom.settings import found as project_settings


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings for the findings.

    Attributes:
        target: Check for this target instead of the file's own.
        ptx_version: Check for this PTX version instead of the file's own.
        selection: The rules that are reported.
        inlay_hints: Whether registers of matrix instructions are followed by their contents.
    """

    target: str | None = None
    ptx_version: str | None = None
    selection: Selection = field(default_factory=Selection)
    inlay_hints: bool = False


def read_settings(options: object, default: Settings) -> Settings:
    """Read a client's settings: `target`, `ptxVersion`, `select`, `ignore`, `inlayHints`, alone or below `ptxloom`.

    Raises:
        UsageError: One of them has an illegal value.
    """
    if not isinstance(options, dict):
        return default
    table = cast("Mapping[str, Any]", options)
    if isinstance(table.get("ptxloom"), dict):
        table = cast("Mapping[str, Any]", table["ptxloom"])
    target = _text(table, "target") or default.target
    version = _text(table, "ptxVersion") or default.ptx_version
    if target is not None:
        Target.parse(target)
    if version is not None:
        PtxVersion.parse(version)
    select, ignore = _list(table, "select"), _list(table, "ignore")
    selection = default.selection if select is None and ignore is None else Selection.of(select or (), ignore or ())
    hints = table.get("inlayHints", default.inlay_hints)
    if not isinstance(hints, bool):
        raise UsageError("inlayHints", hints, "true or false")
    return Settings(target, version, selection, hints)


def above_project(asked: Settings, project: project_settings.Settings, file: Path) -> Settings:
    """The settings for one file: the request's, completed by its project's.

    Args:
        asked: The settings of the command line and the client; rules that they select replace the project's.
        project: The project's settings for the file.
        file: The file.
    """
    chosen = asked.selection if asked.selection != Selection() else project.selection
    selection = Selection(chosen.select, (*chosen.ignore, *project.ignored_in(file)))
    target, version = asked.target or project.target, asked.ptx_version or project.ptx_version
    return replace(asked, target=target, ptx_version=version, selection=selection)


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(key, value, "a string")
    return value or None


def _list(table: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    value = table.get(key)
    if value is None:
        return None
    rules = cast("list[object]", value) if isinstance(value, list) else []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in rules):
        raise UsageError(key, cast("object", value), "a list of rules")
    return tuple(map(str, rules))
