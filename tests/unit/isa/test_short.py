"""Short names of instructions: completed where one form is meant, asked where several are."""

from __future__ import annotations

import re

import pytest

from ptxloom.banks import bank_conflicts
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import matrix_move
from ptxloom.isa.products import matrix_form
from ptxloom.isa.resolution.forms import forms
from ptxloom.isa.short import Ambiguous, completed, whole
from ptxloom.isa.spelling import CALLED

MOVES = {
    "ldmatrix.x4": "ldmatrix.sync.aligned.m8n8.x4.b16",
    "ldmatrix.x4.trans": "ldmatrix.sync.aligned.m8n8.x4.trans.b16",
    "ldmatrix.trans.x2.shared": "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
    "ldmatrix.x4.t": "ldmatrix.sync.aligned.m8n8.x4.trans.b16",
    "stmatrix.x1": "stmatrix.sync.aligned.m8n8.x1.b16",
    "stmatrix.m16n8.x2": "stmatrix.sync.aligned.m16n8.x2.trans.b8",
    "movmatrix": "movmatrix.sync.aligned.m8n8.trans.b16",
}
PRODUCTS = {
    "mma.m16n8k16.bf16": "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.m16n8k16.f32.f16.f16.f32": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.m16n8k32.s8": "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.m16n8k32.u8.s8": "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
    "mma.sp.m16n8k32.bfloat16": "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
    "m16n8k8.tf32": "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "wgmma.m64n128k16.bf16": "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16",
}


@pytest.mark.parametrize(("short", "spelling"), MOVES.items())
def test_matrix_moves(short: str, spelling: str) -> None:
    assert matrix_move(whole(short)).spelling == spelling
    assert fragment(short) == fragment(spelling)


@pytest.mark.parametrize(("short", "spelling"), PRODUCTS.items())
def test_products(short: str, spelling: str) -> None:
    assert fragment(short, "d") == fragment(matrix_form(spelling), "d")


def test_banks_take_the_same_names() -> None:
    said, full = (bank_conflicts(name, range(0, 32 * 128, 128)) for name in ("ldmatrix.x4", "ldmatrix.m8n8.x4.b16"))
    assert (said.access, said.wavefronts, said.conflicts) == (full.access, full.wavefronts, full.conflicts)


@pytest.mark.parametrize("opcode", ["ldmatrix", "stmatrix", "mma", "wgmma"])
def test_every_name_that_an_error_offers_is_taken(opcode: str) -> None:
    asked = {word for form in forms(opcode) for word in form.words if word.startswith(("m", "x"))}
    leads = ("mma_async",) if opcode == "wgmma" else ()
    offered = 0
    for word in sorted(asked):
        try:
            completed(opcode, (word,), leads)
        except Ambiguous as question:
            for name in re.findall(r"`([^`]+)`", str(question))[1:]:
                offered += 1
                found = completed(opcode, tuple(name.split(".")[1:]), leads)
                assert found is not None
                assert set(name.split(".")).issubset((opcode, *found.words))
    assert offered > 5


def test_what_is_ambiguous_is_asked_with_the_candidates() -> None:
    with pytest.raises(Ambiguous, match="can mean") as asked:
        fragment("mma.m16n8k16", "a")
    for types in ("f16.f16.f16.f16", "f32.f16.f16.f32", "f32.bf16.bf16.f32", "s32.s8.s8.s32", "f64.f64.f64.f64"):
        assert f"`mma.m16n8k16.{types}`" in str(asked.value)
    assert ".sp" not in str(asked.value)


def test_full_spellings_stay_what_they_are() -> None:
    for opcode in ("ldmatrix", "stmatrix"):
        for form in forms(opcode):
            assert whole(form.spelling) == form.spelling


def test_what_is_no_form_is_none_in_short_either() -> None:
    assert completed("ldmatrix", ("x3",)) is None
    with pytest.raises(UnsupportedForm, match="x3"):
        fragment("ldmatrix.x3")
    with pytest.raises(UnsupportedForm, match=r"`\.sp"):
        fragment("m16n8k32.row.col.f32.f16.f16.f32", "d")


def test_foreign_names_are_no_names_of_ptx() -> None:
    words = {word for opcode in ("ldmatrix", "mma", "wgmma", "cvt") for form in forms(opcode) for word in form.words}
    assert words.isdisjoint(CALLED)
    assert words.issuperset({"f16", "bf16", "trans"})
