"""Special registers and directives of functions are asked for their PTX version and target, as ptxas 13.5 does."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.isa.pages.words import directives
from ptxloom.isa.special import special_register, special_registers
from ptxloom.syntax import parse

NEWER = tuple(name for name, it in special_registers().items() if it.needs.version.major > 6)


def found(version: str, target: str, body: str, header: str = "") -> list[str]:
    head = f".version {version}\n.target {target}\n.entry k() {header} {{"
    return [each.rule for each in check(parse(f"{head} .reg .b32 r; .reg .b64 l; .reg .pred p;\n{body}\n}}\n"))]


def read(name: str) -> str:
    register = special_register(name)
    assert register is not None
    to = {"u32": "mov.u32 r", "u64": "mov.u64 l", "pred": "mov.pred p"}[register.type]
    return f"{to}, {name}{'.x' if register.vector else ''};"


@pytest.mark.parametrize("name", NEWER)
def test_a_newer_register_is_missed_in_an_older_version(name: str) -> None:
    assert "needs-version" in found("7.0", "sm_80", read(name))
    assert found("9.5", "sm_100a", read(name)) == []


def test_each_register_is_looked_at_by_itself() -> None:
    lines = [
        read(name) for name in ("%laneid", "%cluster_ctarank", "%laneid", "%cluster_nctarank", "%ctaid", "%clusterid")
    ]
    assert found("7.8", "sm_80", "\n".join(lines)) == ["needs-target"] * 3


def test_a_directive_is_missed_in_an_older_version_and_on_an_older_target() -> None:
    assert found("7.7", "sm_90", "ret;", ".explicitcluster")[-1] == "needs-version"
    assert found("7.8", "sm_80", "ret;", ".explicitcluster") == ["needs-target"]
    assert found("7.8", "sm_90", "ret;", ".explicitcluster") == []


def test_every_directive_says_where_it_stands_and_since_when() -> None:
    assert {words.place for words in directives().values()} == {"module", "header", "body", "declaration"}
    assert str(directives()["minperctamemory"].needs) == "PTX 9.4 or later and sm_80 or later"


def test_the_grid_number_may_be_read_as_it_once_was() -> None:
    body = "mov.u32 r, %gridid; mov.u64 l, %gridid; cvt.u32.u32 r, %gridid; ret;"
    assert found("9.0", "sm_90", body) == []
    assert found("9.0", "sm_90", f"mov.u32 r, %clock64; {body}") == ["operand-type"]


def hiding(declaration: str, body: str) -> list[tuple[str, str]]:
    text = f".reg {declaration}; .reg .b32 %r<3>; .reg .b64 %rd1; ld.global.u32 %r1, [%rd1]; {body}"
    module = parse(f".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {{ {text} }}")
    return [(one.severity.value, one.message) for one in check(module)]


@pytest.mark.parametrize("name", ["%tid", "%laneid", "%clock64", "%nwarpid"])
def test_a_register_that_hides_a_special_one_is_told(name: str) -> None:
    said = f"`{name}` hides the special register of this name, and ptxas mixes up the two"
    assert hiding(f".b32 {name}", "") == [("warning", said)]
    assert hiding(f".b32 {name}<4>", "") == []


def test_a_series_hides_its_members() -> None:
    said = "`%pm1` hides the special register of this name, and ptxas mixes up the two"
    assert hiding(".b32 %pm<4>", "") == [("warning", said)]


@pytest.mark.parametrize(
    ("body", "name"), [("mov.u32 %r1, %tid.x;", "`mov`"), ("st.global.v2.u32 [%rd1], {%tid.x, %r1};", "vector")]
)
def test_it_has_none_of_the_parts(body: str, name: str) -> None:
    """As ptxas says: `Unknown video selector: '.x'`."""
    _, (severity, message) = hiding(".b32 %tid", body)
    assert severity == "error"
    assert name in message
    assert message.endswith("`%tid.x` is a part of a special register that a declaration hides")


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %laneid, %r1; add.u32 %r1, %laneid, 1;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %laneid;",
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%laneid, %r1};",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%laneid, %r1}, [%r1];",
    ],
)
def test_it_is_a_register_in_every_instruction(body: str) -> None:
    """As in ptxas, which accepts these; with the special register `movmatrix` is refused."""
    assert [severity for severity, _ in hiding(".b32 %laneid", body)] == ["warning"]


@pytest.mark.parametrize(
    ("statement", "severities"),
    [
        ("ld.global.u32 r, [%laneid];", ["warning"]),
        ("ld.shared.u32 r, [%clock];", ["warning"]),
        ("ld.global.u32 r, [%tid];", ["error"]),
        ("mbarrier.init.shared.b64 [%laneid], 1;", ["error"]),
        ("mbarrier.init.shared.b64 [%tid], 1;", ["error"]),
    ],
)
def test_a_special_register_is_an_address_where_ptxas_lets_it_pass(statement: str, severities: list[str]) -> None:
    text = f".version 9.0\n.target sm_90\n.entry k() {{ .reg .b32 r;\n{statement}\n}}\n"
    told = [(one.rule, str(one.severity)) for one in check(parse(text)) if one.rule == "address-register"]
    assert told == [("address-register", severity) for severity in severities]


@pytest.mark.parametrize("first", ["b32", "f32", "b24", "texref", "anything", "f16x2", "b128", "pred"])
@pytest.mark.parametrize("second", ["s32", "f32", "u8", "samplerref", "nothing", "b64"])
def test_neighbours_in_a_vector_agree_in_type_if_both_are_types(first: str, second: str) -> None:
    rules = found(
        "9.0", "sm_90", f".reg .{first} x; .reg .{second} y; ldmatrix.sync.aligned.m8n8.x2.b16 {{x, y}}, [r];"
    )
    if first == "pred":
        differ = second not in {"samplerref", "nothing"}
    else:
        differ = first in {"f32", "f16x2"} and second in {"s32", "f32"} and first != second
    assert ("element-types" in rules) == differ
