from __future__ import annotations

import pickle

import pytest

from ptxloom.syntax import children, instructions, parse, walk
from ptxloom.syntax.tree import (
    AddressSize,
    Alias,
    Apply,
    Attribute,
    Binary,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Data,
    Declaration,
    Declarator,
    File,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Loc,
    LocIntermediate,
    Name,
    PerformanceDirective,
    Pointer,
    Pragma,
    Section,
    Statement,
    String,
    Target,
    Vector,
    Version,
)


def only(text: str) -> Statement:
    module = parse(text)
    assert module.diagnostics == ()
    (statement,) = module.statements
    assert statement.span.text == text.strip()
    printed = str(module)
    again = parse(printed)
    assert again.diagnostics == ()
    assert again == module
    assert str(again) == printed
    return statement


def declared(
    space: str, kind: str, *declarators: Declarator, linkage: str = "", alignment: int = 0, vector: int = 0
) -> Declaration:
    return Declaration(linkage, space, alignment, vector, kind, (), declarators)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (".version 9.0", Version(9, 0)),
        (".target sm_90a, debug, texmode_independent", Target(("sm_90a", "debug", "texmode_independent"))),
        (".address_size 64", AddressSize(64)),
        ("$L__BB0_1:", Label("$L__BB0_1")),
        (".loc 1 12 3", Loc(1, 12, 3)),
        (".loc_intermediate 2 40 6", LocIntermediate(2, 40, 6)),
        (
            ".loc\t1 12 3, function_name $L__info_string0+4, inlined_at 2 20 5",
            Loc(1, 12, 3, "$L__info_string0", 4, (2, 20, 5)),
        ),
        (".loc 1 1 1, function_name info, inlined_at 1 2 3", Loc(1, 1, 1, "info", 0, (1, 2, 3))),
        ('.file 1 "a b\\"c.cu", 1700000000, 4096', File(1, 'a b\\"c.cu', 1_700_000_000, 4096)),
        ('.file 2 "x.cu"', File(2, "x.cu")),
        ('.pragma "nounroll";', Pragma(("nounroll",))),
        ('.pragma "a", "b";', Pragma(("a", "b"))),
        (".alias f, g;", Alias("f", "g")),
        (".branchtargets L1, L2;", BranchTargets((Name("L1"), Name("L2")))),
        (".calltargets f;", CallTargets((Name("f"),))),
        (".reg .b32 %r<20>;", declared("reg", "b32", Declarator("%r", 20))),
        (".reg .b32 a, b<3>, c;", declared("reg", "b32", Declarator("a"), Declarator("b", 3), Declarator("c"))),
        (".reg .v4 .f32 v;", declared("reg", "f32", Declarator("v"), vector=4)),
        (".local .align 16 .b8 d[32];", declared("local", "b8", Declarator("d", dimensions=(32,)), alignment=16)),
        (
            ".extern .shared .align 16 .b8 s[];",
            declared("shared", "b8", Declarator("s", dimensions=(None,)), linkage="extern", alignment=16),
        ),
        (".common .global .u32 a[2][3];", declared("global", "u32", Declarator("a", None, (2, 3)), linkage="common")),
        (".weak .global .texref t;", declared("global", "texref", Declarator("t"), linkage="weak")),
        (
            ".visible .const .f32 c[2] = {0f3F800000, 1.5};",
            declared(
                "const",
                "f32",
                Declarator("c", None, (2,), Vector((Float(0x3F800000, 32), Float(0x3FF8000000000000, 64, True)))),
                linkage="visible",
            ),
        ),
        (
            ".global .u64 p[2] = {generic(a)+8, b};",
            declared(
                "global",
                "u64",
                Declarator(
                    "p",
                    None,
                    (2,),
                    Vector((Binary("+", Apply(Name("generic"), Name("a")), Integer(8)), Name("b"))),
                ),
            ),
        ),
        (
            ".global .u8 m[2] = {0xFF(a), mask(b)};",
            declared(
                "global",
                "u8",
                Declarator(
                    "m",
                    None,
                    (2,),
                    Vector((Apply(Integer(255, 16), Name("a")), Apply(Name("mask"), Name("b")))),
                ),
            ),
        ),
        (
            ".global .s32 n[2][2] = {{1, -2}, {3}};",
            declared(
                "global",
                "s32",
                Declarator("n", None, (2, 2), Vector((Vector((Integer(1), Integer(-2))), Vector((Integer(3),))))),
            ),
        ),
        (
            ".global .samplerref s = {addr_mode_0 = wrap, filter_mode = linear};",
            declared(
                "global",
                "samplerref",
                Declarator(
                    "s",
                    initializer=Vector(
                        (
                            Binary("=", Name("addr_mode_0"), Name("wrap")),
                            Binary("=", Name("filter_mode"), Name("linear")),
                        )
                    ),
                ),
            ),
        ),
        (
            ".global .attribute(.managed, .unified(1, 2)) .align 4 .u32 x;",
            Declaration(
                "",
                "global",
                4,
                0,
                "u32",
                (Attribute("managed"), Attribute("unified", (Integer(1), Integer(2)))),
                (Declarator("x"),),
            ),
        ),
        (
            ".section .debug_x { a: .b8 1, 255 .b32 .debug_y .b64 b+4, -1 .b16 0x10 }",
            Section(
                ".debug_x",
                (
                    Label("a"),
                    Data("b8", (1, 255)),
                    Data("b32", (Name(".debug_y"),)),
                    Data("b64", (Binary("+", Name("b"), Integer(4)), -1)),
                    Data("b16", (Integer(16, 16),)),
                ),
            ),
        ),
        (
            ".callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;",
            CallPrototype(
                (declared("param", "b32", Declarator("_")),),
                (
                    declared("param", "b64", Declarator("_")),
                    declared("param", "b8", Declarator("_", dimensions=(16,)), alignment=8),
                ),
                noreturn=True,
            ),
        ),
        (".callprototype _;", CallPrototype()),
        ("{ { } ret; }", Block((Block(()), Instruction(None, "ret")))),
        (
            ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);",
            Function(
                "extern",
                "func",
                "vprintf",
                (declared("param", "b32", Declarator("r")),),
                (declared("param", "b64", Declarator("a")), declared("param", "b64", Declarator("b"))),
            ),
        ),
        (
            (
                ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 q[24])\n"
                ".maxntid 128, 1, 1\n.minnctapersm 2 .reqnctapercluster 2 .explicitcluster\n"
                '.pragma "nounroll";\n{ ret; }'
            ),
            Function(
                "visible",
                "entry",
                "k",
                (),
                (
                    Declaration("", "param", 0, 0, "u64", (), (Declarator("p"),), Pointer("global", 16)),
                    declared("param", "b8", Declarator("q", dimensions=(24,)), alignment=8),
                ),
                (
                    PerformanceDirective("maxntid", (Integer(128), Integer(1), Integer(1))),
                    PerformanceDirective("minnctapersm", (Integer(2),)),
                    PerformanceDirective("reqnctapercluster", (Integer(2),)),
                    PerformanceDirective("explicitcluster"),
                    PerformanceDirective("pragma", (String("nounroll"),)),
                ),
                (),
                Block((Instruction(None, "ret"),)),
            ),
        ),
        (
            '.entry k() .language "ptx", 7 .language 0x1 { ret; }',
            Function(
                "",
                "entry",
                "k",
                directives=(
                    PerformanceDirective("language", (String("ptx"), Integer(7))),
                    PerformanceDirective("language", (Integer(1, 16),)),
                ),
                body=Block((Instruction(None, "ret"),)),
            ),
        ),
        (
            ".weak .func .attribute(.unified(1, 2)) (.reg .b32 r) f (.reg .b32 a) .noreturn { trap; }",
            Function(
                "weak",
                "func",
                "f",
                (declared("reg", "b32", Declarator("r")),),
                (declared("reg", "b32", Declarator("a")),),
                (PerformanceDirective("noreturn"),),
                (Attribute("unified", (Integer(1), Integer(2))),),
                Block((Instruction(None, "trap"),)),
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_statements(text: str, statement: Statement) -> None:
    assert only(text) == statement


def test_several_statements_on_a_line_and_one_over_many() -> None:
    module = parse("L1: L2: mov.u32 %r1, 1; ret; call.uni\n (r), // result\n f,\n (a,\n b)\n ;")
    assert module.diagnostics == ()
    kinds = [type(one).__name__ for one in module.statements]
    assert kinds == ["Label", "Label", "Instruction", "Instruction", "Instruction"]


def test_a_label_names_the_directive_after_it() -> None:
    module = parse("p : .callprototype ()_ (.param .b32 _);\nt: .branchtargets a;")
    assert [type(one).__name__ for one in module.statements] == ["Label", "CallPrototype", "Label", "BranchTargets"]


def test_comments_and_markers_are_kept_aside() -> None:
    text = '# 12 "k.cu"\n.file 1 "// no comment" /* a */\nmov.b32 a, b; // c\n'
    module = parse(text)
    assert module.diagnostics == ()
    assert [text[start:end] for start, end in module.comments] == ['# 12 "k.cu"', "/* a */", "// c"]


def test_what_the_module_says() -> None:
    module = parse(".version 8.6\n.target sm_90a\n.address_size 64\n.func f;\n.entry k(){ret;}\n.func f{ret;}")
    assert (module.version, module.target, module.address_size) == ((8, 6), ("sm_90a",), 64)
    assert list(module.functions) == ["f", "k"]
    assert module.functions["f"].body is not None
    empty = parse("")
    assert (empty.version, empty.target, empty.address_size, dict(empty.functions)) == ((0, 0), (), 32, {})


def test_walk_gives_parents_first_in_order_of_the_text() -> None:
    module = parse("@p add.s32 a, b, {c, [d+4]}; .reg .b32 e; k: { ret; }")
    names = [type(node).__name__ for node in walk(module)]
    assert names == [
        *("Instruction", "Predicate", "Name", "Name", "Vector", "Name", "Address", "Name"),
        *("Declaration", "Declarator", "Label", "Block", "Instruction"),
    ]
    (first, *_) = module.statements
    assert [type(node).__name__ for node in children(first)] == ["Predicate", "Name", "Name", "Vector"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (None, [0, 1, 2, 3, 4]),
        ("ld", [0, 1]),
        ("ldmatrix", [3]),
        ("ldmatrix.*.trans", [3]),
        ("ldmatrix.*.trans.*", [3]),
        ("ld.shared.v4.*", [0]),
        ("ld.shared", [0]),
        ("ld*", [0, 1, 2, 3]),
        ("*.b32", [0, 1, 4]),
        ("ret", []),
    ],
)
def test_patterns(pattern: str | None, found: list[int]) -> None:
    text = "{ld.shared.v4.b32 {a,b,c,d}, [e]; ld.global.b32 a, [b]; ldu.global.u8 a, [b];"
    text += "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {a}, [e];} .entry k() { mov.b32 a, b; }"
    module = parse(text)
    every = list(instructions(module))
    assert [every.index(one) for one in instructions(module, pattern)] == found


def test_nodes_are_values() -> None:
    (one,) = parse("  mov.b32 a, 1;").statements
    assert isinstance(one, Instruction)
    assert one == Instruction(None, "mov", ("b32",), (Name("a"), Integer(1)))
    assert one.replace(opcode="neg").opcode == "neg"
    assert one.replace(opcode="neg").start == one.start == 2
    assert pickle.loads(pickle.dumps(one.operands)) == one.operands  # noqa: S301 - our own
    assert Name("a") != "a"
    assert {Name("a", start=3): 1}[Name("a", start=9)] == 1
    assert Integer(1) != Integer(1, 16)
    assert repr(one.operands[1]) == "Integer(value=1, radix=10, unsigned=False)"
    with pytest.raises(AttributeError):
        one.opcode = "add"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Name()  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="positional argument"):
        Name("a", 1, 2)  # pyright: ignore[reportCallIssue]
    match one.operands:
        case (Name(text), Integer(value)):
            assert (text, value) == ("a", 1)
        case _:
            raise AssertionError
