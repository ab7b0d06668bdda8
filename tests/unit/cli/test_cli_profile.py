from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from ptxloom.cli import main
from ptxloom.cli.json_schemas import schema
from ptxloom.views.core.json_text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[3] / "examples"
LAUNCH = str(EXAMPLES / "hgemm.toml")
KERNEL = """\
.version 8.3
.target sm_90
.address_size 64
.visible .entry column(.param .u64 p) {
    .shared .align 128 .b8 tile[4096];
    .reg .b32 %t, %a, %v; .reg .b64 %p, %x;
    mov.u32 %t, %tid.x;
    mov.u32 %a, tile;
    mad.lo.u32 %a, %t, 128, %a;
    st.shared.b32 [%a], %t;
    bar.sync 0;
    ld.shared.b32 %v, [%a+4];
    ld.param.u64 %p, [p];
    mul.wide.u32 %x, %t, 4;
    add.u64 %p, %p, %x;
    st.global.b32 [%p], %v;
    ret;
}
"""
TOML = """
ptx = "column.ptx"
kernel = "column"
grid = 1
block = 32
[[args]]
zeros = { shape = [32], dtype = "uint32" }
"""


@pytest.fixture
def column(tmp_path: Path) -> Path:
    (tmp_path / "column.ptx").write_text(KERNEL)
    (tmp_path / "column.toml").write_text(TOML)
    return tmp_path


