"""The table of what recordings confirm is what they confirm (`--update` writes it), and runs go by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom import confirmed
from ptxloom.cli import main
from ptxloom.diagnostics import UsageError
from ptxloom.fragments import fragment
from ptxloom.views.fragments.prefaces import evidence
from recorded import confirmed_forms

TABLE: Final = Path(confirmed.__file__).with_name("confirmed.txt")
WORDS: Final[list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "published" / "b200_words.json").read_text(encoding="utf-8")
)["words"]
MMA: Final = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_the_table_is_what_the_recordings_hold(request: pytest.FixtureRequest) -> None:
    made = confirmed_forms.text()
    if request.config.getoption("--update"):
        TABLE.write_text(made, encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == made


@pytest.mark.parametrize(
    ("spelled", "level"),
    [
        ("add.u32", "bits"),
        (MMA, "bits"),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "bits"),
        ("bar.sync", "kernels"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "documents"),
    ],
)
def test_what_an_instruction_rests_on(spelled: str, level: str) -> None:
    assert confirmed.level_of(spelled) == level


def test_sums_of_tensor_cores_are_those_of_one_architecture() -> None:
    assert confirmed.level_of(MMA, is_recorded_target=False) == "documents"
    assert confirmed.level_of("add.u32", is_recorded_target=False) == "bits"


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word["name"])
def test_sums_of_which_words_are_published_say_so(word: dict[str, str]) -> None:
    scaled = f".block_scale.scale_vec::{word['scale_vector']}" if word["scale_vector"] else ""
    dense = f"tcgen05.mma.cta_group::1.kind::{word['kind']}{scaled}"
    assert confirmed.level_of(dense) == "published"
    for other in (dense.replace("::1", "::2", 1), dense.replace("mma", "mma.sp"), dense.replace("mma", "mma.ws")):
        assert confirmed.level_of(other) == "documents"
    assert "published for a B200" in evidence(fragment(dense, "d"))
    assert "published" not in evidence(fragment(dense, "a"))


def test_a_run_tells_what_it_rests_on() -> None:
    text = """
    .version 8.0 .target sm_90 .address_size 64
    .entry k(.param .u64 x) {
        .reg .u32 %a; .reg .pred %p; .shared .b32 s[32];
        mov.u32 %a, %tid.x; setp.lt.u32 %p, %a, 99; @%p add.u32 %a, %a, 1; bar.sync 0;
        @!%p st.volatile.shared.v4.b32 [s], {%a, %a, %a, %a}; ret;
    }
    """
    kernel = pl.kernel(pl.parse(text), "k")
    args = [np.zeros(1, np.uint64)]
    found = kernel.launch(1, 64, args, profile=True).fidelity
    levels = {row.instruction: (row.level, row.executions) for row in found.rows}
    assert levels["add.u32"] == ("bits", 2)
    assert levels["bar.sync"] == ("kernels", 2)
    assert levels["st.volatile.shared.v4.b32"][0] == "documents"
    assert sum(found.executions(level) for level in confirmed.LEVELS) == sum(row.executions for row in found.rows)
    assert "not recorded: " in str(found)
    assert "st.volatile.shared.v4.b32" in str(found).splitlines()[2]
    with pytest.raises(UsageError, match="launch with `profile=True`"):
        _ = kernel.launch(1, 64, args).fidelity


def test_the_command_tells_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    launch = str(Path(__file__).parents[2] / "examples" / "hgemm.toml")
    assert main(["run", launch, "--fidelity"]) == 0
    said = capsys.readouterr().out
    assert "\nbits       " in said
    assert "on an H200" in said
    assert main(["run", launch, "--fidelity", "--output-format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["fidelity"]
    assert {row["level"] for row in rows} <= set(confirmed.LEVELS)
    assert any(row["instruction"] == "bar.sync" and row["level"] == "kernels" for row in rows)
