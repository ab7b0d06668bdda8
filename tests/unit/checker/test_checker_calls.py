"""Calls: what is passed against the parameters, and when it is read; verdicts as ptxas 13.5 gives them."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse

REGISTERS = {
    name: f"{name}r"
    for name in ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b16", "f16", "f16x2", "b8", "pred")
}
DECLARED = " ".join(f".reg .{type_} {name};" for type_, name in REGISTERS.items())
WORDS, LONGS = {"b32", "u32", "s32"}, {"b64", "u64", "s64"}
FITTING: dict[str, set[str]] = {
    "b32": {*WORDS, "f32", "f16x2"},
    "u32": {*WORDS, "f16x2"},
    "s32": {*WORDS, "f16x2"},
    "f32": {"b32", "f32", "f16x2"},
    "b64": {*LONGS, "f64"},
    "u64": LONGS,
    "s64": LONGS,
    "f64": {"b64", "f64"},
    "b16": {"b16", "f16"},
    "f16": {"b16", "f16"},
    "b8": {"b8"},
}


def errors(functions: str, body: str) -> list[str]:
    head = ".version 9.5\n.target sm_100a\n.address_size 64\n"
    text = f"{head}{functions}\n.entry k(.param .b64 given) {{\n{DECLARED}\n{body}\nret;\n}}\n"
    return [each.rule for each in check(parse(text)) if each.severity is Severity.ERROR]


@pytest.mark.parametrize("space", ["param", "reg"])
@pytest.mark.parametrize("formal", FITTING)
def test_a_register_is_passed_for_as_many_bits_of_the_same_kind(formal: str, space: str) -> None:
    function = f".func f(.{space} .{formal} a);"
    fitting = {type_ for type_, name in REGISTERS.items() if not errors(function, f"call f, ({name});")}
    assert fitting == FITTING[formal]
    result = f".func (.{space} .{formal} a) f();"
    assert {type_ for type_, name in REGISTERS.items() if not errors(result, f"call ({name}), f;")} == fitting


def test_many_calls_in_one_function_are_told_apart() -> None:
    functions = ".func one(.param .b32 a); .func two(.param .b32 a, .param .b32 b); .func wide(.param .b64 a);"
    assert errors(functions, "call one, (b32r); call two, (b32r); call wide, (b32r);") == ["call-signature"] * 2
    blocks = "{ .param .b32 z; call one, (z); } { .param .b64 z; call one, (z); }"
    assert errors(functions, blocks) == ["call-signature"]


@pytest.mark.parametrize(
    ("parameter", "variable", "sound"),
    [
        (".param .align 8 .b8 a[16]", ".param .align 8 .b8 z[16]", True),
        (".param .align 8 .b8 a[16]", ".param .align 16 .b8 z[16]", False),
        (".param .align 8 .b8 a[16]", ".param .b8 z[16]", False),
        (".param .align 4 .b8 a[4]", ".param .b32 z[1]", True),
        (".param .align 4 .b8 a[4]", ".param .b32 z", False),
        (".param .b32 a[2]", ".param .f32 z[2]", True),
        (".param .b64 a", ".param .align 4 .b64 z", True),
        (".param .b64 a", ".param .align 16 .b64 z", False),
        (".param .f64 a", ".param .u64 z", False),
        (".param .align 8 .b8 a[]", ".param .align 8 .b8 z[32]", True),
        (".param .align 8 .b8 a[]", ".param .b64 z", False),
    ],
)
def test_a_variable_is_passed_for_one_of_its_kind_size_and_alignment(
    parameter: str, variable: str, sound: bool
) -> None:
    found = errors(f".func f({parameter});", f"{variable}; call f, (z);")
    assert found == ([] if sound else ["call-signature"])
    head, _, tail = parameter.rpartition(" a")
    indirect = f"P: .callprototype _ ({head} _{tail}); call u64r, (z), P;"
    assert errors("", f"{variable}; {indirect}") == found


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("call f, (5);", []),
        ("call f, (1.5);", ["call-signature"]),
        ("call g, (5);", ["call-signature"]),
        ("call g, (0f3F800000);", []),
        ("call f, (_);", ["call-signature"]),
        ("call (_), r;", []),
        ("call open, (b32r);", []),
        ("call open;", ["call-signature"]),
        (".param .b8 z[4]; call open, (b32r, z, z);", ["call-signature"]),
        (".param .b8 z[4]; call open, (b32r, z);", []),
        (".param .b8 z; call open, (b32r, z);", ["call-signature"]),
        ("mov.u64 u64r, f; P: .calltargets f; call u64r, (u32r), P;", []),
        ("mov.u64 u64r, f; P: .calltargets f; call u64r, (u64r), P;", ["call-signature"]),
        ("mov.u64 u64r, f; P: .calltargets f, r; call u64r, (u32r), P;", ["call-signature"]),
        ("call narrow, (b8r);", ["call-signature"]),
        ("call p, (predr);", ["call-signature"]),
    ],
)
def test_what_else_is_passed(body: str, rules: list[str]) -> None:
    functions = (
        ".func f(.param .u32 a); .func g(.param .f32 a); .func (.param .b32 a) r(); .func p(.reg .pred a);"
        ".func open(.param .b32 a, .param .b8 b[]); .func narrow(.param .u8 a);"
    )
    assert errors(functions, body)[:1] == rules


@pytest.mark.parametrize("sizes", ["[]", "[0]", "[2][0]"])
def test_a_variable_without_a_size_is_told_where_it_is_declared_alone(sizes: str) -> None:
    assert errors(".func open(.param .b8 b[]);", f".param .b8 z{sizes}; call open, (z);") == ["incomplete-type"]


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("ld.param.b32 b32r, [z];", ["call-sequence"]),
        ("call (z), f; ld.param.b32 b32r, [z];", []),
        ("{ call (z), f; } ld.param.b32 b32r, [z]; { ld.param.b32 b32r, [z]; }", []),
        ("ld.param.b32 b32r, [z]; call (z), f;", ["call-sequence"]),
        ("{ .param .b32 z; call (z), f; } ld.param.b32 b32r, [z];", ["call-sequence"]),
        ("call (z), f; @predr ld.param.b32 b32r, [z];", ["call-sequence"]),
        ("@!predr st.param.b32 [z], b32r;", ["call-sequence"]),
        ("@predr ld.global.b32 b32r, [z];", ["state-space"]),
        ("@predr st.shared.b32 [z], b32r;", ["state-space"]),
        ("@predr ld.b32 b32r, [z];", ["state-space"]),
        ("@predr ld.param.b64 b64r, [given];", []),
        ("mov.b64 b64r, given; cvta.param.u64 u64r, given;", []),
        ("mov.b64 b64r, z;", ["state-space"]),
        ("cvta.param.u64 u64r, z;", ["state-space"]),
        ("st.param.b32 [z], b32r; st.param.b64 [given], b64r;", ["state-space"]),
        ("prefetch.param.tensormap [given]; prefetch.param.tensormap [z];", ["state-space"]),
    ],
)
def test_what_calls_pass_is_no_memory(body: str, rules: list[str]) -> None:
    assert errors(".func (.param .b32 a) f();", f".param .b32 z; {body}") == rules


def test_a_result_is_only_written_in_the_function() -> None:
    function = ".func (.param .b32 out) f(.param .b32 in) {{ .reg .b32 r; {} ret; }}"
    assert errors(function.format("ld.param.b32 r, [in]; st.param.b32 [out], r;"), "") == []
    assert errors(function.format("ld.param.b32 r, [out];"), "") == ["state-space"]
    assert errors(function.format("st.param.b32 [in], r;"), "") == ["state-space"]
