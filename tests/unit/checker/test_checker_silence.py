"""Rules that are selected, ignored, or silenced by a comment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxloom.checker import Selection, check
from ptxloom.diagnostics import Diagnostic, Fix, UsageError
from ptxloom.syntax import parse

HEAD = ".version 9.0\n.target sm_90\n.entry k() {\n.reg .b32 a; .reg .b64 b;\n"
BAD = "ldmatrix.sync.m8n8.x1.b16 {a}, [b];"
BARE = "ldmatrix.sync.aligned.m8n8.x1.b16 a, [b];"


def found(body: str) -> list[str]:
    return [one.rule for one in check(parse(f"{HEAD}{body}\n}}\n"))]


@pytest.mark.parametrize(
    "body",
    [
        f"{BAD} // ptxloom: ignore[missing-aligned]",
        f"{BAD} // ptxloom: ignore",
        f"{BAD} /* ptxloom: ignore[missing-aligned] it is generated */",
        f"// ptxloom: ignore[missing-aligned]\n{BAD}",
        f"// ptxloom: ignore[missing-aligned]\n{BAD} // words behind it",
        f"// ptxloom: ignore[missing-aligned]\n{BAD} /* words behind it */",
        f"// ptxloom: ignore[missing-aligned]\n// more words\n\n{BAD}",
        "ldmatrix.sync.m8n8\n.x1.b16 {a}, [b]; // ptxloom: ignore[missing-aligned]".replace("\n.x1", ".x1"),
        f"{BAD} {BARE} // ptxloom: ignore[missing-aligned, missing-braces]",
    ],
)
def test_a_comment_silences_findings_of_its_line(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (f"{BAD} // ptxloom: ignore[missing-braces]", ["missing-aligned", "unused-ignore"]),
        (f"// ptxloom: ignore[missing-aligned]\nret;\n{BAD}", ["unused-ignore", "missing-aligned"]),
        ("ret; // ptxloom: ignore", ["unused-ignore"]),
        ("ret; // ptxloom: ignore[no-such-rule]", ["unused-ignore"]),
        (f"{BAD} // ignore[missing-aligned]", ["missing-aligned"]),
        (f"{BAD} // ptxloom: ignored", ["missing-aligned"]),
        (f"{BAD} {BARE} // ptxloom: ignore[missing-aligned, no-form]", ["missing-braces", "unused-ignore"]),
    ],
)
def test_a_comment_that_silences_nothing_is_noted(body: str, rules: list[str]) -> None:
    assert found(body) == rules


def test_what_the_parser_found_can_be_silenced_too() -> None:
    assert found("mov.b32 a, ]; // ptxloom: ignore[unexpected-token]") == []


@pytest.mark.parametrize(
    "comment",
    [
        "// ptxloom: ignore",
        "// ptxloom: ignore[no-form]",
        "// ptxloom: ignore[missing-aligned, no-form]",
        "// ptxloom: ignore[no-form, missing-aligned]",
        "// ptxloom: ignore[missing-aligned, no-form, missing-aligne]",
    ],
)
def test_the_fixes_of_notes_leave_no_note(comment: str) -> None:
    text = f"{HEAD}{BAD if 'aligned' in comment else 'ret;'} {comment}\n}}\n"
    for _ in range(3):
        for finding in check(parse(text)):
            text = applied(text, finding.fix)
            break
    assert check(parse(text)) == ()


def applied(text: str, fix: Fix | None) -> str:
    assert fix is not None
    return text[: fix.span.start] + fix.replacement + text[fix.span.end :]


def test_patterns_select_and_ignore() -> None:
    [finding] = check(parse(f"{HEAD}{BAD}\n}}\n"))
    other = replace(finding, rule="no-form")
    told = Selection.of(select=["missing-*"]).of_interest([finding, other])
    assert [one.rule for one in told] == ["missing-aligned"]
    assert Selection.of(select=["missing-*"], ignore=["missing-aligned"]).of_interest([finding, other]) == ()
    assert Selection().of_interest([finding, other]) == (finding, other)


def test_a_pattern_that_fits_no_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="missing-aligned"):
        Selection.of(ignore=["missing-aligne"])


def test_nothing_is_looked_for_where_no_comment_names_us() -> None:
    module = parse(f"{HEAD}{BAD} // ignore\n}}\n")
    findings: tuple[Diagnostic, ...] = check(module)
    assert [one.rule for one in findings] == ["missing-aligned"]
    assert "comments" not in vars(module)
