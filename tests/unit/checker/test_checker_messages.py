"""What the checker says of mistakes that people make: one finding a mistake, with what mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.checker import check
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
KERNEL = """.entry k() {
  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b16 %h<4>; .reg .f32 %f<9>; .reg .b64 %rd<4>; .shared .b64 bar;
done:
"""


def only(statement: str) -> Diagnostic:
    """The one thing that is wrong with a statement."""
    [finding] = check(parse(f"{HEAD}{KERNEL}  {statement}\n  ret;\n}}\n"))
    return finding


def mended(finding: Diagnostic) -> str:
    """The line with the fix."""
    assert finding.fix is not None
    span = finding.fix.span
    text = span.source.text[: span.start] + finding.fix.replacement + span.source.text[span.end :]
    assert check(parse(text)) == ()
    return text


SAID = {
    "bar.sync 0, 33;": "`bar` takes a multiple of 32 here, not 33",
    "bar.sync 16;": "`bar` takes a number from 0 to 15 here, not 16",
    "cp.async.cg.shared.global [%r1], [%rd1], 8;": "`cp.async` takes 16 here, not 8",
    "cp.async.wait_group;": "`cp.async.wait_group` takes 1 operand, not 0",
    "cp.async.commit_group 0;": "`cp.async.commit_group` takes no operands, not 1",
    "bar.sync;": "`bar` takes 1 or 2 operands, not 0",
    "mbarrier.arrive.shared.b64 [bar];": "`mbarrier.arrive` takes 2 operands, not 1",
    "cvt.f16.f32 %h1, %f1;": "`cvt` requires `.rn`, `.rz`, `.rm` or `.rp`",
    "add.f16x2 %h1, %h2, %h3;": "`%h1` is `.b16`, and `add` writes `.f16x2` here",
    "mov.u32 %r1, %0;": "`%0` names no register or variable that is declared before this point",
}


@pytest.mark.parametrize("statement", SAID)
def test_one_mistake_is_one_finding(statement: str) -> None:
    assert only(statement).message == SAID[statement]


MENDED = {
    "mov.u32 %r4, 0;": ".reg .b32 %r<5>;",
    "@%p3 bra done;": ".reg .pred %p<4>;",
    "bra Done;": "bra done;",
    "mov.u32 %r1, tid.x;": "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, %threadIdx.x;": "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, blockDim.y;": "mov.u32 %r1, %ntid.y;",
    "ld.global.u32 [%rd1], %r1;": "ld.global.u32 %r1, [%rd1];",
    "st.global.u32 %r1, [%rd1];": "st.global.u32 [%rd1], %r1;",
    "cvt.rn.f64.f32 %rd1, %f1;": "cvt.f64.f32 %rd1, %f1;",
    "mul.lo.f32 %f1, %f2, %f3;": "mul.f32 %f1, %f2, %f3;",
    "min.rn.f32 %f1, %f2, %f3;": "min.f32 %f1, %f2, %f3;",
}


@pytest.mark.parametrize("statement", MENDED)
def test_the_fix_mends_it(statement: str) -> None:
    assert MENDED[statement] in mended(only(statement))


def test_the_others_of_the_wrong_type_are_pointed_at() -> None:
    finding = only("fma.rn.f16x2 %h1, %h2, %h3, %h1;")
    assert [one.span.text for one in finding.related[1:]] == ["%h2", "%h3", "%h1"]


def test_a_number_is_meant_as_it_stands() -> None:
    assert only("ld.global.v3.f32 {%f1, %f2, %f3}, [%rd1];").fix is None


BRACES = {
    "{%r2}": "%r2",
    "{ %r2 }": "%r2",
    "{%r2, %r3}": None,
    "done": None,
    "bar": None,
    "%p1": None,
    "[%r2]": None,
    "_": None,
}
"""What stands where one value should, and what a fix writes instead: braces can be taken from around one value."""


@pytest.mark.parametrize("operand", BRACES)
def test_braces_are_taken_away_where_one_value_is_left(operand: str) -> None:
    finding = only(f"add.u32 %r1, {operand}, %r3;")
    assert (finding.fix and finding.fix.replacement) == BRACES[operand]
    if finding.fix is not None:
        assert "add.u32 %r1, %r2, %r3;" in mended(finding)


@pytest.mark.parametrize(("index", "mends"), [(4, True), (103, True), (104, False), (999, False)])
def test_a_series_is_made_longer_by_a_hundred_at_most(index: int, mends: bool) -> None:
    finding = only(f"mov.u32 %r{index}, 0;")
    assert "`%r<4>` ends at `%r3`" in finding.label
    assert (finding.fix and finding.fix.description) == (f"declare `%r<{index + 1}>`" if mends else None)


@pytest.mark.parametrize("series", [0, 1, 250, 497])
@pytest.mark.parametrize("names", [500, 501])
def test_near_misses_are_looked_for_among_so_many_names(names: int, series: int) -> None:
    """Series count as one name each; those around the function count, too."""
    one_by_one = ", ".join(f"name{i}" for i in range(names - series - 2))
    declared = f".reg .b32 {one_by_one};" + "".join(f" .reg .b32 %s{i}x<2>;" for i in range(series))
    body = f".global .b32 total;\n.entry k() {{ {declared} .reg .b32 counter; mov.u32 cuonter, 0; ret; }}"
    [finding] = [one for one in check(parse(HEAD + body)) if one.rule == "undeclared-name"]
    assert ("did you mean `counter`?" in finding.label) == (names == 500)


HEADS = {
    ".version 9\n.target sm_90\n.entry k() { ret; }": ["unexpected-token"],
    ".version 9.0\n.target\n.entry k() { ret; }": ["incomplete-statement"],
    ".version 9.0\n.target sm_90\n.address_size\n.entry k() { ret; }": ["incomplete-statement"],
    ".version 9.0\n.target sm_90\nret;\nexit;\n.entry k() { ret; }": ["misplaced-directive"],
    ".version 9.0\n.target sm_90\n.entry k(.u64 n) { ret; }": ["declaration-place"],
    ".version 9.0\n.target sm_90\n.entry k() { .reg .i32 a, b, c; ret; }": ["declaration-type"],
    ".version 9.0\n.target sm_90\n.entry k() { .reg a; ret; }": ["declaration-type"],
}


@pytest.mark.parametrize("text", HEADS)
def test_one_mistake_around_functions_is_one_finding(text: str) -> None:
    assert [finding.rule for finding in check(parse(text))] == HEADS[text]


def test_a_series_that_is_lost_is_one_finding_a_function() -> None:
    body = " ".join(f"mov.u32 %q{i}, %q{i + 1};" for i in range(8)) + " mov.u32 x1, %q0; ret;"
    found = check(parse(f"{HEAD}.entry k() {{ {body} }}\n.entry j() {{ {body} }}\n"))
    assert [one.span.text for one in found] == ["%q0", "x1", "%q0", "x1"]
    assert found[0].label == "nor are 8 more names that begin with `%q`, in 17 places"
    assert "`%q<9>`" in found[0].help
    few = ".entry k() { mov.u32 %q0, 1; mov.u32 %q1, %q0; ret; }"
    assert [one.span.text for one in check(parse(HEAD + few))] == ["%q0", "%q1", "%q0"]


LOCS: dict[tuple[str, ...], list[str]] = {
    (".loc 1 2 3", ".loc 1 5 3, function_name $L__s, inlined_at 1 2 3"): [],
    (".loc 1 2 3", ".loc 1 5 3, function_name $L__t, inlined_at 1 2 3"): ["$L__t"],
    (".loc 1 2 3", ".loc 1 5 3, function_name A, inlined_at 1 2 3"): ["A"],
    (".loc 1 2 4", ".loc 1 5 3, function_name $L__s, inlined_at 1 2 3"): ["inlined_at"],
    (".loc 1 5 3, function_name $L__s, inlined_at 1 2 3", ".loc 1 2 3"): ["inlined_at"],
}


@pytest.mark.parametrize("locs", LOCS)
def test_inlined_code_names_a_label_and_an_earlier_place(locs: tuple[str, ...]) -> None:
    body = "\n".join(locs)
    sections = '.section .debug_str {\n$L__s:\n.b8 0\n}\n.file 1 "a.cu"\n'
    found = check(parse(f"{HEAD}.entry k() {{\n{body}\nA: ret;\n}}\n{sections}"))
    assert [one.span.text for one in found] == LOCS[locs]
