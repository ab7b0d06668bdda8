"""The options of `ptxloom exec`."""

from __future__ import annotations

from argparse import REMAINDER
from typing import TYPE_CHECKING

from ptxloom.cli.arguments.limit_arguments import size

if TYPE_CHECKING:
    from argparse import ArgumentParser


def declare(parser: ArgumentParser) -> None:
    """Add them."""
    parser.description = (
        "Run a program that uses CUDA on a driver that needs no GPU: its kernels, as PTX, run on\n"
        "this machine, with the tools watching. The exit status is the program's."
    )
    parser.add_argument(
        "--device", metavar="SM", default="sm_80", help="the device's architecture, sm_75 to sm_121 (default sm_80)"
    )
    parser.add_argument("--checks", metavar="TOOLS", help="the tools that watch, named as in `run --checks`")
    parser.add_argument(
        "--on-hazard",
        choices=("report", "end", "stop", "ignore"),
        default="report",
        help="report a hazard as it happens (default) or at the end, end the program with status 86, or say nothing",
    )
    parser.add_argument(
        "--destroy-on-device-error",
        choices=("context", "kernel"),
        default="context",
        help=(
            "what fails with a kernel that is ended: all later calls in its context, as on a GPU (default), or nothing "
            "else, so that one failing test does not affect others"
        ),
    )
    parser.add_argument(
        "--memory-limit", type=size, metavar="SIZE", help="memory of the device (default: half of this machine's)"
    )
    parser.add_argument("program", metavar="PROGRAM", nargs=REMAINDER, help="the program and its arguments, after --")
