"""`atom`, `emit` and `swizzle` print what the library says."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ptxloom.atoms import copy_atoms
from ptxloom.atoms.wrappers import LANGUAGES, emit
from ptxloom.cli.arguments import cute_arguments

Run = Callable[..., Any]

F16 = "m16n8k16.row.col.f32.f16.f16.f32"
S8 = "m16n8k32.row.col.s32.s8.s8.s32"
FP4 = "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32"


def test_all_copy_atoms_are_listed(run: Run) -> None:
    lines = run("atom").out.splitlines()
    assert len(lines) == 1 + len(copy_atoms())
    assert lines[0].split() == ["PTX", "CuTe", "C++", "CuTe", "DSL"]


def test_an_atom_shows_its_names_layouts_and_evidence(run: Run) -> None:
    out = run("atom", "SM100_U8x8_LDSM_T").out
    assert "DstLayout  ((4,8),(8,2,2,2)):((256,8),(1,128,64,1024))" in out
    assert "CuTe DSL   LdMatrix16x16x8bOp" not in out
    assert "bytes are exchanged after the load" in out
    assert "evidence   rests on ptxas, CUTLASS and the manual" in out
    assert "evidence   run on an H200" in run("atom", "SM75_U32x1_LDSM_N").out
    assert "CuTe C++   none" in run("atom", "m16n16.x1.trans.b8").out
    line = run("atom", "SM80_16x8x16_F32F16F16F32_TN", "--output-format", "concise").out
    assert line.split(" = ")[0] == f"mma.sync.aligned.{F16}"
    found = json.loads(run("atom", "SM75_U16x8_LDSM_T", "--output-format", "json").out)
    assert found["src_layout"] == "(32,128):(128,1)"


def test_all_copy_atoms_are_listed_in_every_format(run: Run) -> None:
    atoms = copy_atoms()
    listed = json.loads(run("atom", "--output-format", "json").out)
    assert [one["ptx"] for one in listed] == [atom.ptx for atom in atoms]
    concise = run("atom", "--output-format", "concise").out.splitlines()
    assert [line.split(" = ")[0] for line in concise] == [atom.ptx for atom in atoms]
    table = run("atom").out.splitlines()
    assert [line.split()[0] for line in table] == ["PTX", *(atom.ptx for atom in atoms)]


def test_the_advisor_answers_for_both_operands(run: Run) -> None:
    ran = run("atom", "--mma", F16, "--blas", "NN")
    assert ran.code == 0
    assert "SM75_U16x8_LDSM_T, fills the operand" in ran.out
    assert "SM75_U32x2_LDSM_N, fills the operand" in ran.out
    assert "rows      lanes 0 to 7: k = 0 to 7, m from 0\nrows      lanes 8 to 15: k = 0 to 7, m from 8" in ran.out


def test_the_advisor_says_what_follows_and_what_else(run: Run) -> None:
    out = run("atom", "--mma", FP4, "--operand", "a", "--major", "k", "--target", "sm_120a").out
    assert "then      shift each register left by 2 bits" in out
    none = run("atom", "--mma", S8, "--operand", "b", "--major", "n")
    assert none.code == 1
    assert "but needs sm_100 or later with suffix `a` or `f`" in none.out
    assert "instead:  transpose" in none.out
    store = run("atom", "--mma", F16, "--operand", "d", "--major", "n", "--element", "f16").out
    assert "first     convert D from f32 to f16" in store
    assert "SM90_U32x2_STSM_N" in store
    wide = run("atom", "--mma", S8, "--operand", "b", "--major", "n", "--target", "sm_120a").out
    assert "fills 2 tiles side by side" in wide


def test_the_advisor_in_one_line_and_as_json(run: Run) -> None:
    assert run("atom", "--mma", F16, "--blas", "TN", "--output-format", "concise").out == (
        "A of SM80_16x8x16_F32F16F16F32_TN, K-major: SM75_U32x4_LDSM_N\n"
        "B of SM80_16x8x16_F32F16F16F32_TN, K-major: SM75_U32x2_LDSM_N\n"
    )
    a, b = json.loads(run("atom", "--mma", S8, "--blas", "TT", "--output-format", "json").out)
    assert a["atom"]["name"] == "SM75_U32x4_LDSM_N"
    assert a["rows"][8] == [8, 0]
    assert b["atom"] is None
    assert b["instead"].startswith("transpose")


@pytest.mark.parametrize("language", LANGUAGES)
def test_emit_prints_the_wrapper(run: Run, language: str) -> None:
    assert run("emit", "SM75_U16x2_LDSM_T", "--language", language).out == emit("SM75_U16x2_LDSM_T", language) + "\n"


def test_emit_swizzles_addresses(run: Run) -> None:
    out = run("emit", "SM75_U32x4_LDSM_N", "--swizzle", "3,3,3").out
    assert "// The tile is at Swizzle<3,3,3>, aligned to 1024 bytes." in out
    assert "return tile + (offset ^ ((offset >> 7 & 7) << 4));" in out
    assert "rows are split" in run("emit", "SM75_U32x4_LDSM_N", "--swizzle", "3,2,3").err


def test_the_languages_on_the_command_line_are_all() -> None:
    assert tuple(LANGUAGES) == cute_arguments.LANGUAGES


def test_a_swizzle_is_found_with_what_to_paste(run: Run) -> None:
    ran = run("swizzle", "64x64", "f16", "cp.async", "ldmatrix.x4.trans")
    assert ran.code == 0
    assert ran.out.startswith(
        "64x64 f16, rows 128 bytes apart: Swizzle<3,3,3> leaves every access free of conflicts.\n"
    )
    assert "as it is              8192  64/64     512/64\n" in ran.out
    assert "index:  (i = row * 64 + column, i ^ ((i >> 6 & 7) << 3))\n" in ran.out
    free = run("swizzle", "64x64", "f16", "ldmatrix", "--pitch", "144", "--output-format", "concise")
    assert free.out == "64x64 f16, rows 144 bytes apart: free of conflicts as it is\n"


def test_that_nothing_helps_is_an_answer(run: Run) -> None:
    ran = run("swizzle", "64x64", "f16", "ldmatrix.x4", "ld.shared.b16@column", "--output-format", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["free"], found["choices"]) == (0, False, [])
    assert found["best"]["swizzle"] == [3, 3, 3]
    assert found["best"]["conflicts"] == 384
    full = run("swizzle", "64x64", "f16", "ldmatrix.x4", "ld.shared.b16@column")
    assert (
        "nothing leaves every access free of conflicts; Swizzle<3,3,3> costs least, 384 wavefronts too many" in full.out
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("atom", "SM75_U32x3_LDSM_N"), "`SM75_U32x2_LDSM_N` comes nearest"),
        (("atom", "--mma", F16), "`--operand` and `--major`, or A and B at once with `--blas TN`"),
        (("atom", "--mma", F16, "--blas", "XX"), "TN, NT, NN or TT"),
        (("atom", "--mma", "m16n8k3.row.col.f32.f16.f16.f32", "--blas", "TN"), "it takes `.m8n8k4`, `.m16n8k8`"),
        (("emit", "SM90_U32x1_STSM_N", "--language", "triton"), "writes shared memory"),
        (("swizzle", "64x64", "f17", "ldmatrix"), "a type such as"),
        (("swizzle", "64x64", "f16", "red.shared.b32"), "red.shared.b32"),
        (("swizzle", "4x64", "f16", "ldmatrix"), "matrices of 8 rows"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
