"""Each rule's page holds: its example breaks the rule, what it says to write instead breaks none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ptxloom import checker
from ptxloom.checker import check, rule_page, rules
from ptxloom.checker.pages import HINTS
from ptxloom.diagnostics import Diagnostic, Severity, UsageError
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = """.version 9.4
.target sm_100a
.address_size 64
.global .align 16 .b8 device[64];
.entry k(.param .b64 karg) {
  .reg .b32 r<8>, rows; .reg .b64 long; .reg .u32 u<4>; .reg .s32 s<4>; .reg .f32 f<4>; .reg .f16x2 h<4>;
  .reg .b16 half; .reg .b8 byte; .reg .pred p; .reg .v2 .b32 pair; .reg .v4 .f32 quad; .reg .v2 .b16 short;
  .shared .align 16 .b8 tile[1024]; .shared .b32 word; .local .align 16 .b8 stack[64]; .const .align 16 .b8 table[64];
"""


def in_kernel(text: str) -> str:
    return text if text.startswith(".version") else f"{HEAD}{text}\n}}\n"


def found(text: str) -> tuple[Diagnostic, ...]:
    return check(parse(in_kernel(text)))


def hinted(rule: str, text: str) -> tuple[Diagnostic, ...]:
    """What is found with hints, if the rule is one."""
    return tuple(one for one in check(parse(in_kernel(text)), hints=True) if one.rule == rule) if rule in HINTS else ()


def ids(findings: Iterable[Diagnostic]) -> list[str]:
    return [finding.rule for finding in findings]


@pytest.mark.parametrize("rule", rules())
def test_the_example_breaks_the_rule_and_the_advice_breaks_none(rule: str) -> None:
    page = rule_page(rule)
    assert page.markdown.startswith(f"# {rule}\n")
    if page.example:
        assert rule in ids((*found(page.example), *hinted(rule, page.example)))
        assert ids((*found(page.instead), *hinted(rule, page.instead))) == []


def test_every_rule_that_the_code_names_has_a_page() -> None:
    folder = Path(checker.__file__).parent
    named = {
        rule
        for path in folder.rglob("*.py")
        for rule in re.findall(r"\(\s*\"([a-z]+(?:-[a-z]+)+|sink)\",", path.read_text(encoding="utf-8"))
    }
    assert named <= set(rules())
    assert len(named) > 25


def test_explain_names_the_nearest_rule() -> None:
    with pytest.raises(UsageError, match="missing-trans"):
        rule_page("mising-trans")
    with pytest.raises(UsageError, match=r"rule is '\.\./x'"):
        rule_page("../x")


# one instruction in the kernel above -> the rules it breaks, the text under each caret
CASES = {
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [rows];": [],
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {f0, f1, f2, f3}, [tile+32];": [],
    "ldmatrix.sync.aligned.m8n8.x2.b16 pair, [long+-16];": [],
    "ldmatrix.sync.aligned.m8n8.x4.b16 quad, [long];": [],
    "ldmatrix.sync.aligned.m8n8.x2.b16 {pair.x, pair.y}, [long];": [],
    "ldmatrix.sync.aligned.m8n8.x4.b16 {_, r1, _, _}, [long];": [],
    "ldmatrix.sync.aligned.m8n8.x4.b16 {r0, u0, s0, s1}, [long];": [],
    "ldmatrix.sync.aligned.m8n8.x4.b16 {u0, r0, f0, r1}, [long];": [],
    "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {r0}, [tile+8];": [],
    "movmatrix.sync.aligned.m8n8.trans.b16 r0, pair.x;": [],
    "@!p ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [long];": [],
    "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {r0, r1}, [rows];": [("missing-trans", ".m16n16")],
    "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {r0, r1}, [rows];": [("qualifier-combination", ".x4")],
    "ldmatrix.sync.aligned.m8n16.x1.shared.b16 {r0}, [rows];": [("qualifier-combination", ".b16")],
    "ldmatrix.aligned.m8n8.x1.shared.b16 {r0}, [rows];": [("missing-aligned", "ldmatrix")],
    "ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {r0}, [rows];": [("unknown-qualifier", ".shared::cluster")],
    "ldmatrix.sync.aligned.m8n8.x64.shared.b16 {r0}, [rows];": [("misread-num", ".x64")],
    "stmatrix.sync.aligned.m8n8.x1.trans.trans.b16 [rows], {r0};": [("repeated-qualifier", ".trans")],
    "ldmatrix.sync.aligned.sync.m8n8.row.x1.b16 {r0}, [rows];": [
        ("repeated-sync", ".sync"),
        ("ignored-qualifier", ".row"),
    ],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0};": [("operand-count", "{r0}")],
    "ldmatrix.sync.aligned.m8n8.x1.b16;": [("operand-count", "ldmatrix")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, rows;": [("operand-kind", "rows")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 5, [rows];": [("operand-kind", "5")],
    "ldmatrix.sync.aligned.m8n8.x2.b16 r0, [rows];": [("missing-braces", "r0")],
    "ldmatrix.sync.aligned.m8n8.x4.b16 pair, [rows];": [("vector-length", "pair")],
    "ldmatrix.sync.aligned.m8n8.x2.b16 short, [rows];": [("element-width", "short")],
    "ldmatrix.sync.aligned.m8n8.x2.b16 {pair, r0}, [rows];": [("not-a-register", "pair")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {pair.z}, [rows];": [("not-a-register", "pair.z")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0.x}, [rows];": [("not-a-register", "r0.x")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {tile}, [rows];": [("not-a-register", "tile")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {p}, [rows];": [("element-width", "p")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {long}, [rows];": [("element-width", "long")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {5}, [rows];": [("not-a-register", "5")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {%tid.x}, [rows];": [("not-a-register", "%tid.x")],
    "stmatrix.sync.aligned.m8n8.x1.b16 [rows], {%tid};": [("not-a-register", "%tid")],
    "stmatrix.sync.aligned.m8n8.x1.b16 [rows], {%tid.q};": [("not-a-register", "%tid.q")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows+18446744073709551616];": [],
    "ldmatrix.sync.aligned.m8n8.x1.b16 _, [rows];": [("sink", "_")],
    "ldmatrix.sync.aligned.m8n8.x2.b16 {_, _}, [rows];": [("sink", "_")],
    "ldmatrix.sync.aligned.m8n8.x2.b16 {f0, h0}, [rows];": [("element-types", "h0")],
    "ldmatrix.sync.aligned.m8n8.x4.b16 {f0, _, u0, _}, [rows];": [("element-types", "u0")],
    "ldmatrix.sync.aligned.m8n8.x4.b16 {r0, r1, r0, r1}, [rows];": [
        ("duplicate-destination", "r0"),
        ("duplicate-destination", "r1"),
    ],
    "stmatrix.sync.aligned.m8n8.x2.b16 [rows], {r0, r0};": [],
    "stmatrix.sync.aligned.m8n8.x2.b16 [rows], {r0, 5};": [("not-a-register", "5")],
    "stmatrix.sync.aligned.m8n8.x1.b16 [rows], {5};": [("not-a-register", "5")],
    "stmatrix.sync.aligned.m8n8.x1.b16 [rows], {0f3F800000};": [("not-a-register", "0f3F800000")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r9}, [nowhere];": [("undeclared-name", "r9"), ("undeclared-name", "nowhere")],
    "@q ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows];": [("undeclared-name", "q")],
    "@r0 ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows];": [("guard-type", "@r0")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [16];": [("address-form", "[16]")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows-16];": [("address-form", "[rows-16]")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows+r1];": [("address-form", "[rows+r1]")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [rows, 1];": [("address-form", "[rows, 1]")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [tile[16]];": [("address-form", "[tile[16]]")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [f0];": [("address-register", "f0")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [half];": [("address-register", "half")],
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [half];": [("address-register", "half")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [pair];": [("address-register", "pair")],
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [stack];": [("state-space", "stack")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [stack];": [("state-space", "stack")],
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [karg];": [("state-space", "karg")],
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [word];": [("row-alignment", "[word]")],
    "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {r0}, [tile+4];": [("row-alignment", "[tile+4]")],
    "movmatrix.sync.aligned.m8n8.trans.b16 _, r0;": [("sink", "_")],
    "movmatrix.sync.aligned.m8n8.trans.b16 r0, 5;": [("operand-kind", "5")],
    "movmatrix.sync.aligned.m8n8.trans.b16 r0, %laneid;": [("not-a-register", "%laneid")],
    "movmatrix.sync.aligned.m8n8.trans.b16 r0, half;": [("element-width", "half")],
    "movmatrix.sync.aligned.m8n8.b16 r0, r1;": [("missing-trans", "movmatrix")],
}  # fmt: skip


@pytest.mark.parametrize("instruction", CASES)
def test_rules_and_carets(instruction: str) -> None:
    findings = found(instruction)
    assert [(one.rule, one.span.text) for one in findings] == CASES[instruction]
    for one in findings:
        assert one.section
        assert one.message == one.message.strip()
        assert not one.message.endswith(".")


LAX = {
    "ldmatrix.sync.aligned.x1.m8n8.b16 {r0}, [rows];",
    "ldmatrix.sync.aligned.sync.m8n8.x1.b16 {r0}, [rows];",
    "ldmatrix.sync.aligned.m8n8.x1.col.b16 {r0}, [rows];",
    "ldmatrix.sync.aligned.m8n8.x2.b16 {r0, r0}, [rows];",
    "stmatrix.sync.aligned.m8n8.x2.b16 [rows], {r0, 5};",
    "stmatrix.sync.aligned.m8n8.x2.b16 [rows], {r0, %laneid};",
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [stack];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [half];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [tile+3];",
}


@pytest.mark.parametrize("instruction", sorted(LAX))
def test_what_ptxas_lets_pass_is_a_warning(instruction: str) -> None:
    assert {one.severity for one in found(instruction)} == {Severity.WARNING}


@pytest.mark.parametrize("instruction", [text for text in CASES if CASES[text]] + sorted(LAX))
def test_fixes_fix(instruction: str) -> None:
    """A fix, carried out, removes its finding and brings no new one."""
    text = in_kernel(instruction)
    before = check(parse(text))
    for one in before:
        if one.fix is not None:
            start, end = one.fix.span.start, one.fix.span.end
            after = check(parse(text[:start] + one.fix.replacement + text[end:]))
            assert len(after) < len(before), (one, after)


def test_missing_trans_says_what_style_shows() -> None:
    [one] = found("stmatrix.sync.aligned.m16n8.x4.b8 [rows], {r0,r1,r2,r3};")
    assert one.message == "`stmatrix` with `.m16n8` requires `.trans`"
    assert (one.span.text, one.label) == (".m16n8", "this shape is stored in column-major order only")
    assert one.fix is not None
    assert (one.fix.replacement, one.fix.span.start, one.section) == (".trans", one.fix.span.end, "9.7.14.5.16")


def test_combination_says_what_is_possible() -> None:
    [one] = found("ldmatrix.sync.aligned.m8n16.x1.shared.b16 {r0}, [rows];")
    assert one.message.endswith("it takes `.b8x16.b6x16_p32`, `.b8x16.b4x16_p64` or `.s8.s4`")
    assert one.help == "or keep `.b16`: it goes with `.m8n8`"
    assert [label.span.text for label in one.related] == [".m8n16"]
