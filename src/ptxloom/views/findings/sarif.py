"""Findings as SARIF 2.1.0, the form that code-scanning services read (OASIS Standard, March 2020)."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from ptxloom.diagnostics import Severity
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.places import is_inside, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.diagnostics import Diagnostic, Fix
    from ptxloom.records import Json as Value
    from ptxloom.source import Span
    from ptxloom.syntax.places import Place

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT: Final = "%SRCROOT%"
ANY_NAME: Final = "surrogateescape"
"""Python's error handler for bytes of a file's name that are not UTF-8."""
"""The base of relative paths in a viewer: the checkout's folder."""

_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:/")
_PARAGRAPH: Final = re.compile(r"^## (What it does|Why)\n\n((?:(?!^## ).*\n?)*)", re.MULTILINE)

LEVEL: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif(
    diagnostics: Sequence[Diagnostic],
    version: str,
    pages: Mapping[str, str],
    extras: Sequence[Mapping[str, Value]] = (),
    *,
    complete: bool = True,
) -> str:
    """A SARIF log of one run.

    Args:
        diagnostics: The findings, in order.
        version: ptxloom's version.
        pages: Rule id -> its page in Markdown; a rule without a page is listed by its id.
        extras: For each finding, more members of its result; lists are appended to its own.
        complete: Whether all that was asked could be done; False if a file could not be read.
    """
    rules = sorted({d.rule for d in diagnostics})
    driver: Value = {
        "name": "ptxloom",
        "semanticVersion": version,
        "rules": [_rule(rule, pages.get(rule, "")) for rule in rules],
    }
    seen: Counter[str] = Counter()
    results: list[Value] = []
    for number, diagnostic in enumerate(diagnostics):
        result = _result(diagnostic, rules.index(diagnostic.rule)) | _fingerprint(diagnostic, seen)
        results.append(_joined(result, extras[number]) if extras else result)
    run: Value = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": complete}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return to_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _joined(result: dict[str, Value], extra: Mapping[str, Value]) -> dict[str, Value]:
    """A result with more members."""
    for name, value in extra.items():
        known = result.get(name)
        result[name] = [*known, *value] if isinstance(known, list) and isinstance(value, list) else value
    return result


def line_location(file: str, line: int, text: str) -> Value:
    """A line of a file that we have not read, as a related location with a remark."""
    physical: Value = {"artifactLocation": _uri(file), "region": {"startLine": max(line, 1)}}
    return {"physicalLocation": physical, "message": {"text": text}}


def _rule(rule: str, page: str) -> dict[str, Value]:
    """A rule's descriptor: the page goes along, so that a reader needs nothing else."""
    descriptor: dict[str, Value] = {"id": rule}
    if page:
        first = next((p for p in page.split("\n\n") if p.strip() and not p.startswith("#")), rule)
        descriptor["shortDescription"] = {"text": " ".join(first.split())}
        parts = {heading: " ".join(text.split()) for heading, text in _PARAGRAPH.findall(page)}
        if parts:
            descriptor["fullDescription"] = {"text": " ".join(parts.values())}
        descriptor["help"] = {"text": page, "markdown": page}
    return descriptor


def _result(diagnostic: Diagnostic, index: int) -> dict[str, Value]:
    """One finding as a result."""
    text = f"{diagnostic.message}: {diagnostic.label}" if diagnostic.label else diagnostic.message
    text += f"; {diagnostic.help}" if diagnostic.help else ""
    result: dict[str, Value] = {
        "ruleId": diagnostic.rule,
        "ruleIndex": index,
        "level": LEVEL[diagnostic.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _physical(place_of(diagnostic.span))}],
    }
    related = [_related(place_of(label.span), label.text) for label in diagnostic.related]
    related += _ptx_locations(diagnostic)
    if related:
        result["relatedLocations"] = related
    if diagnostic.fix is not None and not is_inside(place_of(diagnostic.span)):
        result["fixes"] = [_fix(diagnostic.fix)]
    return result


def _related(place: Place, text: str) -> Value:
    return {"physicalLocation": _physical(place), "message": {"text": text}}


def _ptx_locations(diagnostic: Diagnostic) -> list[Value]:
    """The PTX places of a finding, if they are in files."""
    spans = [diagnostic.span, *(label.span for label in diagnostic.related)]
    behind = [(found.ptx, is_inside(found)) for found in map(place_of, spans)]
    return [
        {
            "physicalLocation": {"artifactLocation": _artifact(ptx), "region": _region(ptx)},
            "message": {"text": "the PTX"},
        }
        for ptx, inside in behind
        if ptx is not None and not inside
    ]


def _fingerprint(diagnostic: Diagnostic, seen: Counter[str]) -> dict[str, Value]:
    """What stays the same when the finding moves to another line: the rule, the file and the line's text."""
    found, span = place_of(diagnostic.span), diagnostic.span
    quoted = span if found.span is None else found.span
    line = " ".join(quoted.source.line(quoted.line).split())
    text = f"{diagnostic.rule}\n{found.file}\n{line}"
    seen[text] += 1
    return {
        "partialFingerprints": {
            "ruleAndLine/v1": sha256(f"{text}\n{seen[text]}".encode(errors=ANY_NAME)).hexdigest()[:32]
        }
    }


def _artifact(span: Span) -> Value:
    """The file as a URI; a relative one is below the checkout's folder; stdin or a string keeps its name, quoted."""
    return _uri(span.source.name)


def _uri(name: str) -> Value:
    path = name.replace("\\", "/")
    if _ABSOLUTE.match(path):
        return {"uri": f"file://{'' if path[0] == '/' else '/'}{quote(path, '/:', errors=ANY_NAME)}"}
    return {"uri": quote(path, errors=ANY_NAME), "uriBaseId": ROOT}


def _region(span: Span) -> Value:
    """Lines and columns from 1, the end exclusive."""
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _physical(place: Place) -> Value:
    region: Value = {"startLine": place.line}
    if place.column:
        ends: Value = {"endLine": place.end_line, "endColumn": place.end_column}
        region = {"startLine": place.line, "startColumn": place.column, **ends}
    return {"artifactLocation": _uri(place.file), "region": region}


def _fix(fix: Fix) -> Value:
    """The edit, in the form that a viewer can apply."""
    replacement: Value = {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.replacement}}
    change: Value = {"artifactLocation": _artifact(fix.span), "replacements": [replacement]}
    return {"description": {"text": fix.description}, "artifactChanges": [change]}
