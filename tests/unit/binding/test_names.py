"""What names mean: nested braces, series, labels, and declarations that hide others."""

from __future__ import annotations

from ptxloom.binding.names import Scope


def test_the_innermost_braces_count_and_what_is_around_them_is_seen() -> None:
    module = Scope[str, str]()
    module.declare("table", "module")
    function = Scope(module)
    function.declare("x", "function")
    block = Scope(function)
    block.declare("x", "block")
    assert (block.find("x"), function.find("x"), block.find("table"), block.find("y")) == (
        "block",
        "function",
        "module",
        None,
    )


def test_needless_zeros_tell_no_members_of_a_series_apart() -> None:
    scope = Scope[str, str]()
    scope.declare("%r", "series", 8)
    assert scope.place("%r01") == scope.place("%r1") == (scope, "%r1")
    assert scope.find("%r0000000000000000000000000000007") == "series"
    assert [scope.find(name) for name in ("%r8", "%r08", "%r", "%r-1", "%r" + "9" * 40)] == [None] * 5


def test_a_name_with_zeros_of_its_own_is_another_than_one_without() -> None:
    scope = Scope[str, str]()
    scope.declare("%r01", "one")
    assert scope.find("%r1") is None
    scope.declare("%r1", "other")
    assert (scope.find("%r01"), scope.find("%r1")) == ("one", "other")


def test_an_inner_series_hides_an_outer_name_however_it_is_spelled() -> None:
    outer = Scope[str, str]()
    outer.declare("%r01", "plain")
    inner = Scope(outer)
    inner.declare("%r", "series", 2)
    assert (inner.find("%r01"), inner.find("%r02")) == ("series", None)


def test_a_stem_is_all_that_stands_before_the_digits() -> None:
    scope = Scope[str, str]()
    scope.declare("%r1", "never named", 9)
    assert scope.find("%r12") is None


def test_members_are_told_apart_by_whoever_notes_them() -> None:
    scope = Scope[str, str]()
    scope.declare("%r", "any", 3_000_000)
    scope.declare("%r7", "seventh")
    assert (scope.find("%r007"), scope.find("%r2999999"), scope.own("%r07")) == ("seventh", "any", "seventh")


def test_labels_are_seen_in_all_of_their_braces_and_apart_from_other_names() -> None:
    outer = Scope[str, int]()
    outer.declare("L", "register")
    outer.labels["M"] = 1
    inner = Scope(outer)
    inner.labels["L"] = 2
    assert (inner.find("L"), inner.label("L"), inner.label("M"), outer.label("L")) == ("register", 2, 1, None)


def test_a_declaration_that_hides_a_name_begins_a_scope_of_its_own() -> None:
    outer = Scope[str, str]()
    outer.declare("x", "outer")
    before = Scope(outer)
    assert before.behind("y") is before
    after = before.behind("x")
    after.declare("x", "inner")
    assert (before.find("x"), after.find("x")) == ("outer", "inner")


def test_a_series_that_hides_a_name_begins_a_scope_of_its_own() -> None:
    outer = Scope[str, str]()
    outer.declare("%r5", "outer")
    before = Scope(outer)
    assert before.behind("%r", 5) is before
    after = before.behind("%r", 6)
    after.declare("%r", "inner", 6)
    assert (before.find("%r5"), after.find("%r5")) == ("outer", "inner")
