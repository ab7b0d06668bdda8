"""How a spelling is read where several forms, or only ptxas, know it."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.isa.notation import read_syntax
from ptxloom.isa.resolution.forms import forms, resolve
from ptxloom.isa.resolution.mismatch import problems
from ptxloom.isa.resolution.problem import Broken
from ptxloom.isa.vectors import split_length, vector_length
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.bind import bind

HEAD = ".version 9.5\n.target sm_100a\n.address_size 64\n.entry k() { .reg .b32 r<9>; .reg .b64 d<9>; .reg .pred p; "


@pytest.mark.parametrize(
    ("operands", "names"),
    [
        ("[r1], d1, d2, r2, p", ("tmem", "a", "b", "idesc", "enable")),
        ("[r1], [r3], d2, r2, p", ("tmem", "am", "b", "idesc", "enable")),
        ("[r1], d1, d2, r2, p, 3", ("tmem", "a", "b", "idesc", "enable", "scale")),
        ("[r1], d1, d2, r2, {r4, r5, r6, r7}, p", ("tmem", "a", "b", "idesc", "disable", "enable")),
        ("[r1], [r3], d2, r2, {r4, r5, r6, r7}, p, 3", ("tmem", "am", "b", "idesc", "disable", "enable", "scale")),
    ],
)
def test_the_looks_of_the_operands_tell_forms_of_one_spelling_apart(operands: str, names: tuple[str, ...]) -> None:
    module = parse(f"{HEAD} tcgen05.mma.cta_group::1.kind::f16 {operands}; }}")
    (instruction,) = instructions(module)
    assert tuple(bind(instruction).operands) == names
    assert check(module) == ()


def test_a_wgmma_with_registers_takes_one_transposition() -> None:
    wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    module = parse(f"{HEAD} {wgmma} {{r1, r2, r3, r4}}, {{r1, r2, r3, r4}}, d1, p, 1, 1, 0; }}")
    (instruction,) = instructions(module)
    assert "transa" not in bind(instruction).operands


def test_what_only_ptxas_takes_is_a_form_with_a_reason() -> None:
    words = ["sync", "aligned", "m16n8k16", "row", "col", "kind::f8f6f4", "f32", "e4m3", "e4m3", "f32"]
    form = resolve("mma", tuple(words)).form
    assert form is not None
    assert [constraint.lax for constraint in form.laxities] == [True]
    assert form.spelling not in {legal.spelling for legal in forms("mma")}
    module = parse(HEAD + "mma." + ".".join(words) + " {r1,r2,r3,r4}, {r1,r2}, {r3}, {r1,r2,r3,r4}; }")
    assert [(found.rule, found.severity.value) for found in check(module)] == [("beyond-manual", "warning")]


def test_an_ignored_qualifier_keeps_its_meaning_where_it_has_one() -> None:
    copy = resolve("tcgen05", ("cp", "cta_group::1", "128x256b", "b8x16", "b6x16_p32"))
    assert (copy.form is not None, copy.ignored) == (True, ())
    load = resolve("tcgen05", ("ld", "sync", "aligned", "32x32b", "x1", "b8x16", "b32"))
    assert (load.form is not None, load.ignored) == (True, (5,))


def test_one_wrong_qualifier_is_named_with_what_fits() -> None:
    (problem,) = problems("mma", ("sync", "aligned", "m16n8k16", "row", "col", "f16", "f16", "f16", "f32"))
    assert problem == Broken(8, ("f16",), "what is added has the type of the result")


def test_a_list_may_count() -> None:
    (line,) = read_syntax("op.shape;\n.shape = {.m64n[8..24:8]k16, .m64n[32..64:32]k16};", "op.toml", 1)
    assert line.slots[0].values == ("m64n8k16", "m64n16k16", "m64n24k16", "m64n32k16", "m64n64k16")


@pytest.mark.parametrize(
    ("opcode", "words", "operand", "length"),
    [
        # The manual's tables of registers a thread.
        ("wmma", "load.a.sync.aligned.row.m16n16k16.f16", "r", 8),
        ("wmma", "load.b.sync.aligned.row.m8n32k16.bf16", "r", 8),
        ("wmma", "load.a.sync.aligned.row.m8n32k16.u8", "r", 1),
        ("wmma", "load.c.sync.aligned.row.m32n8k16.f16", "r", 4),
        ("wmma", "mma.sync.aligned.row.col.m16n16k16.f32.f16", "a", 8),
        ("wmma", "mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", "d", 2),
        ("wgmma", "mma_async.sync.aligned.m64n256k16.f32.f16.f16", "d", 128),
        ("wgmma", "mma_async.sync.aligned.m64n256k16.f16.f16.f16", "d", 64),
        ("wgmma", "mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16", "registers", 4),
        ("mma", "sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "a", 4),
        ("mma", "sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "b", 4),
        ("tcgen05", "ld.sync.aligned.16x256b.x32.b32", "r", 128),
        ("tcgen05", "ld.sync.aligned.16x32bx2.x4.b32", "r", 4),
        ("tcgen05", "mma.cta_group::2.kind::f16", "disable", 8),
        ("ldmatrix", "sync.aligned.m16n16.x2.trans.b8", "r", 4),
    ],
)
def test_vector_lengths_are_those_of_the_tables(opcode: str, words: str, operand: str, length: int) -> None:
    resolution = resolve(opcode, tuple(words.split(".")))
    meant = [form for form in (resolution.form, *resolution.others) if form and operand in form.line.operand_names]
    assert vector_length(meant[0], operand) == length


def test_lengths_may_reckon() -> None:
    assert [split_length(text) for text in (".vec", ".dim-2", ".cta_group*4", "4")] == [
        (".vec", "", 0),
        (".dim", "-", 2),
        (".cta_group", "*", 4),
        ("4", "", 0),
    ]
