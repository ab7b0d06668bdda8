"""The options of `ptxloom run` that count and record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.arguments.type_names import type_name
from ptxloom.cli.schema_action import PrintSchema

if TYPE_CHECKING:
    from argparse import ArgumentParser

BESIDE_TRACE: Final[dict[str, Any]] = {
    "trace_blocks": "0",
    "trace_warps": "all",
    "trace_first": 0,
    "trace_limit": 4,
    "trace_type": "",
    "trace_operand": "",
    "lanes": "all",
    "when": "",
    "source": False,
    "source_root": None,
}
"""The defaults of the options that belong to `--trace`."""


def declare(parser: ArgumentParser) -> None:
    """Add them."""
    parser.add_argument("--profile", action="store_true", help="count what each instruction and source line costs")
    parser.add_argument(
        "--fidelity",
        action="store_true",
        help="list which of the instructions that ran are confirmed by GPU recordings, and which rest on documents",
    )
    parser.add_argument(
        "--profile-schema",
        action=PrintSchema,
        schema=_profile_schema,
        help="print the JSON Schema of a profile, and exit",
    )
    parser.add_argument(
        "--provenance",
        action="store_true",
        help="follow where every byte comes from, and show it for the first wrong element",
    )
    parser.add_argument(
        "--trace",
        action="append",
        default=[],
        metavar="WHAT",
        help="record an instruction: a pattern (ldmatrix, 'ld.shared.*'), a PTX line (372) or a source line "
        "(kernel.cu:45); may be given several times",
    )
    chosen = "that --trace records"
    parser.add_argument("--trace-blocks", metavar="LIST", help=f"the blocks {chosen}, as '0 5' or '1,0 1,1', or all")
    parser.add_argument("--trace-warps", metavar="LIST", help=f"the warps {chosen}, as 0,1, or all")
    parser.add_argument("--trace-first", type=int, metavar="N", help="executions of each warp to skip")
    parser.add_argument("--trace-limit", type=int, metavar="N", help="executions of each warp to record")
    parser.add_argument("--lanes", metavar="LIST", help=f"the lanes {chosen}, as 0-7,16, or all")
    parser.add_argument(
        "--when",
        metavar="CONDITION",
        help=f"the executions and lanes {chosen}: '%%r5 > 100 and %%tid.x < 8', over the registers that it reads (or "
        "only writes), %%tid, %%ctaid, %%laneid, warp, execution and address; f32(%%r1) reads its bits as a float",
    )
    parser.add_argument(
        "--trace-type", metavar="TYPE", type=type_name, help="read a matrix's bits as f16, bf16, s8, e4m3, ..."
    )
    parser.add_argument("--trace-operand", metavar="NAME", help="the operand to show: a, b, c, d")
    sources(parser, "instructions that are traced")
    parser.set_defaults(**BESIDE_TRACE)


def _profile_schema() -> str:
    """The JSON Schema of a profile."""
    from ptxloom.records.schemas import schema  # noqa: PLC0415 - only this asks for it
    from ptxloom.views.core.json_text import to_text  # noqa: PLC0415 - likewise
    from ptxloom.views.runs.profiles import TITLE, ProfileRecord  # noqa: PLC0415 - likewise

    return to_text(schema(ProfileRecord, TITLE))


def sources(parser: ArgumentParser, what: str) -> None:
    """The options that show the text of the program that was compiled."""
    parser.add_argument(
        "--source",
        action="store_true",
        help=f"show the source line above {what}, where `.loc` names one and the file is found",
    )
    parser.add_argument(
        "--source-root", metavar="DIR", help="also look for source files below DIR, not only beside the PTX"
    )
