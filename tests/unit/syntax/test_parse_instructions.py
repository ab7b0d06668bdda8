from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.syntax import parse, print_operand
from ptxloom.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Cast,
    Component,
    Float,
    Indexed,
    Instruction,
    Integer,
    Name,
    Pair,
    Predicate,
    Ternary,
    Unary,
    Vector,
)

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Operand


def one(text: str) -> Instruction:
    module = parse(text)
    assert module.diagnostics == ()
    (statement,) = module.statements
    assert isinstance(statement, Instruction)
    assert statement.span.text == text
    return statement


def test_opcode_and_qualifiers_carry_no_dots() -> None:
    found = one("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r1,%r2,%r3,%r4}, [%rd1];")
    assert found.opcode == "ldmatrix"
    assert found.qualifiers == ("sync", "aligned", "m8n8", "x4", "shared::cta", "b16")
    assert found.operands == (Vector(tuple(Name(f"%r{i}") for i in range(1, 5))), Address(Name("%rd1")))


@pytest.mark.parametrize(
    "spelling",
    [
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X",
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32",
        "tcgen05.ld.sync.aligned.16x32bx2.x128.b32",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.b32",
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
    ],
)
def test_qualifiers_of_every_shape(spelling: str) -> None:
    found = one(f"{spelling} a, b;")
    assert ".".join((found.opcode, *found.qualifiers)) == spelling


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%r1", Name("%r1")),
        ("$L__BB0_1", Name("$L__BB0_1")),
        ("_ZN3cub4BlockIiE1tE", Name("_ZN3cub4BlockIiE1tE")),
        ("_", Name("_")),
        ("WARP_SZ", Name("WARP_SZ")),
        ("%tid.x", Component(Name("%tid"), "x")),
        ("%r2.b0", Component(Name("%r2"), "b0")),
        ("17", Integer(17)),
        ("-17", Integer(-17)),
        ("0x1F", Integer(31, 16)),
        ("0X1fU", Integer(31, 16, True)),
        ("017", Integer(15, 8)),
        ("0", Integer(0)),
        ("0b101", Integer(5, 2)),
        ("5U", Integer(5, 10, True)),
        ("-5U", Unary("-", Integer(5, 10, True))),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
        ("1.5", Float(0x3FF8000000000000, 64, True)),
        ("-1.5", Float(0xBFF8000000000000, 64, True)),
        ("1e5", Float(0x40F86A0000000000, 64, True)),
        (".5", Float(0x3FE0000000000000, 64, True)),
        (".5e-1", Float(0x3FA999999999999A, 64, True)),
        ("5.", Float(0x4014000000000000, 64, True)),
        ("!%p1", Unary("!", Name("%p1"))),
        ("%p1|%p2", Pair(Name("%p1"), Name("%p2"))),
        ("_ | %p2", Pair(Name("_"), Name("%p2"))),
        ("%r1|!%p2", Pair(Name("%r1"), Unary("!", Name("%p2")))),
        ("1|2", Binary("|", Integer(1), Integer(2))),
        ("{_, 1, {%r1}}", Vector((Name("_"), Integer(1), Vector((Name("%r1"),))))),
        ("[a]", Address(Name("a"))),
        ("[ a + 4 ]", Address(Name("a"), 4)),
        ("[a+0]", Address(Name("a"), zero=True)),
        ("[a+4-4]", Address(Name("a"), zero=True)),
        ("[ a + 0 ]", Address(Name("a"), zero=True)),
        ("[a-0]", Address(Name("a"), 0, True)),
        ("[a+-4]", Address(Name("a"), -4)),
        ("[a-4]", Address(Name("a"), 4, True)),
        ("[4]", Address(Integer(4))),
        ("[a+4+4*2]", Address(Name("a"), 12)),
        ("[a+(1<<4)]", Address(Name("a"), 16)),
        ("[a+9/-2]", Address(Name("a"), -4)),
        ("[4+4]", Address(Integer(8))),
        ("[a+b]", Address(Binary("+", Name("a"), Name("b")))),
        ("[a[3]]", Address(Indexed(Name("a"), Integer(3)))),
        ("[a, {%r1, %r2}]", Address(Name("a"), extra=(Vector((Name("%r1"), Name("%r2"))),))),
        ("[a+4, b]", Address(Name("a"), 4, extra=(Name("b"),))),
        ("a[3]", Indexed(Name("a"), Integer(3))),
        ("generic(a)", Apply(Name("generic"), Name("a"))),
        ("0xFF(a)", Apply(Integer(255, 16), Name("a"))),
        ("a+4", Binary("+", Name("a"), Integer(4))),
        ("(1+2)*3", Binary("*", Binary("+", Integer(1), Integer(2)), Integer(3))),
        ("1-2-3", Binary("-", Binary("-", Integer(1), Integer(2)), Integer(3))),
        ("1-(2-3)", Binary("-", Integer(1), Binary("-", Integer(2), Integer(3)))),
        ("1 ? 2 : 3", Ternary(Integer(1), Integer(2), Integer(3))),
        ("(.u64) 5", Cast("u64", Integer(5))),
        ("~5", Unary("~", Integer(5))),
    ],
)
def test_operands(text: str, operand: Operand) -> None:
    found = one(f"op.b32 {text}, {text};")
    assert found.operands == (operand, operand)
    for each in found.operands:
        assert each.span_in(found.source).text == text
    again = one(f"op.b32 {print_operand(operand)};")
    assert again.operands == (operand,)


def test_predicates() -> None:
    assert one("@%p1 bra L;").predicate == Predicate("%p1")
    assert one("@ ! %p1 bra L;").predicate == Predicate("%p1", True)


def test_call_lists() -> None:
    found = one("call.uni (retval0), vprintf, (param0, param1), proto;")
    assert found.operands == (
        Arguments((Name("retval0"),)),
        Name("vprintf"),
        Arguments((Name("param0"), Name("param1"))),
        Name("proto"),
    )
    assert one("call f, ();").operands == (Name("f"), Arguments(()))
    assert one("call f;").operands == (Name("f"),)


@pytest.mark.parametrize("factor", ["sp::2:4", "sp::1:16", "sp::4:8"])
def test_a_factor_of_sparsity_is_one_qualifier(factor: str) -> None:
    found = one(f"spdecompress.b8.b4.{factor}.x4 {{%r1, %r2}}, {{%r3}}, {{%r4}};")
    assert found.qualifiers == ("b8", "b4", factor, "x4")
    assert len(found.operands) == 3


def test_layout_does_not_matter() -> None:
    plain = one("mov .u32 %r1, %r2;")
    assert plain == one("mov /* b32? */ .u32\n\t%r1 // first\n , %r2\n;") == one("mov.u32%r1,%r2;")
    assert hash(plain) == hash(one("mov.u32 %r1,%r2;"))
    assert plain != one("mov.u32 %r1, %r3;")


@pytest.mark.parametrize("gap", ["\n", "\n\t\t", " // why\n\t"])
def test_operands_may_start_on_the_next_line(gap: str) -> None:
    plain = one("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a, b, c, d}, {e, f}, {g}, {a, b, c, d};")
    spread = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a, b,\n c, d}, {e, f}, {g}, {a, b, c, d};"
    assert one(spread.replace(" {", gap + "{")) == plain
    assert one(f"ldmatrix.sync.aligned.m8n8.x1.shared.b16{gap}{{a}}{gap},[b];").operands[0] == Vector((Name("a"),))
