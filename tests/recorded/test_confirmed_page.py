"""The page of what is confirmed is made from recordings (`--update` writes it); `--verify` says what would change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from ptxloom.cli import main
from ptxloom.confirmed import BITS
from ptxloom.conformance import Verdict, Verified, evidence
from ptxloom.conformance.evidence import TENSOR_CORES, changes, standing
from ptxloom.isa import opcodes
from recorded import confirmed_page
from recorded.conformance.conformance_cases import recorded

if TYPE_CHECKING:
    from ptxloom.conformance import Report

ASKED: Final = Path(evidence.__file__).with_name("recorded.json")
LOAD: Final = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"
PRODUCT: Final = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_what_gpus_were_asked_is_what_their_reports_say(request: pytest.FixtureRequest) -> None:
    made = confirmed_page.asked_data()
    if request.config.getoption("--update"):
        ASKED.write_text(made, encoding="utf-8")
    assert ASKED.read_text(encoding="utf-8") == made


def test_the_page_is_made_from_the_recordings(request: pytest.FixtureRequest) -> None:
    page = confirmed_page.PAGE.read_text(encoding="utf-8")
    made = confirmed_page.with_parts(page)
    if request.config.getoption("--update"):
        confirmed_page.PAGE.write_text(made, encoding="utf-8")
    assert page == made or request.config.getoption("--update")
    assert TENSOR_CORES in made


def test_every_instruction_and_matrix_move_has_a_row() -> None:
    page = confirmed_page.PAGE.read_text(encoding="utf-8")
    assert all(f"\n| `{opcode}` | " in page for opcode in opcodes())
    moves = [line for line in confirmed_page.moves().splitlines() if line.startswith("| `")]
    assert len(moves) == 31
    assert sum("recorded on an H200" in line for line in moves) == 16
    assert "| `ldmatrix.m8n16.x2.s8.s4` | recorded on an H200 | sm_" in "\n".join(moves)


def test_a_row_counts_every_form() -> None:
    old, new = standing("ldmatrix"), standing("ldmatrix", {LOAD})
    assert old.levels.total() == new.levels.total() == 63
    assert new.levels[BITS] == old.levels[BITS] + 1


def said(report: Report, *, new: tuple[str, ...] = (), unequal: tuple[str, ...] = ()) -> str:
    return "\n".join(changes(Verified(report, unequal, (), (), new)))


def test_what_the_page_says_already_is_no_change() -> None:
    assert not said(recorded())
    assert not said(replace(recorded(), verdicts=recorded().verdicts[:9]))
    assert not said(replace(recorded(), level=0, device="NVIDIA B200"))
    assert not said(replace(recorded(), judge="here", device="ptxloom"))


def test_another_gpu_is_another_sentence() -> None:
    b200 = replace(recorded(), device="NVIDIA B200", target="sm_100a", driver="13.1")
    text = said(b200, new=(LOAD, PRODUCT), unequal=("add.f32",))
    assert (
        "'NVIDIA B200 (sm_100a, driver 13.1): 7,970 forms of instructions, 1,024 drawn cases each, 1 differs'" in text
    )
    assert f"the sentence '{TENSOR_CORES}': 1 form of products recorded on sm_100a too" in text
    assert "the row of `ldmatrix`: 22 of 63 forms recorded by themselves, not 21" in text
    assert "the row of `mma`" not in text


def test_more_of_a_known_gpu_changes_its_sentence() -> None:
    more = replace(recorded(), driver="13.1", verdicts=(*recorded().verdicts, Verdict("more", 1024, digest="0")))
    assert "7,970 forms of instructions, 1,024 drawn cases each, none differ', to 'NVIDIA H200" in said(more)
    assert "driver 13.1): 7,971 forms" in said(more)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"judge": "here"}, "it confirms nothing: it is not a GPU's, but that of `--judge here`"),
        ({}, "confirms nothing that is not in docs/confirmed.md already"),
        (
            {"device": "NVIDIA H100"},
            "would change docs/confirmed.md:\n  a sentence that is not there: 'NVIDIA H100 (sm_90a, ",
        ),
    ],
)
def test_verify_says_which_sentence(
    changed: dict[str, str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gpu.json"
    rows = tuple(one for one in recorded().verdicts if one.path == "add.u32")
    file.write_text(replace(recorded(), verdicts=rows, **changed).text())
    assert main(["conform", "--verify", str(file), "--jobs", "1"]) == 0
    assert expected in capsys.readouterr().out
