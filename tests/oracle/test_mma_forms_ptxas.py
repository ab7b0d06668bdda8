"""Our rules for which forms of mma.sync exist against ptxas: every shape with every pair of types, in one module."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ptxloom.isa.products import MatrixForm, mma_forms

if TYPE_CHECKING:
    from collections.abc import Iterator


def find_ptxas() -> str | None:
    """Ptxas of the package, or of the path."""
    package = importlib.util.find_spec("nvidia")
    for root in package.submodule_search_locations or () if package else ():
        for found in Path(root).glob("cu*/bin/ptxas"):
            return str(found)
    return shutil.which("ptxas")


PTXAS = find_ptxas()
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(PTXAS is None, reason="ptxas is not here")]

MULTIPLICANDS = ("f64", "tf32", "f16", "bf16", "s8", "u8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s4", "u4", "b1")
ACCUMULATORS = ("f64", "f32", "s32", "f16")

# What ptxas assembles although the manual knows no such form.
LAX = (re.compile(r"m16n8k16\.row\.col\.f32\.tf32\.tf32"), re.compile(r"m16n8k16\.row\.col\.kind::f8f6f4\."))


def candidates(kind: str) -> Iterator[MatrixForm]:
    """Every shape with every A, B, D and C type, legal or not; only vectors of 1 to 8 registers can be written."""
    multiplicands = [t for t in MULTIPLICANDS if not kind or t.startswith("e")]
    for m, k in product((8, 16), (4, 8, 16, 32, 64, 128, 256)):
        for a, b in product(multiplicands, repeat=2):
            for d, c in product(ACCUMULATORS, repeat=2):
                form = MatrixForm(
                    "mma", m, 8, k, "row", "col", d, a, b, c, kind, bit_operation="xor" if a == "b1" else ""
                )
                if all(1 <= form.registers(operand) <= 8 for operand in "abcd"):
                    yield form


def operands(form: MatrixForm) -> str:
    """Registers for D, A, B and C."""
    files = {"f64": "fd", "f32": "f"}
    vectors = [
        [f"%{files.get(form.type_of(operand), 'r')}{i}" for i in range(form.registers(operand))] for operand in "dabc"
    ]
    scales = ["{%r8}, {0, 0}", "{%r9}, {0, 0}"] if form.scale_vector else []
    return ", ".join([*("{" + ", ".join(vector) + "}" for vector in vectors), *scales])


def accepted(forms: list[MatrixForm], target: str, folder: Path) -> set[str]:
    """The spellings that ptxas assembles."""
    assert PTXAS is not None
    head = (
        f".version 9.1\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n"
        ".reg .b32 %r<16>; .reg .f32 %f<16>; .reg .f64 %fd<16>;\n"
    )
    source = folder / "forms.ptx"
    source.write_text(head + "".join(f"{form.spelling} {operands(form)};\n" for form in forms) + "ret;\n}\n")
    done = subprocess.run(
        [PTXAS, "-arch", target, str(source), "-o", str(folder / "out")], check=False, capture_output=True, text=True
    )
    bad = {int(line) for line in re.findall(r"line (\d+); error", done.stderr)}
    first = head.count("\n") + 1
    assert done.returncode == 0 or bad, done.stderr[:500]
    return {form.spelling for number, form in enumerate(forms, first) if number not in bad}


@pytest.mark.parametrize(("target", "kind"), [("sm_90", ""), ("sm_120a", "f8f6f4")])
def test_ptxas_assembles_exactly_our_forms(target: str, kind: str, tmp_path: Path) -> None:
    forms = list(candidates(kind))
    ours = {
        form.spelling
        for form in mma_forms()
        if form.kind == kind and (form.a_layout, form.b_layout) == ("row", "col") and form.bit_operation != "and"
    }
    assert ours <= {form.spelling for form in forms}
    theirs = accepted(forms, target, tmp_path)
    lax = {spelling for spelling in theirs - ours if any(pattern.search(spelling) for pattern in LAX)}
    assert theirs - lax == ours


def test_ptxas_assembles_the_other_forms_too(tmp_path: Path) -> None:
    forms = [f for f in mma_forms() if f.bit_operation == "and" or f.quad_pairs]
    assert accepted(forms, "sm_90", tmp_path) == {form.spelling for form in forms}


def test_ptxas_scales_exactly_our_blocks(tmp_path: Path) -> None:
    kinds = {form.kind for form in mma_forms() if form.scale_type}
    plain = [MatrixForm("mma", 16, 8, k, "row", "col", "f32", "e2m1", "e2m1", "f32") for k in (32, 64)]
    forms = [
        replace(form, kind=kind, scale_vector=vector, scale_type=scale)
        for form, kind, vector, scale in product(plain, kinds, ("1X", "2X", "4X"), ("ue8m0", "ue4m3"))
    ]
    ours = {form.spelling for form in mma_forms() if form.kind in kinds and form.a_type == form.b_type == "e2m1"}
    assert accepted(forms, "sm_120a", tmp_path) == ours


def test_ptxas_mixes_the_narrow_types_of_scaled_blocks(tmp_path: Path) -> None:
    forms = [form for form in mma_forms() if form.kind == "mxf8f6f4"]
    assert len(forms) == 25
    assert accepted(forms, "sm_120a", tmp_path) == {form.spelling for form in forms}