@pytest.fixture
def ptxloom(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


Call = Any


def test_a_profile_names_the_conflict_and_its_remedy(column: Path, ptxloom: Call) -> None:
    code, out, _ = ptxloom("run", str(column / "column.toml"), "--profile")
    assert code == 0
    (advice,) = (line for line in out.splitlines() if "would do" in line)
    assert advice.startswith("lines 10, 12 on `tile`: 64 wavefronts where 2 would do: ")
    assert "rows padded from 128 to 132 bytes leaves no conflict" in advice
    assert "11 warp instructions, 64 wavefronts of shared memory (62 of them bank conflicts), 4 sectors" in out
    assert "st.shared.b32 [%a], %t;" in out


def test_the_json_keeps_to_its_schema(column: Path, ptxloom: Call) -> None:
    published = schema("profile")
    jsonschema.Draft202012Validator.check_schema(published)
    for launch in (column / "column.toml", LAUNCH):
        code, out, _ = ptxloom("run", str(launch), "--profile", "--output-format", "json")
        profile = json.loads(out)["profile"]
        jsonschema.validate(profile, published)
        assert code == 0
        assert profile["totals"]["executions"] == sum(i["executions"] for i in profile["instructions"])
    code, out, _ = ptxloom("run", str(column / "column.toml"), "--profile", "--output-format", "json")
    assert json.loads(out)["profile"]["remedies"][0]["changes"][0]["conflicts_left"] == 0


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--profile-schema"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == to_text(schema("profile"))


def test_inspect_shows_the_heat_of_each_line(column: Path, ptxloom: Call) -> None:
    code, out, _ = ptxloom("inspect", str(column / "column.ptx"), "--profile", str(column / "column.toml"))
    assert code == 0
    hot = {int(line.split("|")[0].split()[-1]): line for line in out.splitlines() if " | " in line}
    assert list(hot) == list(range(4, 19))
    assert "%" not in hot[5]
    assert "43.4 %" in hot[10]
    assert "█" in hot[10]
    assert "32          31" in hot[12]
    code, out, _ = ptxloom("inspect", str(EXAMPLES / "hgemm.ptx"), "--profile", LAUNCH)
    head = next(line for line in out.splitlines() if "instruction" in line and "verdict" in line)
    assert head.split()[:6] == ["source", "PTX", "line", "cost", "wavefronts", "conflicts"]
    assert code == 0


def test_inspect_puts_the_profile_into_json(column: Path, ptxloom: Call) -> None:
    arguments = ("inspect", str(column / "column.ptx"), "--profile", str(column / "column.toml"))
    _, out, _ = ptxloom(*arguments, "--output-format", "json")
    jsonschema.validate(json.loads(out)[0]["profile"], schema("profile"))


def test_inspect_refuses_another_file(column: Path, ptxloom: Call) -> None:
    code, _, said = ptxloom("inspect", str(column / "column.ptx"), "--profile", LAUNCH)
    assert code == 2
    assert "which is not among the files that are shown" in said


def test_a_trace_is_printed_typed(ptxloom: Call) -> None:
    trace = ("--trace", "372", "--trace-warps", "0", "--trace-limit", "1", "--trace-type", "f16")
    code, out, _ = ptxloom("run", LAUNCH, *trace)
    assert code == 0
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16, as f16" in out
    assert out.count("matrix ") == 4
    _, text, _ = ptxloom("run", LAUNCH, *trace, "--output-format", "json")
    (record,) = json.loads(text)["trace"]
    assert record["warp"] == 0
    assert len(record["addresses"]) == 32
    assert len(record["matrices"][0]["values"]) == 4
    assert len(record["after"]) == 4


def test_a_type_is_for_the_operand_named_or_those_as_wide(ptxloom: Call) -> None:
    trace = ("--trace", "mma", "--trace-limit", "1", "--trace-warps", "0")
    _, out, _ = ptxloom("run", LAUNCH, *trace, "--trace-type", "bf16")
    assert "operand a, as bf16" in out
    assert "operand d, as f32" in out
    _, out, _ = ptxloom("run", LAUNCH, *trace, "--trace-type", "b8", "--trace-operand", "a")
    assert "operand a, as b8" in out
    assert "operand d" not in out
    assert " 0x3c " in out


def test_registers_that_hold_no_matrix_are_typed_too(ptxloom: Call) -> None:
    trace = ("--trace", "st.global.*", "--trace-limit", "1", "--trace-warps", "0")
    _, plain, _ = ptxloom("run", LAUNCH, *trace)
    _, typed, _ = ptxloom("run", LAUNCH, *trace, "--trace-type", "f32")
    assert "C+0x8" in plain
    lane = next(line for line in typed.splitlines() if line.startswith("T1 ")).split()
    bits = next(line for line in plain.splitlines() if line.startswith("T1 ")).split()
    assert lane[:2] == bits[:2]
    assert float(lane[3]) == pytest.approx(float(np.uint32(int(bits[3], 16)).view(np.float32)), 1e-3)
    _, wide, _ = ptxloom("run", LAUNCH, *trace, "--trace-type", "f64")
    assert f" {bits[3]} " in f"{wide} ".replace("\n", " ")
    code, _, said = ptxloom("run", LAUNCH, *trace, "--trace-type", "q3")
    assert (code, "type is 'q3'" in said) == (2, True)


def test_text_ends_before_it_is_too_long(ptxloom: Call) -> None:
    _, out, _ = ptxloom("run", LAUNCH, "--trace", "mma", "--trace-blocks", "all")
    assert out.count("line ") == 32
    assert "records: --output-format json holds all" in out


def test_lanes_and_a_condition_choose(ptxloom: Call) -> None:
    trace = ("--trace", "st.global.*", "--trace-warps", "1", "--lanes", "0-2,16", "--when", "%tid.x != 33")
    _, out, _ = ptxloom("run", LAUNCH, *trace)
    assert "\nT0  " in out
    assert "\nT16 " in out
    assert "\nT1  " not in out
    assert "\nT3  " not in out
    _, out, _ = ptxloom("run", LAUNCH, "--trace", "st.global.*", "--when", "warp > 7")
    assert "nothing was recorded: the warps and lanes chosen did not run it" in out


def test_a_trace_survives_the_end_of_its_kernel(column: Path, ptxloom: Call) -> None:
    ptx = column / "column.ptx"
    ptx.write_text(
        KERNEL.replace("[%p], %v", "[%p+4], %v").replace("mul.wide", "ld.global.b32 %v, [%p];\n    mul.wide")
    )
    code, out, _ = ptxloom("run", str(column / "column.toml"), "--trace", "st.global", "--trace", "ld.global")
    assert code == 1
    assert "memcheck" in out
    load, store = out.split("\nline ")[-2:]
    assert "ld.global.b32" in load
    assert "%v after" in load
    assert "st.global.b32" in store
    assert "%v" in store


def test_a_trace_is_drawn(tmp_path: Path, ptxloom: Call) -> None:
    picture = tmp_path / "x.svg"
    trace = ("--trace", "mma", "--trace-limit", "1", "--trace-operand", "a", "--trace-blocks", "1,1")
    code, out, said = ptxloom("run", LAUNCH, *trace, "-o", str(picture))
    assert (code, out) == (0, "")
    assert "the first of" in said
    assert "operand a, as f16" in picture.read_text()
    assert ptxloom("run", LAUNCH, *trace, "--output-format", "svg")[1] == picture.read_text()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--trace", "wgmma"), "some instruction of the kernel matches"),
        (("--output-format", "svg"), "give `--trace` or `--profile`"),
        (("--trace", "mma", "--trace-warps", "9"), "warps from 0 to 3"),
        (("--trace", "mma", "--trace-blocks", "x"), "whole numbers"),
        (("--trace", "mma", "--lanes", "3-x"), "--lanes is '3-x'"),
        (("--trace", "mma", "--lanes", "0-99999999999"), "lanes from 0 to 31"),
        (("--trace", "mma", "--lanes", "5-3"), "lanes from 0 to 31"),
        (("--trace", "mma", "--when", "%r1 >"), "--when is '%r1 >'"),
        (("--lanes", "3"), "`--lanes` goes with `--trace`"),
        (("--trace", "ldmatrix", "--trace-type", "q3"), "type is 'q3'"),
        (("--trace", "mma", "--trace-type", "q3"), "type is 'q3'"),
        (
            ("--trace", "mma", "--trace-type", "s8"),
            "as wide as the elements of an operand (d f32, a f16, b f16, c f32)",
        ),
        (("--trace", "mma", "--trace-operand", "e"), "operand is 'e'; it must be d, a, b, c"),
    ],
)
def test_what_cannot_be_traced(arguments: tuple[str, ...], sentence: str, ptxloom: Call) -> None:
    code, _, said = ptxloom("run", LAUNCH, *arguments)
    assert code == 2
    assert sentence in said
