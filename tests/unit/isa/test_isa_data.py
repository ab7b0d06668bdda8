"""The data files prove themselves, and the loader names file and line of every slip."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa import forms, instruction_classes, instruction_page, instruction_spec, load, opcodes, resolve
from ptxloom.isa.load import read_spec
from ptxloom.isa.notation import DataError, OperandSlot, read_syntax
from ptxloom.isa.pages.meanings import value_meaning, values
from ptxloom.isa.pages.page import WIDTH
from ptxloom.isa.prove import prove
from ptxloom.isa.resolution.completions import lawful
from ptxloom.isa.types import is_type

DATA = Path(load.__file__).parent / "data"
STMATRIX = (DATA / "stmatrix.toml").read_text(encoding="utf-8")


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("opcode", opcodes())
def test_data_is_sound(opcode: str) -> None:
    assert prove(instruction_spec(opcode)) == ()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("opcode", opcodes())
def test_page_says_all_that_the_data_says(opcode: str) -> None:
    page, spec = instruction_page(opcode), instruction_spec(opcode)
    assert all(re.sub(r"\s+", "", line.text) in re.sub(r"\s+", "", page) for line in spec.lines if lawful(spec, line))
    assert all(len(line) <= WIDTH for line in page.split("```")[1].splitlines())
    words = " ".join(page.split())
    if not any(each.lax for each in spec.constraints):  # else some are about what only ptxas takes
        assert all(" ".join(each.why.split()) in words for each in spec.constraints)
    assert all(" ".join(rule.about.split()) in words for rule in spec.operands.values())
    for need in (need for feature in spec.features for need in (*feature.needs, *filter(None, (feature.gone,)))):
        assert f"PTX {need.version}" in words
        assert str(need.targets or "") in words
    assert spec.section in page


def test_a_page_is_about_the_qualifiers_named() -> None:
    assert "cp.async.wait_all;" in instruction_page("cp", ("async",))
    page = instruction_page("cp", ("reduce", "tensor"))
    assert "cp.async.wait_all;" not in page
    assert "lines that `ptxloom explain cp` shows" in page
    assert "`n`" not in page
    assert "- .tile::scatter4:" not in page
    assert "it takes `.x1`, `.x2` or `.x4`" in instruction_page("ldmatrix", ("x3",))
    assert instruction_page("ldmatrix", ("x3",)).replace("did you mean", "").count("ldmatrix.sync") > 1


def test_a_page_of_a_form_has_its_numbers() -> None:
    words = ("sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32")
    page = instruction_page("mma", words)
    assert "- `.shape` is `.m16n8k16`" in page
    assert "- `a` (a vector of 4 registers of type `.f16x2`)" in page
    assert "- `d` (written; a vector of 4 registers of type `.f32`, or a predicate, which ptxas accepts)" in page
    assert "`e`" not in page
    assert "sm_80 or later" in page
    assert ".kind::f8f6f4: PTX" not in page


def test_what_only_ptxas_takes_is_no_syntax() -> None:
    page = instruction_page("subc")
    syntax = page.split("```")[1]
    assert ".u16" not in syntax
    assert ".sat" not in syntax
    assert "`.type` is not `.u16` or `.s16`" in page
    assert resolve("subc", ("u16",)).form is not None


def test_every_value_is_described_or_speaks_for_itself() -> None:
    speaking = re.compile(r"[mx]\d\S*|v\d|\d+x\d+b\S*|\dd|sp::\d.*|collector::.*|.*::all")
    found: dict[str, set[str]] = {}
    for opcode in opcodes():
        for slot in (slot for line in instruction_spec(opcode).lines for slot in line.slots):
            found.setdefault(slot.name, set()).update(slot.values)
            for value in slot.values if len(slot.values) > 1 else ():
                told = value_meaning(slot.name, value) or is_type(value) or speaking.fullmatch(value)
                assert told, f"{opcode}: .{slot.name} = .{value}"
    assert {(slot, word) for slot, row in values().items() for word in row if word not in found.get(slot, ())} == set()


def test_forms_are_those_of_a_restated_predicate() -> None:
    """The legal forms, by a predicate written on its own over the whole product."""
    expected: set[str] = set()
    shapes = ("m8n8", "m16n16", "m8n16", "m16n8")
    types = ("b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64", "s8.s4")
    for op, shape, num, trans, type_ in product(("ld", "st"), shapes, (1, 2, 4), (False, True), types):
        packed = type_.startswith("b8x16")
        legal = (
            (shape == "m8n8" and type_ == "b16")
            or (op == "ld" and shape == "m16n16" and (type_ == "b8" or packed) and trans and num < 4)
            or (op == "ld" and shape == "m8n16" and (packed or type_ == "s8.s4") and not trans)
            or (op == "st" and shape == "m16n8" and type_ == "b8" and trans)
        )
        for space in ("", ".shared", ".shared::cta"):
            if legal:
                expected.add(f"{op}matrix.sync.aligned.{shape}.x{num}{'.trans' * trans}{space}.{type_}")
    found = [form.spelling for opcode in ("ldmatrix", "stmatrix") for form in forms(opcode)]
    assert len(found) == len(set(found)) == 90
    assert set(found) == expected


SYNTAX = "stmatrix.sync.aligned.shape"
# slip -> (old text, new text, a text on the line that the error must name, the message)
SLIPS = {
    "undefined qualifier": (".num{.trans}", ".nmu{.trans}", 'syntax = """', "`.num` is defined and never used"),
    "defined twice": (".type  = {", ".shape = {", ".shape = {.b16", "`.shape` is defined twice"),
    "no definition": (
        ".num   = {.x1, .x2, .x4};",
        ".num   = .x1;",
        ".num ",
        "is neither a syntax line nor a definition",
    ),
    "no dot": (".x1, .x2", "x1, .x2", ".num ", "is not a list of qualifiers"),
    "twice in a list": (".x1, .x2", ".x1, .x1", ".num ", "names a qualifier twice"),
    "twice in a line": ("{.trans}", "{.type}", ".sync.aligned.shape", "has two qualifiers of one name"),
    "another opcode": (SYNTAX, "ld" + SYNTAX[2:], ".sync.aligned.shape", "the line describes `ldmatrix`"),
    "unknown value": ('type = "b16" }', 'type = "b61" }', "[[constraint]]", "`.b61` is not a value of `.type`"),
    "unknown slot": ('{ shape = "m8n8" }', '{ shpae = "m8n8" }', "[[constraint]]", "has a qualifier `.shpae`"),
    "bad need": ('"7.8 sm_90"', '"7.8 90"', "[[feature]]", "target"),
    "bad kind": ('"fragment b32"', '"fragments b32"', "[operands]", "a kind is one of"),
    "operand": ("[p], r;", "[p], q;", SYNTAX, "operand `q` is not described"),
    "operands": ("[p], r;", "[p], !;", SYNTAX, "`!` is not a list of operands"),
    "no title": ("title = ", "titel = ", "# stmatrix", "`title` is missing"),
    "no TOML": ("[operands]", "[operands", "[operands", "Expected"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_loader_names_file_and_line(slip: str) -> None:
    old, new, at, message = SLIPS[slip]
    assert old in STMATRIX
    text = STMATRIX.replace(old, new, 1)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_spec(text, "stmatrix.toml")
    expected = next(number for number, line in enumerate(text.splitlines(), 1) if at in line)
    offset = 1 if at == 'syntax = """' else 0
    assert str(caught.value).startswith(f"stmatrix.toml:{expected + offset}: ")


UNSOUND = {
    "a constraint that removes nothing": (
        "\n[[feature]]",
        '\n[[constraint]]\nwhen = { type = "b8" }\nrequire = { trans = true }\nwhy = "said before"\n\n[[feature]]',
        "(said before) removes nothing",
    ),
    "a qualifier without words": ('num = "how many matrices"\n', "", "`.num` is described neither here"),
    "words without a qualifier": ('num = "how', 'nmu = "less"\nnum = "how', "`.nmu` is described, and no"),
    "an operand without a line": ("[qualifiers]", 'q = { is = "address", about = "" }\n[qualifiers]', "operand `q`"),
    "a feature without a form": (
        'when = { shape = "m16n8" }\nneeds',
        'when = { shape = "m16n8", type = "b16" }\nneeds',
        "no spelling uses the feature .m16n8",
    ),
    "no target": ('"8.6 sm_100+af"', '"8.6 sm_999"', "no target knows stmatrix.sync.aligned.m16n8.x1.trans.b8"),
    "clash": (
        "stmatrix.sync.aligned.shape.num{.trans}{.ss}.type [p], r;",
        (
            "stmatrix.sync.aligned.shape.num{.trans}{.ss}.type [p], r;\n"
            "stmatrix.aligned.sync.shape.num{.trans}{.ss}.type [p], r;"
        ),
        "is the same as",
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_proofs_find_unsound_data(case: str) -> None:
    old, new, message = UNSOUND[case]
    assert old in STMATRIX
    findings = prove(read_spec(STMATRIX.replace(old, new, 1), "stmatrix.toml"))
    assert any(message in str(finding) for finding in findings), findings


def test_notation_scopes_definitions() -> None:
    block = """
        .n = {.x1, .x2};
        op.a.n.t d{, [p]}, r;
        .t = {.b8};
        op.b.n.t d;
        .t = {.b16};
    """
    first, second = read_syntax(block, "op.toml", 1)
    assert [slot.values for slot in first.slots] == [("a",), ("x1", "x2"), ("b8",)]
    assert [slot.values for slot in second.slots] == [("b",), ("x1", "x2"), ("b16",)]
    assert [(o.name, o.bracketed, o.optional) for o in first.operands] == [
        ("d", False, False),
        ("p", True, True),
        ("r", False, False),
    ]
    assert (first.line, second.line) == (3, 5)


def test_notation_reads_what_the_rest_of_the_manual_writes() -> None:
    block = """
        ld{.weak}{.ss}{.level1::eviction_priority}{.vec}.type d{|p}, [a, coordinates], {!}c{, cache-policy};
        .ss                       = {.global, .shared{::cta, ::cluster}};
        .level1::eviction_priority = {.L1::evict_normal, .L1::no_allocate};
        .vec                      = {.v2, .v4};
        .type                     = {.b32};
    """
    [line] = read_syntax(block, "ld.toml", 1)
    values = {slot.name: slot.values for slot in line.slots}
    assert values["ss"] == ("global", "shared", "shared::cta", "shared::cluster")
    assert values["level1::eviction_priority"] == ("L1::evict_normal", "L1::no_allocate")
    assert [slot.optional for slot in line.slots] == [True, True, True, True, False]
    assert line.operands == (
        OperandSlot("d", partner="p"),
        OperandSlot("a", bracketed=True, extra=("coordinates",)),
        OperandSlot("c"),
        OperandSlot("cache-policy", optional=True),
    )
    with pytest.raises(DataError, match="closes a bracket that it does not open"):
        read_syntax("op d], a;", "op.toml", 1)


def test_every_opcode_is_listed_once() -> None:
    classes = instruction_classes()
    assert set(opcodes()) <= classes.keys()
    assert len(classes) == len(re.findall(r'"[a-z0-9]+"[,\]]', (DATA / "_opcodes.toml").read_text(encoding="utf-8")))


def test_unknown_opcode_has_a_near_miss() -> None:
    with pytest.raises(UnsupportedForm, match="did you mean `ldmatrix`"):
        instruction_spec("ldmatirx")
    with pytest.raises(UnsupportedForm, match=r"it describes \d+ others"):
        instruction_spec("../../../etc/passwd")
