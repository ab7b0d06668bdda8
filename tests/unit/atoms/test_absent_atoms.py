"""Names that CuTe does not have: why, and which atom does that job, on every name that one could think of."""

from __future__ import annotations

import itertools

import pytest

from ptxloom.atoms import atom, copy_atoms
from ptxloom.atoms.absent import absent
from ptxloom.atoms.page import atom_page
from ptxloom.cli import main
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.explanation import explain, topics

KNOWN = {one.name for one in copy_atoms() if one.name}
NAMES = [
    f"SM{since}_U{bits}x{count}_{what}_{letter}"
    for since, bits, count, what, letter in itertools.product(
        (75, 80, 90, 100), (8, 16, 32), (1, 2, 3, 4, 8, 16), ("LDSM", "STSM", "MOVM"), "NT"
    )
]


@pytest.mark.parametrize(
    ("name", "instead", "because"),
    [
        ("SM75_U32x1_LDSM_T", "SM75_U16x2_LDSM_T", "An atom that transposes (`_T`) is named by the elements"),
        ("SM75_U32x4_LDSM_T", "SM75_U16x8_LDSM_T", "An atom that transposes (`_T`) is named by the elements"),
        ("SM75_U16x2_LDSM_N", "SM75_U32x1_LDSM_N", "An atom that does not transpose (`_N`) is named by whole reg"),
        ("SM90_U16x8_STSM_N", "SM90_U32x4_STSM_N", "An atom that does not transpose"),
        ("SM80_U32x4_LDSM_N", "SM75_U32x4_LDSM_N", "SM75 here"),
        ("SM75_U32x4_STSM_N", "SM90_U32x4_STSM_N", "SM90 here"),
        ("SM75_U32x3_LDSM_N", "SM75_U32x2_LDSM_N", "A thread holds 1, 2 or 4 registers"),
        ("SM75_U32x1_MOVM_N", "SM75_U32x1_MOVM_T", "always transposes"),
    ],
)
def test_it_says_why_and_what_instead(name: str, instead: str, because: str) -> None:
    found = absent(name)
    assert found is not None
    assert (found.instead.name, found.name) == (instead, name)
    assert because in found.why
    page = explain(name).markdown
    assert page.startswith(f"# {name}: CuTe has no such atom\n\n{found.why}\n\n`{instead}` ")
    assert f"## {instead}: `{found.instead.ptx}`" in page
    with pytest.raises(UnsupportedForm, match=f"no atom called `{name}`; `{instead}` "):
        atom(name)


def test_of_every_name_the_direction_and_the_transposition_are_kept() -> None:
    for name in NAMES:
        found = absent(name)
        assert (found is None) == (name in KNOWN), name
        if found is not None:
            assert found.why
            assert found.instead.name.split("_")[-2] == name.split("_")[-2]
            assert found.instead.name[-1] == name[-1] or name.endswith("MOVM_N")
            bits, count = name.split("_")[1].removeprefix("U").split("x")
            assert found.same == (found.instead.instruction.registers * 32 == int(bits) * int(count))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_atom_has_a_page_and_is_listed(name: str) -> None:
    page = explain(name)
    assert page.kind == "atom"
    assert page.markdown.startswith(f"# {name}: `{atom(name).ptx}`")
    assert all(part in page.markdown for part in name.split("_"))
    assert name in {topic.word for topic in topics()}


def test_atoms_of_products_have_pages_and_other_words_have_none() -> None:
    assert "ALayout" in explain("SM80_16x8x16_F32F16F16F32_TN").markdown
    assert atom_page("ldmatrix") == ""
    with pytest.raises(UnsupportedForm, match="no atom called"):
        explain("SM75_U32x4_LDSM_X")
    with pytest.raises(UsageError):
        explain("nonsense")


def test_the_command_line_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "SM75_U32x1_LDSM_T"]) == 0
    assert "`SM75_U16x2_LDSM_T` does that job." in capsys.readouterr().out
