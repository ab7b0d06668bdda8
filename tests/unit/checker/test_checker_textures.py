"""Textures and surfaces: which objects, how many coordinates and of which types; verdicts as ptxas 13.5 gives them."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.bind import bind

HEAD = """.version 9.5
.target sm_90
.address_size 64
.global .texref texture; .global .surfref surface; .global .b32 number;
.entry k(.param .texref given) {
  .reg .b32 r<8>; .reg .s32 i<8>; .reg .f32 f<8>; .reg .b16 h<4>; .reg .f16x2 hh<4>; .reg .b64 rd<4>; .reg .f64 d<4>;
  .reg .pred p; .reg .v2 .f32 pair; .reg .v4 .f32 quad;
"""
RGBA = "{f0, f1, f2, f3}"


def errors(statement: str, version: str = "9.5") -> list[str]:
    found = check(parse(f"{HEAD}{statement}\n}}\n"), ptx_version=version)
    return [each.rule for each in found if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "statement",
    [
        f"tex.1d.v4.f32.f32 {RGBA}, [texture, f4];",
        f"tex.1d.v4.f32.f32 {RGBA}, [texture, {{f4}}];",
        f"tex.2d.v4.f32.f32 {RGBA}, [rd0, {{f4, f5}}];",
        f"tex.2d.v4.f32.f32 {RGBA}, [given, {{f4, f5, f6, f7}}];",
        f"tex.2d.v4.f32.f32 {RGBA}|p, [texture, pair];",
        "tex.2d.v4.f32.f32 quad, [texture, quad];",
        f"tex.a2d.v4.f32.f32 {RGBA}, [texture, {{i0, f4, f5, f6}}];",
        f"tex.2d.v4.f32.f32 {RGBA}, [texture, {{f4, f5}}], {{i0, i1}};",
        f"tex.2d.v4.f32.f32 {RGBA}, [texture, {{f4, f5}}], f6;",
        f"tex.2d.v4.f32.f32 {RGBA}|p, [texture, {{f4, f5}}], {{1, -1}}, f6;",
        f"tex.level.3d.v4.f32.s32 {RGBA}, [texture, {{i0, i1, i2, i3}}], i4;",
        f"tex.grad.1d.v4.f32.f32 {RGBA}, [texture, {{f4}}], {{f5}}, {{f6}};",
        "tex.cube.v2.f16x2.f32 {hh0, hh1}, [texture, {f0, f1, f2, f3}];",
        "tex.1d.v4.f16.f32 {h0, h1, h2, h3}, [texture, {f4}];",
        "tld4.r.a2d.v4.s32.f32 {i0, i1, i2, i3}, [texture, {i4, f0, f1, f2}], {i5, i6};",
        "txq.level.width.b32 r0, [texture], r1;",
        "txq.filter_mode.b32 r0, [texture];",
        "suld.b.1d.b8.trap {h0}, [surface, {r0}];",
        "sust.b.a1d.v2.b64.zero [surface, {r0, r1}], {rd0, rd1};",
        "sured.p.min.2d.b64.trap [surface, {r0, r1}], rd0;",
    ],
)
def test_what_is_legal(statement: str) -> None:
    assert errors(statement) == []


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        (f"tex.2d.v4.f32.f32 {RGBA}, [texture, {{f4}}];", "vector-length"),
        (f"tex.2d.v4.f32.f32 {RGBA}, [texture, {{f4, f5, f6}}];", "vector-length"),
        (f"tex.a2d.v4.f32.f32 {RGBA}, [texture, {{i0, f5}}];", "vector-length"),
        (f"tex.2dms.v4.f32.s32 {RGBA}, [texture, i0];", "vector-length"),
        (f"tex.a2d.v4.f32.f32 {RGBA}, [texture, {{f4, f5, f6, f7}}];", "operand-type"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [texture, i0];", "operand-type"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [texture, d0];", "operand-type"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [r0, f4];", "operand-type"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [surface, f4];", "operand-kind"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [number, f4];", "operand-kind"),
        (f"tex.1d.v4.f32.f32 {RGBA}, [nobody, f4];", "undeclared-name"),
        (f"tex.grad.1d.v4.f32.f32 {RGBA}, [texture, {{f4}}], f5, f6;", "missing-braces"),
        (f"tex.3d.v4.f32.f32 {RGBA}, [texture, {{f4, f5, f6, f7}}], {{i0, i1}};", "vector-length"),
        (f"tex.3d.v4.f32.f32 {RGBA}, [texture, {{f4, f5, f6, f7}}], {{i0, i1, i2, i3}}, f1;", "operand-count"),
        (f"tex.cube.v4.f32.s32 {RGBA}, [texture, {{i0, i1, i2, i3}}];", "no-form"),
        (f"tex.v4.f32.f32 {RGBA}, [texture, f4];", "missing-qualifier"),
        ("txq.width.b32 r0, texture;", "address-form"),
        ("txq.width.b32 r0, [surface];", "operand-kind"),
        ("txq.force_unnormalized_coords.b32 r0, [texture];", "operand-kind"),
        ("suld.b.2d.v4.b64.trap {rd0, rd1, rd2, rd3}, [surface, {r0, r1}];", "qualifier-combination"),
        ("suld.b.2d.b32 r0, [surface, {r0, r1}];", "missing-qualifier"),
        ("sust.b.2d.b32.trap [texture, {r0, r1}], r2;", "operand-kind"),
        ("sured.b.add.2d.s64.trap [surface, {r0, r1}], rd2;", "qualifier-combination"),
    ],
)
def test_what_is_not(statement: str, rule: str) -> None:
    assert rule in errors(statement)


def test_the_predicate_of_residency_is_newer_than_the_rest() -> None:
    plain = f"tex.1d.v4.f32.f32 {RGBA}, [texture, f4];"
    old = HEAD.replace("sm_90", "sm_75")
    with_predicate = plain.replace("},", "}|p,", 1)
    assert [check(parse(f"{old}{text}\n}}\n"), ptx_version="7.0") == () for text in (plain, with_predicate)] == [
        True,
        False,
    ]


BEHIND_THE_INDEX = {
    **dict.fromkeys(("f4", "i1", "r1", "hh0", "pair.x", "1.0", "0f3F800000", "%tid.x", "%laneid"), ""),
    "p": "warning",
    **dict.fromkeys(("rd1", "d1", "h1", "%clock64", "texture", "pair", "_", "nobody", "%tid"), "error"),
}
"""What ptxas 13.5 says of a coordinate behind the index in an array of textures: the type is its own affair."""


@pytest.mark.parametrize("coordinate", BEHIND_THE_INDEX)
@pytest.mark.parametrize("geometry", ["a1d", "a2d"])
def test_a_coordinate_behind_an_index_has_32_bits_of_any_type(coordinate: str, geometry: str) -> None:
    more = f", {coordinate}, f7" * (geometry == "a2d")
    found = check(parse(f"{HEAD}tex.{geometry}.v4.f32.f32 {RGBA}, [texture, {{i0, {coordinate}{more}}}];\n}}\n"))
    assert {each.severity.value for each in found} == {BEHIND_THE_INDEX[coordinate]} - {""}


@pytest.mark.parametrize(
    ("index", "sound"), [("i0", True), ("r0", True), ("%tid.x", True), ("f4", False), ("p", False)]
)
def test_the_index_in_an_array_is_an_integer(index: str, sound: bool) -> None:
    assert errors(f"tex.a1d.v4.f32.f32 {RGBA}, [texture, {{{index}, f4}}];") == ([] if sound else ["operand-type"])


def test_one_operand_more_is_steps_or_a_depth() -> None:
    texts = (f"tex.2d.v4.f32.f32 {RGBA}|p, [texture, {{f4, f5}}], {more};" for more in ("{i0, i1}", "f6"))
    [steps, depth] = [bind(each) for text in texts for each in instructions(parse(HEAD + text + "\n}\n"))]
    assert [list(steps.operands), list(depth.operands)] == [["d", "t", "offset"], ["d", "t", "depth"]]


def test_a_place_that_ptxas_fills_up_is_a_warning() -> None:
    found = check(parse(f"{HEAD}tex.2d.v4.f32.f32 {RGBA}, [texture, f4];\n}}\n"))
    assert [(each.rule, each.severity) for each in found] == [("vector-length", Severity.WARNING)]


def modes(statement: str) -> list[list[str]]:
    """The findings with a unified, then with an independent texturing mode."""
    alone = HEAD.replace("sm_90", "sm_90, texmode_independent").replace("number;", "number; .global .samplerref s;")
    return [
        [f"{each.severity} {each.rule}" for each in check(parse(f"{head}{statement}\n}}\n"))] for head in (HEAD, alone)
    ]


@pytest.mark.parametrize(
    ("statement", "unified", "independent"),
    [
        (f"tex.a1d.v4.f32.f32 {RGBA}, [texture, {{i0, f4}}];", [], ["error texturing-mode"]),
        (f"tex.a1d.v4.f32.f32 {RGBA}, [texture, rd0, {{i0, f4}}];", ["error texturing-mode"], []),
        (f"tex.2d.v4.f32.f32 {RGBA}, [texture, rd0, {{f4, f5}}];", ["warning texturing-mode"], []),
        (f"tex.2d.v4.f32.f32 {RGBA}, [rd1, texture, {{f4, f5}}];", ["warning texturing-mode"], ["error operand-kind"]),
        (f"tex.level.3d.v4.f32.f32 {RGBA}, [rd1, rd0, {RGBA}], f4;", ["error texturing-mode"], []),
        (f"tld4.r.2d.v4.f32.f32 {RGBA}, [rd0, {{f4, f5}}];", [], ["error texturing-mode"]),
        ("txq.filter_mode.b32 r0, [texture];", [], ["error texturing-mode"]),
        ("txq.filter_mode.b32 r0, [rd0];", [], []),
        ("txq.width.b32 r0, [texture];", [], []),
    ],
)
def test_a_sampler_stands_alone_where_the_target_says_so(
    statement: str, unified: list[str], independent: list[str]
) -> None:
    assert modes(statement) == [unified, independent]


def test_a_superfluous_sampler_is_left_out_by_the_fix() -> None:
    text = f"{HEAD}tex.a1d.v4.f32.f32 {RGBA}, [texture, rd0, {{i0, f4}}];\n}}\n"
    (found,) = check(parse(text))
    assert found.fix is not None
    fixed = text[: found.fix.span.start] + found.fix.replacement + text[found.fix.span.end :]
    assert "[texture, {i0, f4}]" in fixed
    assert check(parse(fixed)) == ()
