"""What may be written here."""

from __future__ import annotations

import pytest

from lsp_text import cursor, kernel
from ptxloom.isa import opcodes, targets
from ptxloom.lsp.completion import Proposal, Sort, complete
from ptxloom.lsp.signature import signature


def proposed(text: str) -> tuple[Proposal, ...]:
    return complete(*cursor(text))


def texts(text: str) -> list[str]:
    return [one.text for one in sorted(proposed(text), key=lambda one: one.rank)]


def inside(line: str) -> list[str]:
    """The proposals for a line put in front of the kernel's ldmatrix, best first."""
    found = complete(*kernel("    ldmatrix", f"    {line}\n    ldmatrix"))
    return [one.text for one in sorted(found, key=lambda one: one.rank)]


@pytest.mark.parametrize("line", ["‸", "ldm‸", "@%p1 ‸", "@!%p1 ld‸", "L: ‸", "L:‸", "ret; ‸", "{ ‸", "/* é */ ‸"])
def test_a_statement_starts_with_an_opcode(line: str) -> None:
    assert set(opcodes()) <= set(inside(line))


def test_the_word_that_was_begun_is_replaced() -> None:
    document, offset = cursor("{ .reg .b32 a;\n  ldma‸\n}")
    assert {document.text[one.start : one.end] for one in complete(document, offset)} == {"ldma"}


@pytest.mark.parametrize(
    ("line", "first", "absent"),
    [
        ("ldmatrix.‸", [".sync"], []),
        ("ldmatrix.sync.aligned.‸", [".m8n8"], [".sync", ".aligned"]),
        ("ldmatrix.sync.aligned.m8‸", [".m8n8"], []),
        ("ldmatrix.sync.aligned.m8n8.x4.‸", [".trans", ".shared", ".shared::cta", ".b16"], [".b8", ".x2", ".m16n16"]),
        ("ldmatrix.sync.aligned.m8n8.x4.trans.shared::‸", [".b16"], [".trans"]),
        ("@%p1 add.rz.‸", [".ftz", ".sat"], [".s32", ".rn", ".cc"]),
        ("cvt.rn.f16.‸", [".u8"], [".rn"]),
        ("ld.shared.v4.‸", [], [".b128", ".v2"]),
    ],
)
def test_qualifiers_are_those_that_lead_to_a_form(line: str, first: list[str], absent: list[str]) -> None:
    found = inside(line)
    assert set(first) <= set(found[: len(first) + 12])
    assert not set(absent) & set(found)


def test_what_the_target_lacks_comes_last_and_says_so() -> None:
    document, offset = kernel("    ldmatrix", "    ldmatrix.sync.aligned.‸\n    ldmatrix")
    found = sorted(complete(document, offset), key=lambda one: one.rank)
    lacking = [one for one in found if one.detail.startswith("needs ")]
    assert [one.text for one in lacking][:2] == [".m16n16", ".m8n16"]
    assert found[-len(lacking) :] == lacking
    assert "sm_100" in lacking[0].detail


@pytest.mark.parametrize(
    ("line", "best", "also", "absent"),
    [
        ("add.s32 %r7, ‸", ["%r1", "%r2", "%r3"], ["%tid", "%laneid", "DONE", "out"], ["twice_param", "k", "value"]),
        ("bra ‸", ["DONE"], ["%r1"], ["LOOP"]),
        ("bra D‸", ["DONE"], [], []),
        ("call (‸", ["twice"], [], ["k"]),
        ("ld.global.b32 %r7, [‸", ["table", "%rd0"], ["dynamic", "out"], []),
        ("ld.global.b32 %r7, [ta‸", ["table"], [], []),
        ("mov.b32 {%r1, ‸", ["%r2"], [], []),
    ],
)
def test_names_are_those_in_scope(line: str, best: list[str], also: list[str], absent: list[str]) -> None:
    found = inside(line)
    special = found.index("%tid")
    assert set(best) <= set(found[:special])
    assert set(also) <= set(found)
    assert not set(absent) & set(found)


