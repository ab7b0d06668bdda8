"""`ptxloom shared`: the picture that was asked for, and a sentence for whatever cannot be drawn."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

LAUNCH = str(Path(__file__).parents[3] / "examples" / "hgemm.toml")


def test_each_cell_is_an_element_of_an_array_by_the_name_of_the_launch_file(run: Run) -> None:
    ran = run("shared", LAUNCH, "--at", "ldmatrix", "--array", "B", "--rows", "2")
    assert ran.code == 0
    head, legend, banks, first, second, more = ran.out.splitlines()
    assert head.startswith("shared memory (B) of hgemm, CTA (0, 0, 0), before line 372: ldmatrix")
    assert legend.startswith("elements of B by index")
    assert banks.split()[:2] == ["address", "banks"]
    assert first.split() == ["0x01000", *(f"0,{n}-{n + 7}" for n in range(0, 64, 8))]
    assert second.split()[1:3] == ["1,8-15", "1,0-7"]
    assert more.endswith("lines more: --rows and --offset choose")


def test_another_cta_and_what_the_bytes_hold(run: Run) -> None:
    ran = run("shared", LAUNCH, "--at", "372", "--cta", "1,2", "--values", "--output-format", "json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["cta"], found["type"]) == ([1, 2, 0], "f16")
    words = [word for word in found["words"] if word["array"] == "A"]
    assert words[0]["first"] == [128, 0]
    assert len(words[0]["values"]) == 2


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_the_name_of_the_file_chooses_the_picture(run: Run, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"shared.{suffix}"
    ran = run("shared", LAUNCH, "--rows", "2", "-o", str(path))
    assert (ran.code, ran.out) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert ("<!doctype html>" in text) is (suffix == "html")
    assert "at the end" in text
    if suffix == "svg":
        ET.fromstring(text)  # noqa: S314 - our own text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--at", "wgmma"), "some instruction of the kernel matches"),
        (("--at", "99999"), "some instruction of the kernel matches"),
        (("--array", "Q"), "--array is 'Q'"),
        (("--cta", "7,7"), "within the grid"),
        (("--cta", "x"), "--cta is 'x'"),
        (("--type", "f99"), "type"),
        (("--type", "f16x2"), "a type of one number of 8 to 64 bits"),
        (("--offset", "-1"), "--offset"),
        (("--rows", "0"), "--rows is 0"),
    ],
)
def test_what_cannot_be_drawn(run: Run, options: tuple[str, ...], sentence: str) -> None:
    ran = run("shared", LAUNCH, *options)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


@pytest.mark.parametrize("options", [(), ("--offset", "0"), ("--output-format", "json")])
def test_a_kernel_without_shared_memory_says_so(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    (tmp_path / "k.ptx").write_text(f"{head}.entry k(.param .u64 p) {{ ret; }}\n", encoding="utf-8")
    launch = tmp_path / "k.toml"
    launch.write_text(
        'ptx = "k.ptx"\nkernel = "k"\n[[args]]\nzeros = { shape = [4], dtype = "int32" }\n', encoding="utf-8"
    )
    ran = run("shared", str(launch), *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "ptxloom: `k` has no shared memory; set `shared_bytes` in the launch file\n"
