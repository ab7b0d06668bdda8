"""Each output format says the same findings; machines can read what is meant for machines."""

import json
import re
from typing import Any

import pytest
from sarif_pydantic import Sarif

from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.source import Source, Span
from ptxloom.views.core.style import Style
from ptxloom.views.findings.finding_reports import concise, full, repair
from ptxloom.views.findings.machine_readable import as_json, github
from ptxloom.views.findings.sarif import sarif

TEXT = "// first\nstmatrix.sync.aligned.m16n8.x4.b8 [addr], {r0,r1,r2,r3};\n"
SOURCE = Source(TEXT, "dir with space/kernel.ptx")


def span(piece: str) -> Span:
    start = TEXT.index(piece)
    return Span(SOURCE, start, start + len(piece))


def missing_trans() -> Diagnostic:
    at = TEXT.index(".b8")
    return Diagnostic(
        rule="missing-trans",
        severity=Severity.ERROR,
        message="`stmatrix` with shape `.m16n8` requires `.trans`",
        span=span(".m16n8"),
        label="this shape is stored in column-major order only",
        section="9.7.14.5.16",
        fix=Fix("add the qualifier", Span(SOURCE, at, at), ".trans"),
        related=(Label(span("{r0,r1,r2,r3}"), "four registers: 50%, all of them"),),
    )


def test_full() -> None:
    assert full([missing_trans()]) == (
        "error[missing-trans]: `stmatrix` with shape `.m16n8` requires `.trans`\n"
        " --> dir with space/kernel.ptx:2:22\n"
        "  |\n"
        "2 | stmatrix.sync.aligned.m16n8.x4.b8 [addr], {r0,r1,r2,r3};\n"
        "  |                      ^^^^^^               ------------- four registers: 50%, all of them\n"
        "  |                      |\n"
        "  |                      this shape is stored in column-major order only\n"
        "  |\n"
        "  = note: PTX ISA 9.7.14.5.16\n"
        "help: add the qualifier: `stmatrix.sync.aligned.m16n8.x4.trans.b8`\n"
        "\n"
    )


def test_colour_changes_nothing_but_colour() -> None:
    painted = full([missing_trans()], Style(colour=True))
    assert "\x1b[1;31m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == full([missing_trans()])


def test_concise() -> None:
    assert concise([missing_trans()]) == (
        "dir with space/kernel.ptx:2:22: error: `stmatrix` with shape `.m16n8` requires `.trans` [missing-trans]\n"
    )


def test_json_has_every_field() -> None:
    (found,) = json.loads(as_json([missing_trans()]))
    assert (found["line"], found["column"], found["end_line"], found["end_column"]) == (2, 22, 2, 28)
    assert found["fix"]["replacement"] == ".trans"
    assert found["related"][0]["message"] == "four registers: 50%, all of them"
    assert json.loads(as_json([])) == []


def test_github_escapes_what_the_commands_use() -> None:
    tricky = Diagnostic("r", Severity.WARNING, "50%\nof it", span("[addr]"))
    line = github([tricky])
    assert line.startswith("::warning title=ptxloom (r),file=dir with space/kernel.ptx,line=2,col=35,")
    assert line.endswith("::50%25%0Aof it\n")
    assert line.count("\n") == 1


def test_github_and_sarif_say_what_to_do() -> None:
    fix = Fix("add the qualifier", Span(SOURCE, span(".b8").start, span(".b8").start), ".trans")
    found = Diagnostic("r", Severity.ERROR, "m", span(".m16n8"), "l", help="or not", fix=fix)
    line = github([found])
    assert line.endswith("::m: l%0Ahelp: or not%0Ahelp: add the qualifier: `stmatrix.sync.aligned.m16n8.x4.trans.b8`\n")
    (result,) = json.loads(sarif([found], "1.2.3", {}))["runs"][0]["results"]
    assert result["message"]["text"] == "m: l; or not"


def test_github_escapes_colons_and_commas_in_file_names() -> None:
    source = Source("x", "C:/a,b/k.ptx")
    line = github([Diagnostic("r", Severity.NOTE, "m", Span(source, 0, 1))])
    assert line.startswith("::notice title=ptxloom (r),file=C%3A/a%2Cb/k.ptx,line=1,")


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\x07"])
def test_nothing_in_a_finding_steers_a_terminal(hostile: str) -> None:
    source = Source(f"a{hostile}b", f"n{hostile}.ptx")
    bad = Diagnostic("r", Severity.ERROR, f"m{hostile}", Span(source, 0, 2), f"l{hostile}", help=f"h{hostile}")
    for text in (full([bad]), concise([bad]), github([bad])):
        assert hostile not in text


def test_repair_shows_the_whole_word() -> None:
    at = TEXT.index(".x4")
    assert repair(Fix("drop it", Span(SOURCE, at, at + 3), "")) == "drop it: `stmatrix.sync.aligned.m16n8.b8`"
    assert repair(Fix("drop all", Span(SOURCE, 0, len(TEXT)), "")) == "drop all"


def test_sarif_is_read_back_by_a_model_that_is_not_ours() -> None:
    text = sarif([missing_trans()], "1.2.3", {"missing-trans": "# missing-trans\n\nWhat it does.\n\nMore."})
    log = Sarif.model_validate_json(text)
    (run,) = log.runs
    (result,) = run.results or []
    assert result.rule_id == "missing-trans"
    document: Any = json.loads(text)
    raw = document["runs"][0]
    assert raw["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "What it does."
    physical = raw["results"][0]["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "dir%20with%20space/kernel.ptx"
    assert physical["region"] == {"startLine": 2, "startColumn": 22, "endLine": 2, "endColumn": 28}
    assert raw["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {
        "text": ".trans"
    }


def test_sarif_tells_relative_paths_from_absolute_ones() -> None:
    for name, artifact in (
        ("a b.ptx", {"uri": "a%20b.ptx", "uriBaseId": "%SRCROOT%"}),
        ("/a b.ptx", {"uri": "file:///a%20b.ptx"}),
        ("C:\\k.ptx", {"uri": "file:///C:/k.ptx"}),
    ):
        document: Any = json.loads(sarif([at_line("ret;\n", name)], "1.2.3", {}))
        location = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert location["artifactLocation"] == artifact


def test_a_fingerprint_survives_a_move_and_tells_equal_lines_apart() -> None:
    def fingerprints(*found: Diagnostic) -> list[Any]:
        results: Any = json.loads(sarif(found, "1.2.3", {}))["runs"][0]["results"]
        return [one["partialFingerprints"] for one in results]

    first, moved = at_line("ret;\n"), at_line("\n\n  ret;\n")
    assert fingerprints(first) == fingerprints(moved)
    one, two = fingerprints(first, moved)
    assert one != two
    assert fingerprints(first) != fingerprints(at_line("exit;\n"))


def at_line(text: str, name: str = "kernel.ptx") -> Diagnostic:
    start = len(text) - len(text.lstrip())
    return Diagnostic("no-form", Severity.ERROR, "no", Span(Source(text, name), start, start + 3))


def test_sarif_says_whether_everything_could_be_read() -> None:
    for complete in (True, False):
        log = json.loads(sarif([], "1.2.3", {}, complete=complete))
        assert log["runs"][0]["invocations"] == [{"executionSuccessful": complete}]


def test_sarif_of_nothing_is_a_run_without_results() -> None:
    assert json.loads(sarif([], "1.2.3", {}))["runs"][0]["results"] == []
