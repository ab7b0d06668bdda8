"""Equal findings are reported once, with the lines of the others; unequal ones never."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.syntax import parse
from ptxloom.views.findings.alike import folded
from ptxloom.views.findings.finding_reports import concise, full

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b32 %r<40>; .reg .b64 %rd<3>;\n"


def text_of(lines: list[str]) -> str:
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


def test_36_equal_findings_take_as_many_lines_as_one() -> None:
    wrong = [f"ldmatrix.sync.m8n8.x1.b16 {{%r{n}}}, [%rd1];" for n in range(36)]
    found = check(parse(text_of(wrong), "k.ptx"))
    assert len(found) == 36
    assert len(full(found).splitlines()) == len(full(found[:1]).splitlines()) + 1
    assert " = and 35 more: lines 7-41\n" in full(found)
    assert len(concise(found).splitlines()) == 36


def test_each_finding_is_in_one_group_in_the_order_of_the_text() -> None:
    wrong = ["ldmatrix.sync.m8n8.x1.b16 {%r1}, [%rd1];", "ad.u32 %r1, %r2, %r3;"] * 3
    found = check(parse(text_of(wrong), "k.ptx"))
    groups = folded(found)
    assert sorted((one.span.start, one.rule) for group in groups for one in (group.first, *group.others)) == [
        (one.span.start, one.rule) for one in found
    ]
    assert [group.first.span.line for group in groups] == [6, 7]
    assert "and 2 more: lines 8, 10\n" in full(found)


def test_those_of_two_files_stay_apart_and_so_do_those_with_a_second_place() -> None:
    wrong = text_of(["ldmatrix.sync.m8n8.x1.b16 {%r1}, [%rd1];"])
    assert len(folded((*check(parse(wrong, "a.ptx")), *check(parse(wrong, "b.ptx"))))) == 2
    twice = ".version 9.0\n.target sm_90\n.global .u32 a;\n.global .u32 a;\n.global .u32 a;\n"
    found = check(parse(twice))
    assert all(one.related for one in found)
    assert len(folded(found)) == len(found) == 2


@pytest.mark.parametrize(("lines", "said"), [(2, "line 7"), (3, "lines 7-8")])
def test_one_line_is_a_line(lines: int, said: str) -> None:
    found = check(parse(text_of(["ldmatrix.sync.m8n8.x1.b16 {%r1}, [%rd1];"] * lines)))
    assert f" = and {lines - 1} more: {said}\n" in full(found)


def test_a_long_list_ends_with_dots() -> None:
    wrong = ["ldmatrix.sync.m8n8.x1.b16 {%r1}, [%rd1];", "mov.u32 %r1, 1;"] * 20
    (said,) = [line for line in full(check(parse(text_of(wrong)))).splitlines() if " more: " in line]
    assert said.endswith("lines 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, ...")
