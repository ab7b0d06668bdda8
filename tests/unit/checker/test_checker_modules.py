"""Versions, targets, scopes, and modules that are broken altogether."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.checker import check
from ptxloom.checker.core.scope import VisibleNames
from ptxloom.diagnostics import Diagnostic, Severity, UsageError, in_order
from ptxloom.syntax import parse
from ptxloom.syntax.bind import bind, qualifier_span
from ptxloom.syntax.tree import Declaration, Instruction, Name

BODY = ".address_size 64\n.entry k() {\n.reg .b32 r<4>, rows;\n%s\n}\n"
B8 = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r0, r1}, [rows];"
S4 = "ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4 {r0}, [rows];"
B16 = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [rows];"
CTA = "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {r0}, [rows];"


def judge(
    version: str, architecture: str, body: str, target: str | None = None, ptx_version: str | None = None
) -> tuple[Diagnostic, ...]:
    return check(
        parse(f".version {version}\n.target {architecture}\n" + BODY % body), target=target, ptx_version=ptx_version
    )


@pytest.mark.parametrize(
    ("version", "target", "body", "messages"),
    [
        ("6.5", "sm_75", B16, []),
        ("6.4", "sm_75", B16, ["`ldmatrix` needs PTX 6.5 or later; the module says 6.4"]),
        ("6.5", "sm_72", B16, ["`ldmatrix` needs sm_75 or later; the module says sm_72"]),
        ("7.0", "sm_75", CTA, ["`ldmatrix.shared::cta` needs PTX 7.8 or later; the module says 7.0"]),
        ("9.0", "sm_120a", B8, []),
        ("9.0", "sm_120f", B8, []),
        (
            "9.0",
            "sm_120",
            B8,
            ["`ldmatrix.m16n16` needs sm_100 or later with suffix `a` or `f`; the module says sm_120"],
        ),
        ("9.4", "sm_90a", S4, []),
        (
            "9.3",
            "sm_90",
            S4,
            [
                (
                    "`ldmatrix.m8n16.s8.s4` needs sm_90a, or sm_100 or later with suffix `a` or `f`; "
                    "the module says sm_90"
                ),
                "`ldmatrix.m8n16.s8.s4` needs PTX 9.4 or later; the module says 9.3",
            ],
        ),
    ],
)
def test_gates(version: str, target: str, body: str, messages: list[str]) -> None:
    assert [one.message for one in judge(version, target, body)] == messages


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (".alias", ".func f() { ret; }\n.func g();\n.alias g, f;"),
        (".loc_intermediate", '.file 1 "a"\n.entry k() { .loc 1 1 1\n.loc_intermediate 1 1 1\nret; }'),
        (".reqnctapercluster", ".entry k() .reqnctapercluster 2 .reqntid 32 { ret; }"),
        ("%clusterid", ".entry k() { .reg .b32 %r; mov.u32 %r, %clusterid.x; ret; }"),
    ],
)
def test_every_word_that_is_too_new_is_told_in_one_way(word: str, text: str) -> None:
    (found,) = [one for one in check(parse(f".version 6.2\n.target sm_90\n{text}")) if one.rule == "needs-version"]
    assert found.message.startswith(f"`{word}` needs PTX ")
    assert found.message.endswith(" or later; the module says 6.2")
    assert found.fix is not None
    assert [(one.span.text, one.text) for one in found.related] == [(".version 6.2", "the version is stated here")]


# What ptxas 13.5 says of each of these is noted beside it.
@pytest.mark.parametrize(
    ("version", "header", "rules"),
    [
        ("9.2", '.entry k() .language "ptx", 7 .maxntid 3', []),
        ("9.2", ".func k() .noreturn .language 0x7, 7", []),
        ("9.2", ".entry k() .language 1 .language 2", []),
        ("9.1", '.entry k() .language "ptx"', ["needs-version"]),  # requires 9.2
        ("9.2", ".entry k() .language 11", ["function-directive"]),  # [0..10]
        ("9.2", ".entry k() .language ptx", ["function-directive"]),  # syntax error
        ("9.2", ".func k() .language 1 .language 2", ["function-directive"]),  # syntax error
    ],
)
def test_languages(version: str, header: str, rules: list[str]) -> None:
    module = parse(f".version {version}\n.target sm_90\n.address_size 64\n{header} {{ ret; }}\n")
    assert [one.rule for one in check(module)] == rules


def test_a_prototype_states_no_language() -> None:  # a syntax error for ptxas
    module = parse(".version 9.5\n.target sm_90\n.address_size 64\n.func f() .language 7;\n")
    assert [one.rule for one in check(module)] == ["function-directive"]


@pytest.mark.parametrize(("size", "rules"), [("r", ["needs-version"]), ("s", ["needs-version"]), ("d", []), ("16", [])])
@pytest.mark.parametrize("version", ["8.6", "8.8", "9.0", "9.4"])
def test_a_size_of_32_bits_came_to_st_bulk_with_9_0(version: str, size: str, rules: list[str]) -> None:
    """What ptxas 13.5 says: "Feature 'st.bulk with 32-bit size argument' requires PTX ISA .version 9.0 or later"."""
    text = f"""  .reg .b32 r; .reg .s32 s; .reg .b64 d, a;
  st.bulk.weak.shared::cta [a], {size}, 0;"""
    body = f".version {version}\n.target sm_100\n.address_size 64\n.entry k() {{{text} ret; }}\n"
    found = [one.rule for one in check(parse(body)) if one.severity == "error"]
    assert found == [rule for rule in rules if rule != "needs-version" or version < "9.0"]


@pytest.mark.parametrize(("version", "rules"), [("9.4", []), ("9.3", ["needs-version"] * 2)])
def test_lines_of_a_language_between(version: str, rules: list[str]) -> None:
    body = ".loc 1 2 3\n.loc_intermediate 2 23 6\n{ .loc 1 2 4 .loc_intermediate 2 24 6\n}\nret;"
    assert [one.rule for one in judge(version, "sm_90", body)] == rules


@pytest.mark.parametrize("word", ["loc", "loc_intermediate"])
def test_lines_are_noted_in_functions_only(word: str) -> None:
    module = parse(f".version 9.5\n.target sm_90\n.address_size 64\n.{word} 1 2 3\n")
    assert [one.rule for one in check(module)] == ["misplaced-directive"]


def test_a_caller_may_ask_about_another_platform() -> None:
    assert judge("9.0", "sm_90", B8)[0].rule == "needs-target"
    assert judge("9.0", "sm_90", B8, target="sm_120a") == ()
    [one] = judge("9.0", "sm_120a", B8, target="sm_90")
    assert one.message.endswith("it is checked for sm_90")
    assert one.fix is None
    assert judge("8.0", "sm_90", B8, target="sm_120a", ptx_version="8.7") == ()
    assert [d.rule for d in judge("8.0", "sm_90", "ret;", target="sm_120a", ptx_version="8.6")] == ["target-version"]
    with pytest.raises(UsageError, match="target"):
        judge("8.0", "sm_90", "ret;", target="gpu")
    with pytest.raises(UsageError, match="ptx_version"):
        judge("8.0", "sm_90", "ret;", ptx_version="new")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", ["missing-directive", "missing-directive"]),
        (".version 9.0\n.target sm_90, texmode_independent\n", []),
        (".version 9.0\n.target sm_90, texmode\n", ["unknown-target"]),
        (".version 9.0\n.target sm_9o\n", ["unknown-target"]),
        (".version 8.9\n.target sm_90\n", ["unknown-version"]),
        (".version 9.9\n.target sm_250a\n", ["unknown-version", "unknown-target"]),
        (".version 7.0\n.target sm_90\n", ["target-version"]),
    ],
)
def test_heads(text: str, rules: list[str]) -> None:
    assert [one.rule for one in check(parse(text))] == rules


def test_newer_than_known_is_a_warning() -> None:
    assert {one.severity for one in check(parse(".version 9.9\n.target sm_250a\n"))} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("{ " + B16 + " }", []),
        (B16.replace("r0", "r00"), []),
        ("{ .reg .b64 r0; " + B16 + " }", ["element-width"]),
        ("{ .reg .b32 q; } " + B16.replace("r0", "q"), ["undeclared-name"]),
        (B16.replace("r0", "q") + " .reg .b32 q;", ["undeclared-name"]),
        (B16.replace("r0", "r4"), ["undeclared-name"]),
        (B16.replace("r0", "r"), ["undeclared-name"]),
        (".reg .b32 %r<13>; " + B16.replace("r0", "%r12"), []),
        (".reg .b32 %r<13>; " + B16.replace("r0", "%r13"), ["undeclared-name"]),
        (".reg .b32 %r<13>; " + B16.replace("r0", "%r" + "9" * 40), ["undeclared-name"]),
        (".reg .b32 %r1<3>; " + B16.replace("r0", "%r12"), ["undeclared-name"]),
    ],
)
def test_scopes(body: str, rules: list[str]) -> None:
    assert [one.rule for one in judge("9.0", "sm_90", body)] == rules


def test_parameters_are_visible_in_their_function_only() -> None:
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".func (.reg .b32 r0) f(.reg .b64 rows) {\n" + B16 + "\nret; }\n"
        ".func g() {\n" + B16 + "\nret; }\n"
    )
    assert [(one.rule, one.span.line) for one in check(parse(text))] == [("undeclared-name", 8)] * 2


def test_scope_names_and_depth() -> None:
    scope = VisibleNames()
    [declaration] = parse(".shared .align 32 .v2 .b32 tile[4], other;").statements
    assert isinstance(declaration, Declaration)
    scope.open()
    scope.declare(declaration)
    symbol = scope.find("other")
    assert symbol is not None
    assert (symbol.space, symbol.vector, symbol.alignment, symbol.bits) == ("shared", 2, 32, 32)
    assert (scope.names(), scope.depth) == (("tile", "other"), 2)
    scope.close()
    assert scope.find("other") is None
    scope.close()
    assert scope.depth == 1


def test_bind_names_qualifiers_and_operands() -> None:
    [it] = parse("@p ldmatrix.sync.aligned.x2.m8n8.b16 {a, b}, [c];").statements
    assert isinstance(it, Instruction)
    bound = bind(it)
    assert bound.form is not None
    assert (bound.qualifiers.shape, bound.qualifiers.num) == ("m8n8", "x2")
    assert set(bound.operands) == {"r", "p"}
    assert [qualifier_span(it, place).text for place in range(-1, 5)] == [
        "ldmatrix",
        ".sync",
        ".aligned",
        ".x2",
        ".m8n8",
        ".b16",
    ]
    [bad] = parse("ldmatrix.sync.aligned.x2.b16 {a, b}, [c];").statements
    assert isinstance(bad, Instruction)
    assert bind(bad).form is None
    assert len(bind(bad).problems) == 1
    assert dict(bind(bad).operands) == {}


def test_instructions_built_by_hand_have_no_place() -> None:
    it = Instruction(None, "ldmatrix", ("sync", "aligned"), (Name("a"),))
    assert qualifier_span(it, 1) == it.span


def test_deep_blocks_and_many_instructions() -> None:
    text = ".version 9.0\n.target sm_90\n.entry k() {" + "{" * 3000 + B16 + "}" * 3000 + "}"
    assert isinstance(check(parse(text)), tuple)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("ldmatrix" + ".sync" * 50_000 + ".aligned.m8n8.x1.b16 {r0}, [rows];", "no-form"),
        ("ldmatrix.sync.aligned.m8n8.x1.b16 {" + "_, " * 50_000 + "r0}, [rows];", "vector-length"),
        ("".join(f".reg .b32 %q{i}x;" for i in range(5000)) + B16.replace("r0", "zz") * 200, "undeclared-name"),
        ("".join(f"o{i}p r0;" for i in range(20_000)), "unknown-instruction"),
    ],
)
def test_absurd_sizes_take_no_absurd_time(body: str, rule: str) -> None:
    assert {one.rule for one in judge("9.0", "sm_90", body)} == {rule}


PIECES = (
    "ldmatrix", "stmatrix", "movmatrix", ".sync", ".aligned", ".m8n8", ".m16n16", ".m8n16", ".m16n8",
    ".x1", ".x2", ".x8",
    ".trans", ".shared",
    ".shared::cta", ".global", ".b16", ".b8", ".b8x16", ".b6x16_p32", ".s8", ".s4", ".", " ", "\n",
    "{", "}", "[", "]", "(", ")", ",", ";", "@", "!", "p", "r0", "rows", "_", "%tid.x", "+", "-", "16", "0f0",
    "1.5", '"',
    "/*", ".reg .b32 r0;", ".reg .v2 .b32 r<3>;", ".entry k() {", ".version 9.0", ".target sm_90a", "<", ">", "|", "L:",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.booleans())
def test_never_an_exception(pieces: list[str], spaced: bool) -> None:
    text = (" " if spaced else "").join(pieces)
    for whole in (text, f".version 9.4\n.target sm_100a\n.entry k() {{ .reg .b32 r0, rows; {text} }}"):
        findings = check(parse(whole))
        assert findings == in_order(findings)
        assert all(0 <= one.span.start <= one.span.end <= len(whole) for one in findings)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_mutated_module_is_checked_to_the_end(data: st.DataObject) -> None:
    text = ".version 9.4\n.target sm_100a\n" + BODY % f"{B16}\n{B8}\n@p {S4}\n{CTA}"
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + cut :]
    assert isinstance(check(parse(text)), tuple)


@pytest.mark.parametrize("missing", [".version 9.0", ".target sm_90"])
def test_without_a_version_or_a_target_nothing_is_gone(missing: str) -> None:
    text = ".version 9.0\n.target sm_90\n.entry k() { .reg .pred p; vote.all.pred p, p; }\n"
    assert [one.rule for one in check(parse(text))] == ["needs-version"]
    assert [one.rule for one in check(parse(text.replace(f"{missing}\n", "")))] == ["missing-directive"]


def test_an_instruction_that_a_target_does_not_have_as_such_is_shown_by_its_opcode() -> None:
    text = (
        ".version 9.0\n.target sm_70\n.entry k() { .reg .b32 a; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [a]; }\n"
    )
    assert [(one.rule, one.span.text) for one in check(parse(text))] == [("needs-target", "ldmatrix")]
