"""The first place of every report is in the file that the user wrote; behind it stands the PTX."""

from __future__ import annotations

import json
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.files import compilers, toolkits

if TYPE_CHECKING:
    from pathlib import Path

TEMPORARY = gettempdir()
RACY = """#include "tile.h"
extern "C" __global__ void swap(float* out, const float* in) {
  __shared__ float tile[64];
  tile[threadIdx.x] = twice(in[threadIdx.x]);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // no barrier
}
"""
TILE = "__device__ inline float twice(float x) { return 2 * x; }\n"
WORDS = ("--block", "64", "--arg", "out=zeros:f32:64", "--arg", "in=zeros:f32:64", "--checks", "racecheck")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "racy.cu").write_text(RACY, encoding="utf-8")
    (tmp_path / "src" / "tile.h").write_text(TILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["nvcc", "nvrtc"])
def cuda(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    other, found = ("nvrtc", toolkits.find_nvcc()) if request.param == "nvcc" else ("nvcc", toolkits.find_nvrtc())
    if found is None:
        pytest.skip(f"{request.param} is absent: pip install 'ptxloom[cuda]'")
    monkeypatch.setattr(compilers, f"find_{other}", lambda: None)
    return request.param


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main([*words])
    return capsys.readouterr().out


def racy(capsys: pytest.CaptureFixture[str], output_format: str, file: str = "src/racy.cu") -> str:
    return printed(capsys, "run", file, "--kernel", "swap", *WORDS, "--output-format", output_format)


@pytest.mark.usefixtures("folder", "cuda")
def test_every_format_names_the_line_of_the_file_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    told = {how: racy(capsys, how) for how in ("full", "concise", "json", "sarif", "github")}
    assert not [how for how, text in told.items() if TEMPORARY in text or "%3A" in text]
    result: Any = json.loads(told["sarif"])["runs"][0]["results"][0]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "src/racy.cu", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 5, "startColumn": 3, "endLine": 5, "endColumn": 44}
    assert [one["physicalLocation"]["region"]["startLine"] for one in result["relatedLocations"]] == [4]
    hazard = json.loads(told["json"])["hazards"][0]
    assert (hazard["file"], hazard["line"], hazard["ptx"]["file"]) == ("src/racy.cu", 5, "src/racy.cu:ptx")
    assert told["concise"].startswith("src/racy.cu:5:3: error: ")
    assert ",file=src/racy.cu,line=5,col=3,endLine=5,endColumn=44::" in told["github"]
    lines = told["full"].split("\n")
    at = lines.index("  --> src/racy.cu:5:3")
    assert lines[at + 2] == " 4 |   tile[threadIdx.x] = twice(in[threadIdx.x]);"
    assert lines[at + 5].startswith("   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ lane ")
    assert any(line.startswith("  ::: src/racy.cu:ptx:") for line in lines)


@pytest.mark.usefixtures("folder", "cuda")
def test_the_same_input_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ["inspect", "src/racy.cu", "--output-format", "json"]
    assert printed(capsys, *shown) == printed(capsys, *shown)
    assert racy(capsys, "sarif") == racy(capsys, "sarif")


