"""Directives that are statements of their own (PTX ISA 11): one small reader each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.version import SPELLING
from ptxloom.syntax.declarations import call_prototype
from ptxloom.syntax.sections import section
from ptxloom.syntax.tree import (
    AddressSize,
    Alias,
    BranchTargets,
    CallTargets,
    File,
    Loc,
    LocIntermediate,
    Name,
    Pragma,
    Target,
    Version,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.source import Source
    from ptxloom.syntax.lexer import Cursor
    from ptxloom.syntax.tree import Statement


def version(cursor: Cursor, source: Source, start: int) -> Version:
    """`.version major.minor`."""
    match = SPELLING.fullmatch(cursor.here)
    if match is None:
        raise cursor.unexpected("a version such as `9.0`")
    cursor.advance()
    return Version(int(match[1]), int(match[2]), source=source, start=start, end=cursor.behind)


def target(cursor: Cursor, source: Source, start: int) -> Target:
    """`.target names`."""
    names = [cursor.name("a target such as `sm_90`")]
    while cursor.accept(","):
        names.append(cursor.name("a target option"))
    return Target(tuple(names), source=source, start=start, end=cursor.behind)


def address_size(cursor: Cursor, source: Source, start: int) -> AddressSize:
    """`.address_size bits`."""
    return AddressSize(cursor.number("32 or 64"), source=source, start=start, end=cursor.behind)


def loc(cursor: Cursor, source: Source, start: int) -> Loc:
    """`.loc file line column`, with the place of an inlined call."""
    place = _place(cursor)
    function: str | None = None
    offset = 0
    inlined: tuple[int, int, int] | None = None
    if cursor.accept(","):
        cursor.expect("function_name", "after the place")
        function = cursor.name("the label of the function's name")
        if cursor.accept("+"):
            offset = cursor.number("an offset in bytes")
        cursor.expect(",", "after the function's name")
        cursor.expect("inlined_at", "after the function's name")
        inlined = _place(cursor)
    return Loc(*place, function, offset, inlined, source=source, start=start, end=cursor.behind)


def loc_intermediate(cursor: Cursor, source: Source, start: int) -> LocIntermediate:
    """`.loc_intermediate file line column`."""
    return LocIntermediate(*_place(cursor), source=source, start=start, end=cursor.behind)


def _place(cursor: Cursor) -> tuple[int, int, int]:
    return cursor.number("a file's index"), cursor.number("a line"), cursor.number("a column")


def file(cursor: Cursor, source: Source, start: int) -> File:
    """`.file index "name"`, optionally with a timestamp and a size."""
    index = cursor.number("a file's index")
    name = cursor.string("the file's name in quotes")
    timestamp = cursor.number("a timestamp") if cursor.accept(",") else None
    size = cursor.number("a size in bytes") if cursor.accept(",") else None
    return File(index, name, timestamp, size, source=source, start=start, end=cursor.behind)


def pragma(cursor: Cursor, source: Source, start: int) -> Pragma:
    """`.pragma "string", ...`."""
    strings = [cursor.string("a string")]
    while cursor.accept(","):
        strings.append(cursor.string("a string"))
    return Pragma(tuple(strings), source=source, start=start, end=cursor.behind)


def _names(cursor: Cursor, what: str) -> tuple[Name, ...]:
    found: list[Name] = []
    while True:
        at = cursor.start
        found.append(Name(cursor.name(what), start=at))
        if not cursor.accept(","):
            return tuple(found)


def branch_targets(cursor: Cursor, source: Source, start: int) -> BranchTargets:
    """`.branchtargets labels`."""
    return BranchTargets(_names(cursor, "a label"), source=source, start=start, end=cursor.behind)


def call_targets(cursor: Cursor, source: Source, start: int) -> CallTargets:
    """`.calltargets functions`."""
    return CallTargets(_names(cursor, "a function"), source=source, start=start, end=cursor.behind)


def alias(cursor: Cursor, source: Source, start: int) -> Alias:
    """`.alias name, target`."""
    name = cursor.name("the new name")
    cursor.expect(",", "between the names")
    return Alias(name, cursor.name("the function it stands for"), source=source, start=start, end=cursor.behind)


UNCLOSED: Final[dict[str, Callable[[Cursor, Source, int], Statement]]] = {
    ".version": version,
    ".target": target,
    ".address_size": address_size,
    ".loc": loc,
    ".loc_intermediate": loc_intermediate,
    ".file": file,
    ".section": section,
}
"""Directives without a semicolon."""

CLOSED: Final[dict[str, Callable[[Cursor, Source, int], Statement]]] = {
    ".pragma": pragma,
    ".branchtargets": branch_targets,
    ".calltargets": call_targets,
    ".callprototype": call_prototype,
    ".alias": alias,
}
"""Directives that end in a semicolon."""
