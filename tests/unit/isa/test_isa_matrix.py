from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa import forms, resolve, targets
from ptxloom.isa.matrix import MatrixMove, matrix_move, spellings, variants
from ptxloom.isa.resolution.mismatch import problems
from ptxloom.isa.shapes import MatrixShape
from ptxloom.isa.types import is_type
from ptxloom.isa.version import PtxVersion

# op, shape, registers of x1, x2, x4 (0: illegal)
REGISTERS = {
    ("ldmatrix", "m8n8"): (1, 2, 4),
    ("ldmatrix", "m16n16"): (2, 4, 0),
    ("ldmatrix", "m8n16"): (1, 2, 4),
    ("stmatrix", "m8n8"): (1, 2, 4),
    ("stmatrix", "m16n8"): (1, 2, 4),
}


def test_thirty_variants_ninety_spellings() -> None:
    assert (len(variants()), len(spellings())) == (30, 90)
    assert len({move.spelling for move in spellings()}) == 90


def test_up_to_ptx_9_3_there_are_27_and_81() -> None:
    old = [
        form
        for opcode in ("ldmatrix", "stmatrix")
        for form in forms(opcode)
        if any(all(f.available(PtxVersion(9, 3), t) for f in form.features) for t in targets())
    ]
    assert len(old) == 81
    assert sum(not form.qualifiers.ss for form in old) == 27


@pytest.mark.parametrize("move", variants(), ids=str)
def test_registers(move: MatrixMove) -> None:
    counts = REGISTERS[move.opcode, str(move.shape)]
    assert move.registers == counts[(1, 2, 4).index(move.num)] > 0


def test_any_order_names_the_same_move() -> None:
    words = ("m8n8", "x4", "trans", "shared", "b16")
    expected = matrix_move("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    assert expected.spelling == "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    for order in permutations(words):
        assert matrix_move(".".join(order), "ldmatrix") == expected
        assert matrix_move("ldmatrix." + ".".join((*order, "aligned", "sync"))) == expected


def test_packed_formats_keep_their_order() -> None:
    move = matrix_move("b8x16.x2.b4x16_p64.m8n16", "ldmatrix")
    assert (move.destination.name, move.source.name, move.num, move.shape) == (
        "b8x16",
        "b4x16_p64",
        2,
        MatrixShape(8, 16),
    )
    with pytest.raises(UnsupportedForm, match=r"`.b8x16` must precede `.b4x16_p64`"):
        matrix_move("b4x16_p64.x2.b8x16.m8n16", "ldmatrix")


VOCABULARY = {
    opcode: sorted({word for form in forms(opcode) for word in form.words})
    for opcode in ("ldmatrix", "stmatrix", "movmatrix")
}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_words_name_a_form_exactly_if_they_are_one(data: st.DataObject) -> None:
    """Near a legal form: shuffled, then perhaps words dropped or put in. Types keep their order, nothing else does."""
    opcode = data.draw(st.sampled_from(sorted(VOCABULARY)))
    words = list(data.draw(st.permutations(data.draw(st.sampled_from(forms(opcode))).words)))
    for word in data.draw(st.lists(st.sampled_from(VOCABULARY[opcode]), max_size=2)):
        words.insert(data.draw(st.integers(0, len(words))), word)
    for _ in range(data.draw(st.integers(0, 2))):
        words.pop(data.draw(st.integers(0, len(words) - 1)))
    types = [word for word in words if is_type(word)]
    known = [form for form in forms(opcode) if sorted(form.words) == sorted(set(words) | ({"sync"} & set(words)))]
    single = all(words.count(word) == 1 or word == "sync" for word in words)
    legal = single and any([word for word in form.words if is_type(word)] == types for form in known)
    resolution = resolve(opcode, tuple(words))
    assert (resolution.form is not None) == legal
    assert bool(problems(opcode, tuple(words))) == (not legal)


def test_movmatrix() -> None:
    move = matrix_move("movmatrix.sync.aligned.m8n8.trans.b16")
    assert (move.num, move.registers, move.trans, move.space) == (1, 1, True, "")
    assert move not in spellings()


MISSES = {
    "m8n8.x4.b8": "`ldmatrix` with `.m8n8` takes no `.b8`; it takes `.b16`",
    "m8n16.x1.b16": "takes no `.b16`; it takes `.b8x16.b6x16_p32`, `.b8x16.b4x16_p64` or `.s8.s4`",
    "m8n9.x1.b16": "it takes `.m8n8`",
    "m8n8.x4.trnas.b16": "did you mean `.trans`",
    "m16n16.x1.b8": "`ldmatrix` with `.m16n16` requires `.trans`",
    "m16n16.x4.trans.b8": "with `.m16n16` takes no `.x4`; it takes `.x1` or `.x2`",
    "m8n16.x1.trans.b8x16.b6x16_p32": "with `.m8n16` takes no `.trans`",
    "m8n8.b16": "requires `.x1`, `.x2` or `.x4`",
    "m8n8.x1": "requires `.b16`",
    "m8n8.x1.x2.b16": "one of `.x1` and `.x2`, not both",
    "m8n8.x1.x1.b16": "`.x1` appears twice",
    "m8n8.x8.b16": "ptxas assembles it as `.x1`",
    "m8n8.x1.shared::cluster.b16": "did you mean `.shared::cta`",
    "m8n8.x1.global.b16": "it takes `.shared` or `.shared::cta`",
    "m8n8.x1.foo.b16": "takes no `.foo`",
    "": "is not a matrix move|requires `.m8n8",
}


@pytest.mark.parametrize("text", MISSES)
def test_a_miss_says_why(text: str) -> None:
    with pytest.raises(UnsupportedForm, match=MISSES[text]):
        matrix_move(text, "ldmatrix")


@pytest.mark.parametrize(
    ("text", "opcode", "message"),
    [
        ("ldmatirx.sync.aligned.m8n8.x1.b16", None, "did you mean `ldmatrix`"),
        ("m8n8.x1.b16", None, "starts with none of"),
        ("stmatrix.sync.aligned.m8n8.x1.b16", "ldmatrix", "is not a form of ldmatrix"),
        ("m8n8.x1.b16", "mma", "is not a form of mma"),
        ("ldmatrix.m8n8.x1.b16", None, "requires `.sync.aligned`"),
    ],
)
def test_the_opcode_must_be_right(text: str, opcode: str | None, message: str) -> None:
    with pytest.raises(UnsupportedForm, match=message):
        matrix_move(text, opcode)


def test_what_ptxas_lets_pass_is_kept_apart() -> None:
    found = resolve("ldmatrix", ("sync", "aligned", "x1", "m8n8", "sync", "row", "b16"))
    assert found.form is not None
    assert found.form.spelling == "ldmatrix.sync.aligned.m8n8.x1.b16"
    assert (found.ignored, found.repeated, found.displaced) == ((5,), (4,), 3)
    assert resolve("ldmatrix", ("sync", "aligned", "m8n8", "x1", "b16")).displaced is None


def test_qualifiers_by_name() -> None:
    form = resolve("stmatrix", ("sync", "aligned", "m16n8", "x2", "trans", "shared", "b8")).form
    assert form is not None
    written = form.qualifiers
    assert (written.shape, written["num"], written.trans, written.ss, written.type) == (
        "m16n8",
        "x2",
        "trans",
        "shared",
        "b8",
    )
    assert list(written) == ["sync", "aligned", "shape", "num", "trans", "ss", "type"]
    assert written.get("dst_fmt") == ""
    with pytest.raises(AttributeError, match="no qualifier 'dst_fmt'"):
        _ = written.dst_fmt
