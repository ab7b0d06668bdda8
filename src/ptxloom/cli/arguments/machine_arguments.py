"""The arguments of `run`, `why` and `debug`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments import explorer_arguments, limit_arguments, watch_arguments
from ptxloom.cli.arguments.picture_arguments import OF_FRAGMENTS, pictures
from ptxloom.cli.formats import CHECKED, summary

if TYPE_CHECKING:
    from argparse import ArgumentParser

_PATIENCE: Final = 20.0  # seconds of a diagnosis, in which a kernel of its size has long ended


def run(parser: ArgumentParser) -> None:
    """`ptxloom run`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a launch file (TOML): which kernel runs on which arrays, what to compare or save; or PTX, with the "
        "launch in words",
    )
    _words(parser)
    parser.add_argument("--unchecked", action="store_true", help="run PTX even if `check` finds errors in it")
    parser.add_argument(
        "--checks",
        metavar="TOOLS",
        help="the tools that watch: a comma-separated list of memcheck, synccheck (the default), racecheck, initcheck; "
        "`all` is these four and memcheck:variables, which reports addresses that leave the variable from which they "
        "were made; memcheck:leaks reports what malloc returned and was never freed; racecheck:global and "
        "initcheck:global also watch global memory; racecheck:fences also reports fences that libraries leave out",
    )
    _contract(parser)
    limit_arguments.declare(parser)
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="run warps in a different order for each number"
    )
    watch_arguments.declare(parser)
    pictures(parser, CHECKED, OF_FRAGMENTS)
    summary(parser)


def why(parser: ArgumentParser) -> None:
    """`ptxloom why`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help=(
            "a launch file (TOML): which kernel runs on which arrays; or PTX, with the launch in words; behind --, a "
            "program that uses CUDA; all of its kernels are judged"
        ),
    )
    parser.add_argument("program", metavar="ARGUMENT", nargs="*", help="the arguments of the program")
    parser.add_argument(
        "--device", metavar="SM", default="sm_80", help="the device of a program, sm_75 to sm_121 (default sm_80)"
    )
    _words(parser)
    parser.add_argument(
        "--try",
        dest="attempt",
        action="store_true",
        help="run the kernel again with the repair, if the PTX has one",
    )
    limit_arguments.declare(parser, _PATIENCE)
    pictures(parser, ("full", "concise", "json"))


def _words(parser: ArgumentParser) -> None:
    from ptxloom.cli.arguments import launch_words  # noqa: PLC0415 - takes as long as all other verbs together

    launch_words.declare(parser)


def debug(parser: ArgumentParser) -> None:
    """`ptxloom debug`."""
    parser.add_argument(
        "stage",
        choices=("plan", "ir", "asm", "hot", "runtime", "opcode"),
        help="plan: blocks, places, known values; ir: LLVM's language; asm: the host's assembly; "
        "hot: how the second tier treats registers and accesses, and its IR; "
        "runtime: the IR of the functions that the kernel calls; "
        "opcode: where the source defines an instruction (FILE is an opcode)",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help=explorer_arguments.FILE,
    )
    parser.add_argument("--function", metavar="NAME", help="which kernel, if the file holds several")
    parser.add_argument("--target", metavar="SM", help="the architecture whose tensor cores compute, sm_75 to sm_121")
    parser.add_argument("--checks", metavar="TOOLS", help="the code for these tools, named as in `run --checks`")
    parser.add_argument("--part", action="store_true", help="the code for warps in which only some lanes run")
    _contract(parser)


def _contract(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--contract",
        choices=("as written", "fused"),
        help="whether mul and add without a rounding are one fma where ptxas would fuse them (default: as written)",
    )
