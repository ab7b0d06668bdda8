"""Views as command lines: what `ptxloom` prints is what a golden file of this name holds."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from pathlib import Path
from typing import Final
from unittest import mock

from ptxloom.cli import main

ROOT: Final = Path(__file__).parents[2]
_MMA: Final = "m16n8k16.row.col.f32.f16.f16.f32"
_LOAD: Final = "ldmatrix.m8n8.x4.b16"
_WIDE: Final = "ldmatrix.m16n16.x1.trans.b8"
_BOX: Final = "tensormap --data-type FLOAT16 --global-dim 8,8 --box-dim 8,2 --coordinate 0,7"
_WRONG: Final = "check --target sm_70 examples/broken/missing_trans.ptx examples/tutorial/tile.ptx"
_SWEEP: Final = "sweep examples/tutorial/right.toml --over seed=0,7 --jobs 1"
_JUDGE: Final = "judge examples/saxpy.ptx --against examples/saxpy.py --seeds 1 --jobs 1"

COMMANDS: Final = {
    "check_concise.txt": f"{_WRONG} --output-format concise",
    "check_statistics.txt": f"{_WRONG} --statistics",
    "check_statistics.json": f"{_WRONG} --statistics --output-format json",
    "check_gitlab.json": f"{_WRONG} --output-format gitlab",
    "check_junit.xml": f"{_WRONG} --output-format junit",
    "check_folded.txt": "check --target sm_70 examples/tutorial/tile.ptx",
    "atom.txt": "atom SM75_U16x8_LDSM_T",
    "atom.concise": "atom SM75_U16x8_LDSM_T --output-format concise",
    "atom.json": "atom SM75_U16x8_LDSM_T --output-format json",
    "atoms.txt": "atom",
    "atoms.json": "atom --output-format json",
    "atom_product.txt": "atom SM80_16x8x16_F32F16F16F32_TN",
    "advice.txt": f"atom --mma {_MMA} --operand b --major n",
    "advice.concise": f"atom --mma {_MMA} --operand b --major n --output-format concise",
    "advice.json": f"atom --mma {_MMA} --operand b --major n --output-format json",
    "advice_tile.txt": f"atom --mma {_MMA} --operand a --major k --tile 64x64 --pitch 128",
    "explain_atom.md": "explain SM75_U16x8_LDSM_T",
    "explain_no_atom.md": "explain SM75_U32x1_LDSM_T",
    "explain_rule.md": "explain missing-trans",
    "explain_movmatrix.md": "explain movmatrix",
    "swizzle.txt": "swizzle 64x64 f16 cp.async ldmatrix.x4.trans",
    "swizzle.concise": "swizzle 64x64 f16 cp.async ldmatrix.x4.trans --output-format concise",
    "swizzle.json": "swizzle 16x64 f16 ldmatrix.x4 --output-format json",
    "swizzle_tma_boxes.txt": "swizzle 128x128 bf16 ldmatrix.x4",
    "banks.concise": f"banks {_LOAD} --pitch 128 --output-format concise",
    "banks.json": "banks ldmatrix.m8n8.x1.b16 --pitch 128 --output-format json",
    "map_x4.concise": f"map {_LOAD} --output-format concise",
    "map_x1.csv": "map ldmatrix.m8n8.x1.b16 --output-format csv",
    "map_x1.json": "map ldmatrix.m8n8.x1.b16 --output-format json",
    "where_lane.concise": f"where {_LOAD} --lane 5 --output-format concise",
    "where_lane.json": f"where {_LOAD} --lane 5 --output-format json",
    "where_lane.md": f"where {_WIDE} --lane 5 --output-format markdown",
    "where_row.txt": f"where {_LOAD} --matrix 2 --row 5",
    "where_element.txt": f"where {_LOAD} --matrix 2 --row 5 --column 3",
    "query.txt": "query ldmatrix examples/tutorial",
    "query.concise": "query ldmatrix examples/tutorial --output-format concise",
    "query.csv": "query ldmatrix examples/tutorial/tile.ptx --output-format csv",
    "fmt.ptx": "fmt examples/tutorial/tile.ptx",
    "query.json": "query ldmatrix examples/tutorial/tile.ptx --output-format json",
    "graph.txt": "graph examples/tutorial/tile.ptx",
    "graph.dot": "graph examples/tutorial/tile.ptx --output-format dot",
    "graph.json": "graph examples/tutorial/tile.ptx --output-format json",
    "parse.txt": "parse examples/tutorial/tile.ptx",
    "parse.json": "parse examples/vector_add.ptx --output-format json",
    "parse_schema.json": "parse --schema",
    "inspect.concise": "inspect examples/tutorial/tile.ptx --output-format concise",
    "inspect_profile.txt": "inspect examples/tutorial/slow.ptx --profile examples/tutorial/slow.toml",
    "plan.txt": "debug plan examples/vector_add.ptx",
    "diff.concise": "diff examples/tutorial/slow.ptx examples/tutorial/right.ptx --output-format concise",
    "run.json": "run examples/tutorial/slow.toml --output-format json",
    "run_profile.txt": "run examples/tutorial/slow.toml --profile",
    "run_profile.json": "run examples/tutorial/right.toml --profile --output-format json",
    "run_trace.txt": "run examples/tutorial/slow.toml --trace mma --trace-limit 1",
    "run_trace.json": "run examples/tutorial/slow.toml --trace ldmatrix.*.x2.* --trace-limit 1 --output-format json",
    "run_hazards.txt": "run examples/broken/missing_barrier.toml --checks all",
    "run_hazards.concise": "run examples/broken/missing_barrier.toml --checks all --output-format concise",
    "run_hazards.json": "run examples/broken/missing_barrier.toml --checks all --output-format json",
    "run_hazards.github": "run examples/broken/missing_barrier.toml --checks all --output-format github",
    "why.txt": "why examples/why.toml --try",
    "why.concise": "why examples/tutorial/wrong.toml --output-format concise",
    "why.json": "why examples/tutorial/wrong.toml --output-format json",
    "descriptor.concise": "descriptor 0x4000000100400040 --output-format concise",
    "descriptor.json": "descriptor 0x4000004000010040 --tile 8x16 --output-format json",
    "descriptor_tile.concise": "descriptor --tile 128x64 --type bf16 --major mn --output-format concise",
    "descriptor_tile.json": "descriptor --tile 64x64 --type bf16 --output-format json",
    "instruction_descriptor.concise": "descriptor 0x28a00050 --kind f16 --output-format concise",
    "instruction_descriptor.json": "descriptor tcgen05.mma.m128n256.bf16 --with transpose_b --output-format json",
    "instruction_descriptor.txt": "descriptor tcgen05.mma.e4m3.ue8m0 --with a_scale=2",
    "atom_tensor_copy.txt": "atom SM100_UTCCP_2x64dp128bitlw0213_2cta",
    "atom_tensor_mma.txt": "atom 'SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 96>'",
    "atom_tensor_load.json": "atom SM100_TMEM_LOAD_16dp64b2x_16b --output-format json",
    "map_tensor_d.txt": "map tcgen05.mma.cta_group::2.m128n256 --operand d",
    "map_tensor_metadata.txt": "map tcgen05.mma.sp.m64n32 --operand e",
    "map_tensor_scales.md": "map tcgen05.mma.kind::mxf4.m128n96 --operand sfb --output-format markdown",
    "map_tensor_copy.txt": "map tcgen05.cp.4x256b",
    "where_tensor_scale.txt": "where tcgen05.mma.e4m3.ue8m0 --operand sfa --row 40 --column 0",
    "where_tensor_lane.txt": "where tcgen05.mma.m64n8 --operand d --lane 33",
    "where_tensor_row.txt": "where tcgen05.cp.64x128b.warpx2::02_13 --row 5",
    "tensor_map.concise": f"{_BOX} --output-format concise",
    "tensor_map.json": f"{_BOX} --output-format json",
    "schemas.txt": "schema",
    "schema_check.json": "schema check",
    "schema_profile.json": "schema run",
    "sweep.txt": _SWEEP,
    "sweep.md": f"{_SWEEP} --output-format markdown",
    "sweep.csv": f"{_SWEEP} --output-format csv",
    "sweep.json": f"{_SWEEP} --output-format json",
    "judge.txt": _JUDGE,
    "judge.concise": f"{_JUDGE} --output-format concise",
    "judge.json": f"{_JUDGE} --output-format json",
}
"""By the name of its golden file: the words behind `ptxloom`, in the repository's root."""


def printed(words: str) -> str:
    """What a command line writes to standard output where no variable asks for colours or a width."""
    out = io.StringIO()
    with (
        mock.patch.dict(os.environ),
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        os.environ.pop("FORCE_COLOR", None)
        os.environ.pop("COLUMNS", None)
        assert main(shlex.split(words)) in {0, 1}, words
    return out.getvalue()
