"""Findings as JUnit's XML: what most continuous integration shows beside the tests."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ptxloom.views.core.cells import harmless
from ptxloom.views.core.places import place_of
from ptxloom.views.findings.finding_reports import concise, helps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic


def junit(diagnostics: Sequence[Diagnostic]) -> str:
    """A suite a file, a failed case a finding; a file without findings has no suite."""
    root = Element("testsuites", name="ptxloom", tests=str(len(diagnostics)), failures=str(len(diagnostics)))
    for name, of_file in groupby(diagnostics, key=lambda d: place_of(d.span).file):
        found = list(of_file)
        number = str(len(found))
        suite = SubElement(root, "testsuite", name=_text(name), tests=number, failures=number, errors="0")
        for one in found:
            _case(suite, one)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _case(suite: Element, found: Diagnostic) -> None:
    place = place_of(found.span)
    at = f"{place.line}:{max(place.column, 1)}"
    case = SubElement(
        suite, "testcase", name=f"{found.rule} {at}", classname=_text(place.file), file=_text(place.file),
        line=str(place.line),
    )  # fmt: skip
    failure = SubElement(case, "failure", type=str(found.severity), message=_text(found.message))
    lines = [
        concise([found]).rstrip(),
        *([found.label] if found.label else []),
        *(f"help: {one}" for one in helps(found)),
    ]
    failure.text = _text("\n".join(lines))


def _text(text: str) -> str:
    """Text that XML can hold: characters that steer a terminal are shown as pictures of themselves."""
    return harmless(text).encode("utf-8", "replace").decode("utf-8")