@pytest.mark.parametrize(
    ("line", "fit"),
    [
        ("add.s32 %r1, ‸", {"%r1"}),
        ("mov.b64 ‸", {"%rd0"}),
        ("setp.ge.u32 ‸", {"%p1"}),
        ("setp.ge.u32 %p1, %r1, ‸", {"%r1"}),
        ("ldmatrix.sync.aligned.m8n8.x2.b16 {%r1, ‸", {"%r1"}),
        ("ldmatrix.sync.aligned.m8n8.x2.b16 {%r1, %r2}, [‸", {"%rd0", "%r1", "dynamic", "table"}),
        ("ldmatrix.sync.aligned.m8n8.x2.b16 // two\n {%r1, %r2}, // rows\n [‸", {"%rd0", "%r1", "dynamic", "table"}),
        ("ld.shared.b32 %r1, [‸", {"%rd0", "%r1", "dynamic"}),
        ("ld.global.b32 %r1, [ta‸", {"%rd0", "%r1", "table"}),
        ("ld.param.b32 %r1, [‸", {"%rd0", "%r1", "n", "out"}),
    ],
)
def test_what_fits_the_operand_comes_first(line: str, fit: set[str]) -> None:
    found = complete(*kernel("    ldmatrix", f"    {line}\n    ldmatrix"))
    best = {one.text for one in found if one.rank == 0}
    assert best & {"%p1", "%r1", "%rd0", "dynamic", "table", "n", "out", "DONE", "quad"} == fit


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("mov.u32 %r1, %tid.‸", "xyz"),
        ("mov.f32 %r1, quad.‸", "xyzw"),
        ("mov.u32 %r1, %laneid.‸", ""),
        ("mov.b32 %r2, %r1.‸", ""),
    ],
)
def test_components_are_those_of_the_vector(line: str, fields: str) -> None:
    assert inside(line) == list(fields)


def test_heads_and_declarations() -> None:
    assert set(texts(".target sm_‸")) == {str(target) for target in targets()}
    assert "9.0" in texts(".version ‸")
    assert texts(".‸")[0] == ".version"
    assert ".pred" in inside(".reg .‸")
    assert ".b8" in inside(".shared .align 16 .b‸")
    assert inside(".‸").index(".reg") < inside(".‸").index(".entry")
    assert ".entry" in texts("‸")


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (".visible .‸", ".entry", ".shared"),
        (".entry x() .‸", ".maxntid", ".entry"),
        (".entry x(.param .u64 p)\n.maxntid 128\n.m‸", ".minnctapersm", ".reg"),
        (".func (.param .b32 r) f(.param .b32 a) .‸", ".noreturn", ".global"),
        (".entry x()\n{\n.‸", ".loc", ".maxntid"),
        (".entry x() { ret; }\n.‸", ".global", ".maxntid"),
        (".extern .shared .‸", ".b8", ".v4"),
        (".entry x(.param .‸", ".u64", ".v4"),
    ],
)
def test_what_fits_behind_a_directive_comes_first(text: str, before: str, after: str) -> None:
    assert texts(text).index(before) < texts(text).index(after)


def test_names_stand_in_few_directives() -> None:
    assert texts(".global .u32 v;\n.global .u64 w = ‸") == ["v"]
    assert texts(".func f() { ret; }\n.alias g, ‸") == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        ".file 1 ‸",
        ".loc 1 2 ‸",
        ".section ‸",
        "// ldm‸",
        "ret; // ldm‸",
        '.file 1 "a‸',
        "/* ld‸ */",
        "nosuch.‸",
        "/*\nld‸\n*/",
    ],
)
def test_nothing_is_proposed_where_nothing_fits(text: str) -> None:
    assert proposed(text) == ()


def test_sorts_are_told() -> None:
    sorts = {one.text: one.sort for one in complete(*kernel("    ldmatrix", "    add.s32 ‸\n    ldmatrix"))}
    assert (sorts["%r1"], sorts["%tid"], sorts["table"]) == (Sort.REGISTER, Sort.SPECIAL, Sort.VARIABLE)
    assert (sorts["DONE"], sorts["twice"], sorts["n"]) == (Sort.LABEL, Sort.FUNCTION, Sort.PARAMETER)


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("@p ld.global.v2.b32 {a, ‸", "ld.global.v2.b32 d, [a]", "d"),
        ("ldmatrix.x4.sync.aligned.m8n8.b16 {a,b,c,d}, [‸", "ldmatrix.sync.aligned.m8n8.x4.b16 r, [p]", "p"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n {a},\n {b}, ‸", "d, a, b, c", "b"),
        ("setp.lt.and.s32 p|q, a, ‸", "p|q, a, b, ", "b"),
    ],
)
def test_the_operand_at_hand_is_told(text: str, label: str, active: str) -> None:
    found = signature(*cursor(text))
    assert found is not None
    assert label in found.label
    names = [found.label[one.start : one.end] for one in found.parameters]
    assert names[found.active] == active


@pytest.mark.parametrize("text", ["add.s32‸", "add.nosuch ‸", "// add.s32 ‸", "‸", "ret; ‸", "add.s32 a, b, c, ‸"])
def test_of_no_operand_nothing_is_told(text: str) -> None:
    assert signature(*cursor(text)) is None