@pytest.mark.usefixtures("folder")
def test_profile_and_trace_name_the_source_first(capsys: pytest.CaptureFixture[str], cuda: str) -> None:
    told = printed(capsys, "run", "src/racy.cu", "--kernel", "swap", *WORDS, "--profile", "--trace", "racy.cu:5")
    head, *rows = [line for line in told.split("\n") if line.split()[:2] in (["cost", "source"], ["8.0", "%"])]
    assert (cuda, head.split()[:2]) == (cuda, ["cost", "source"])
    assert any("src/racy.cu:5" in row for row in rows)
    assert "\nsrc/racy.cu:5: " in told
    assert TEMPORARY not in told


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry swap(.param .u64 out) {
  .reg .b32 %r<3>;
  .shared .b32 tile[64];
  .loc 1 4 3
  mov.u32 %r1, %tid.x;
  st.shared.u32 [tile], %r1;
  .loc 1 5 0
  ld.shared.u32 %r2, [tile];
  ret;
}
.file 1 "FILE"
"""


@pytest.mark.parametrize("file", ["/home/somebody/project/src/racy.cu", "racy.cu", "C:\\project\\src\\racy.cu"])
def test_ptx_with_line_tables_finds_its_source(file: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.ptx").write_text(PTX.replace("FILE", file), encoding="utf-8")
    words = ("--block", "64", "--arg", "out=zeros:f32:64", "--checks", "racecheck", "--output-format")
    assert main(["run", "k.ptx", "--kernel", "swap", *words, "sarif"]) == 1
    place = json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    name = "src/racy.cu" if "src" in file else "racy.cu"
    assert place["artifactLocation"]["uri"].endswith(name)
    assert place["region"]["startLine"] in {4, 5}


def test_only_texts_of_programs_are_quoted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".env").write_text("\n" * 3 + "SECRET\n" * 2, encoding="utf-8")
    (folder / "k.ptx").write_text(PTX.replace("FILE", ".env"), encoding="utf-8")
    assert main(["run", "k.ptx", "--kernel", "swap", "--block", "64", *WORDS[2:4], *WORDS[6:]]) == 1
    said = capsys.readouterr().out
    assert "--> .env:" in said
    assert "SECRET" not in said


def test_findings_of_check_stand_in_the_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PTX.replace("FILE", "src/racy.cu").replace("ld.shared.u32 %r2", "ld.shared.u32 %rd2")
    (folder / "k.ptx").write_text(text, encoding="utf-8")
    for _ in range(2):  # made, and kept
        assert main(["check", "k.ptx", "--output-format", "concise"]) == 1
        assert capsys.readouterr().out.startswith("src/racy.cu:5:3: error: ")
    assert main(["check", "k.ptx"]) == 1
    shown = capsys.readouterr().out
    assert "  --> src/racy.cu:5:3\n" in shown
    assert "  ::: k.ptx:11:" in shown


@pytest.mark.usefixtures("cuda")
def test_the_ptx_is_kept_where_somebody_wants_it_and_says_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "src/racy.cu", "--kernel", "swap", *WORDS, "--output-format", "concise")
    told = printed(capsys, *words, "--keep-ptx", "kept")
    assert [str(one.relative_to(folder)) for one in (folder / "kept").rglob("*.*")] == ["kept/src/racy.ptx"]
    assert told == printed(capsys, "run", "kept/src/racy.ptx", *words[2:])
    assert main(["check", str(folder / "src" / "racy.cu"), "-q", "--keep-ptx", "flat"]) in {0, 1}
    assert (folder / "flat" / "racy.ptx").is_file()
    (folder / "file").write_text("")
    assert main(["check", "src/racy.cu", "--keep-ptx", "file"]) == 2
    assert "the PTX cannot be kept" in capsys.readouterr().err


def test_a_link_in_a_folder_of_kept_ptx_leads_nowhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if toolkits.find_nvcc() is None and toolkits.find_nvrtc() is None:
        pytest.skip("no compiler of CUDA C++ is installed")
    (folder / "kept").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "kept" / "src").symlink_to(folder / "elsewhere")
    assert main(["inspect", "src/racy.cu", "--keep-ptx", "kept"]) == 2
    assert "leads out of kept" in capsys.readouterr().err
    assert not list((folder / "elsewhere").iterdir())


LEGAL = """.version 9.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>; .shared .b32 tile[64];
  .loc 1 2 3
  mov.u32 %r1, %nowhere;
  st.shared.u32 [tile+256], %r1;
  ret;
}
"""


def test_a_finding_in_words_begins_with_the_place_in_the_source(folder: Path) -> None:
    (folder / "k.ptx").write_text(LEGAL)
    (folder / "k.cu").write_text("// a kernel\n  tile[64] = nowhere;\n")
    (first, *_) = pl.check(pl.load("k.ptx"))
    assert str(first).startswith("k.cu:2:3: error: ")
    assert str(pl.check(pl.parse(".version 9.0 .target sm_90 .entry k() { nop; }"))[0]).startswith("<string>:1:")
    with pytest.raises(pl.machine.IllegalPtx, match=r"is not legal PTX: k\.cu:2:3: error"):
        pl.kernel(pl.load("k.ptx"))


def test_the_picture_of_a_hazard_shows_the_source_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.ptx").write_text(LEGAL.replace("%nowhere", "%tid.x"))
    (folder / "k.cu").write_text("// a kernel\n  tile[64] = nowhere;\n")
    assert main(["run", "k.ptx", "--arg", "0", "-o", "k.svg"]) == 1
    drawn = (folder / "k.svg").read_text(encoding="utf-8")
    assert 0 < drawn.index("tile[64] = nowhere;") < drawn.index("st.shared.u32 [tile+256]")
    assert capsys.readouterr().err
