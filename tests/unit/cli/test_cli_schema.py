"""Every JSON output has a schema, and keeps to it; what the schema does not know, no verb may print."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest

from ptxloom.cli.command_line import VERBS, build_parser
from ptxloom.cli.json_schemas import NAMES, OUTPUTS

if TYPE_CHECKING:
    from argparse import ArgumentParser

Run = Callable[..., Any]
ROOT = Path(__file__).parents[3]
MMA = "m16n8k16.row.col.f32.f16.f16.f32"
FP4 = "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"
COMMANDS = (
    "inspect examples/hgemm.ptx examples/broken/missing_trans.ptx",
    "inspect examples/transpose.ptx --profile examples/transpose.toml --source",
    "check examples/broken/missing_trans.ptx examples/vector_add.ptx",
    "check examples/fp4.ptx --target sm_120",
    "parse examples/broken/missing_trans.ptx --tree",
    "query ldmatrix.*.trans examples/hgemm.ptx",
    "query ld.* examples/hgemm.ptx --count",
    "graph examples/hgemm.ptx",
    "diff tests/kernels/ptx/triton_matmul-sm_80.ptx tests/kernels/ptx/triton_matmul-sm_90.ptx --all",
    "diff examples/hgemm.ptx examples/reduce.ptx",
    "map ldmatrix.m8n8.x4.trans.b16",
    f"map mma.{MMA} --operand a",
    "where ldmatrix.m8n8.x4.b16 --matrix 2 --row 5",
    f"where mma.{MMA} --operand c --row 3 --column 2",
    "banks ldmatrix.m8n8.x4.b16 --pitch 128",
    "banks ld.shared.v4.b32 --stride 16",
    "swizzle 64x64 f16 cp.async ldmatrix.x4.trans",
    "swizzle 128x128 bf16 tma ldmatrix.x4",
    "swizzle 16x32 f16 ld.shared.b16@column",
    "atom SM75_U16x8_LDSM_T",
    "atom tcgen05.ld.sync.aligned.32x32b.x4.b32",
    "atom SM80_16x8x16_F32F16F16F32_TN",
    f"atom --mma {MMA} --blas TN",
    f"atom --mma {FP4} --operand a --major k --target sm_120a",
    f"atom --mma {FP4} --operand a --major m --target sm_90",
    "descriptor 0x4000000100400040",
    "descriptor --tile 128x64 --type bf16 --major mn --swizzle 64B",
    "descriptor 0x08100010 --kind f16",
    "tensormap --data-type FLOAT16 --global-dim 60,30 --global-strides 128 --box-dim 64,8 --coordinate 16,26",
    "run examples/hgemm.toml --fidelity --profile --trace mma --trace-limit 1 --trace-type f16",
    "run examples/broken/missing_barrier.toml --checks all",
    "run examples/tutorial/wrong.toml --provenance --trace st.* --trace-limit 1",
    "shared examples/tutorial/right.toml --at ldmatrix --values --type f16",
    "why examples/tutorial/wrong.toml --try",
    "why examples/tutorial/right.toml",
    "sweep examples/hgemm.toml --over A.seed=1,2 --over shared_bytes=0 --jobs 1",
    "judge examples/saxpy.ptx --against examples/saxpy.py --seeds 1",
    "judge examples/vector_add.ptx examples/saxpy.ptx --against examples/saxpy.py --seeds 1 --jobs 1",
    "doctor",
)


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_verb_prints_keeps_to_its_schema(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(ROOT)
    verb, *words = shlex.split(command)
    printed = run(verb, *words, "--output-format", "json")
    assert printed.code in {0, 1}, printed.err
    jsonschema.validate(json.loads(printed.out), json.loads(run("schema", verb).out))


def test_every_verb_that_prints_json_has_a_schema_and_is_tried() -> None:
    (verbs,) = (action.choices for action in build_parser()._actions if action.dest == "verb")
    parsers = cast("dict[str, ArgumentParser]", verbs)
    formats = {verb: [a.choices for a in parsers[verb]._actions if a.dest == "output_format"] for verb in VERBS}
    jsonic = {verb for verb, found in formats.items() if found and "json" in (found[0] or ())}
    assert jsonic == {*OUTPUTS} == {command.partition(" ")[0] for command in COMMANDS}


def test_a_module_that_says_little_keeps_to_the_schemas(run: Run, tmp_path: Path) -> None:
    bare = tmp_path / "bare.ptx"
    bare.write_text(".func nothing() { }\n")
    for verb in ("inspect", "parse", "graph"):
        printed = json.loads(run(verb, str(bare), "--output-format", "json").out)
        jsonschema.validate(printed, json.loads(run("schema", verb).out))
    printed = json.loads(run("diff", str(bare), "examples/hgemm.ptx", "--output-format", "json").out)
    jsonschema.validate(printed, json.loads(run("schema", "diff").out))


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(run: Run, name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(run("schema", name).out))


def test_the_names_are_listed_and_others_are_refused(run: Run) -> None:
    assert run("schema").out.split() == [*NAMES]
    assert "such as check" in run("schema", "chek").err
    assert run("schema", "nothing").code == 2
