"""The PTX that a cubin carries if it was compiled with line information."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxloom as pl
from ptxloom.cuda_driver.images import ptx_for
from ptxloom.files.cubins import ptx_of
from ptxloom.files.fatbins import ptx_in
from ptxloom.isa import Target
from unit.files.fatbin_writer import cubin, entry, fatbin, ptx

TEXT = b"\n\n.version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry add() { ret; }\n"


def test_lines_keep_their_numbers() -> None:
    assert ptx_of(cubin(TEXT)) == ("sm_90a", TEXT)


def test_a_section_of_relocatable_code_has_a_number() -> None:
    assert ptx_of(cubin(TEXT, section=b".nv_debug_ptx_txt.4033839534")) == ("sm_90a", TEXT)


def test_it_is_read_wherever_ptx_is(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cubin"
    path.write_bytes(cubin(TEXT))
    module = pl.load(path)
    assert [function.name for function in module.functions.values()] == ["add"]
    assert module.source.name == f"{path}:1.sm_90a.ptx"


def test_in_a_fatbin_ptx_comes_first() -> None:
    machine_code = entry(cubin(TEXT), arch=90, kind=2)
    assert ptx_in(fatbin(machine_code), "x") == (("sm_90a", TEXT),)
    assert ptx_in(fatbin(machine_code, entry(ptx(80))), "x") == (("sm_80", ptx(80)),)


def test_a_device_takes_what_was_made_for_it() -> None:
    assert ptx_for(cubin(TEXT), "x", 90) == [(Target(90, "a"), TEXT)]
    assert ptx_for(cubin(TEXT), "x", 80) == []
    assert ptx_for(cubin(TEXT), "x", 100) == []  # sm_90a runs on nothing else


@pytest.mark.parametrize(
    "other",
    [
        cubin(TEXT, machine=62),
        cubin(TEXT, section=b".nv_debug_ptx_other"),
        cubin(TEXT + TEXT),
        cubin(b".version 8.0\n"),
        b"",
    ],
    ids=["of another machine", "without the section", "of two modules", "without a target", "empty"],
)
def test_what_carries_none(other: bytes) -> None:
    assert ptx_of(other) is None


@given(at=st.integers(0, 10_000), noise=st.binary(min_size=1, max_size=8), cut=st.integers(0, 300))
def test_no_damage_is_too_much(at: int, noise: bytes, cut: int) -> None:
    whole = cubin(TEXT)
    at %= len(whole)
    damaged = (whole[:at] + noise + whole[at + len(noise) :])[: len(whole) - cut]
    found = ptx_of(damaged)
    assert found is None or b".target" in found[1]
