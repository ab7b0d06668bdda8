"""The arguments of verbs whose work outgrows one process."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ptxloom.cli.arguments.limit_arguments import size
from ptxloom.cli.formats import formats

if TYPE_CHECKING:
    from argparse import ArgumentParser

_DIGITS = 12


def conform(parser: ArgumentParser) -> None:
    """`ptxloom conform`."""
    parser.add_argument(
        "only", nargs="*", metavar="PATH", help="names of paths, as a shell reads patterns: 'mma.*', 'cvt.*.f16' (all)"
    )
    parser.add_argument(
        "--judge",
        default="gpu",
        metavar="JUDGE",
        help="gpu (default): the first GPU, by its driver alone; ptxas: every one found or named; here: this machine",
    )
    parser.add_argument("--ptxas", action="append", default=[], metavar="FILE", help="a ptxas to use (repeatable)")
    parser.add_argument("--list", dest="listed", action="store_true", help="only list the paths")
    parser.add_argument("--full", action="store_true", help="all paths; otherwise four forms of every syntax line")
    parser.add_argument("--cases", type=_positive, default=1024, metavar="N", help="cases a path (default 1024)")
    parser.add_argument("--level", type=int, choices=range(5), help="the optimisation level of the judge's compiler")
    parser.add_argument(
        "--target", metavar="SM", help="the target whose paths are meant, if no GPU decides it (default sm_90a)"
    )
    parser.add_argument("--ptx-version", metavar="X.Y", help="the version of PTX, if no judge decides it")
    parser.add_argument("--verify", metavar="FILE", help="compute a report's results here, without a GPU")
    parser.add_argument("--report", metavar="FILE", help="write the report: the judge's verdict on every path")
    spread(parser)


def judge(parser: ArgumentParser) -> None:
    """`ptxloom judge`."""
    from ptxloom.cli.arguments.launch_words import extents  # noqa: PLC0415 - takes as long as all other verbs together

    parser.add_argument(
        "files",
        metavar="KERNEL",
        nargs="+",
        help="PTX, CUDA C++ (.cu), or a Python file whose function `kernel` launches kernels; several side by side",
    )
    parser.add_argument(
        "--against",
        required=True,
        metavar="REF.py",
        help="what the kernel must compute: a Python file with `inputs(seed, shape)`, `reference(...)` and `shapes`",
    )
    parser.add_argument("--seeds", type=_positive, default=3, metavar="N", help="seeds for each shape (default 3)")
    parser.add_argument(
        "--first-seed",
        type=int,
        default=0,
        metavar="N",
        help="the first seed (default 0); best one that was not known before",
    )
    parser.add_argument("--kernel", metavar="NAME", help="which kernel, if PTX or CUDA C++ holds several")
    for name, what in (("grid", "CTAs"), ("block", "threads of a CTA")):
        parser.add_argument(f"--{name}", type=extents, metavar="X,Y,Z", help=f"{what}, instead of those of REF.py")
    parser.add_argument("--shared-bytes", type=int, metavar="N", help="dynamic shared memory, likewise")
    parser.add_argument("--target", metavar="SM", help="the architecture whose tensor cores compute, sm_75 to sm_121")
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="for each call, translating and compiling included (default 300)",
    )
    parser.add_argument("--memory-limit", type=size, metavar="SIZE", help="memory that a call may use")
    parser.add_argument("--verify", metavar="FILE", help="judge again, and report whether the verdict equals FILE")
    formats(parser, ("full", "concise", "json"))
    spread(parser)


def fuzz(parser: ArgumentParser) -> None:
    """`ptxloom fuzz`."""
    parser.add_argument(
        "only",
        nargs="*",
        metavar="PATH",
        help="the instructions that programs use: names from `conform --list`",
    )
    parser.add_argument("--programs", type=_positive, default=1024, metavar="N", help="how many (default 1024)")
    parser.add_argument("--seconds", type=_positive, metavar="S", help="start no more programs after S seconds")
    parser.add_argument("--seed", type=int, default=0, help="another campaign for each number (default 0)")
    parser.add_argument("--first", type=_number, default=0, metavar="N", help="the number of the first (default 0)")
    parser.add_argument("--case", type=_number, metavar="N", help="only print the program of this number")
    parser.add_argument("--size", default="4:40", metavar="N:M", help="statements of a program (default 4:40)")
    parser.add_argument("--control", type=_share, default=0.15, metavar="X", help="the share of branches, loops, calls")
    parser.add_argument(
        "--shared", type=_share, default=0.1, metavar="X", help="the share of statements that a CTA executes as one"
    )
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="JUDGES",
        help="threads, order, tools, cache, alone, interpreter, gpu:0 to gpu:3, ptxas:0 to ptxas:3, with commas "
        "(default threads,order,tools)",
    )
    parser.add_argument("--ptxas", action="append", default=[], metavar="FILE", help="the ptxas that ptxas:N uses")
    parser.add_argument(
        "--with", dest="idioms", action="append", default=[], metavar="IDIOM", help="what programs omit by default"
    )
    parser.add_argument(
        "--target", metavar="SM", help="the target whose instructions are meant, if no GPU decides it (default sm_90a)"
    )
    parser.add_argument("--ptx-version", metavar="X.Y", help="the version of PTX, if no GPU decides it")
    parser.add_argument("--bundle", metavar="FOLDER", help="write each program that differs there, shrunk")
    parser.add_argument("--report", metavar="FILE", help="write all that was found, as JSON")
    spread(parser)


def sweep(parser: ArgumentParser) -> None:
    """`ptxloom sweep`."""
    parser.add_argument("file", metavar="LAUNCH.toml", help="a launch file: which kernel runs on which arrays")
    parser.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="NAME=VALUE,VALUE",
        help=(
            "what varies (repeatable: every combination runs): an argument (n), how an array is made (A.shape, "
            "A.dtype, A.seed), grid, block, cluster, shared_bytes, target, contract, kernel, ptx; a macro of CUDA C++, "
            "std, use_fast_math, nvcc_flags; seed and checks of the run. NAME/NAME=VALUE/VALUE,... vary together"
        ),
    )
    parser.add_argument("--checks", metavar="TOOLS", help="the tools that watch, as in `run` (default: all)")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="for each run")
    parser.add_argument("--memory-limit", type=size, metavar="SIZE", help="memory that a run may use")
    formats(parser, ("full", "csv", "markdown", "json"))
    spread(parser)


def spread(parser: ArgumentParser, *, jobs: bool = True) -> None:
    """Add the options for the workers of a campaign and for where its results are kept.

    Args:
        parser: The parser to extend.
        jobs: Whether to add `--jobs`; some verbs have it anyway.
    """
    how = parser.add_argument_group("campaign", "which workers share the work, and where its results are kept")
    if jobs:
        how.add_argument("--jobs", type=_positive, metavar="N", help="processes of this machine (default: its cores)")
    how.add_argument(
        "--cluster",
        dest="scheduler",
        metavar="ADDRESS",
        help="a Dask cluster instead: tcp://HOST:PORT, or local; or mpi",
    )
    how.add_argument(
        "--campaign", metavar="FOLDER", help="keep results there as they come; continue from those that are there"
    )


def _positive(text: str) -> int:
    number = int(text)
    if not 0 < number <= 1 << 24:
        raise argparse.ArgumentTypeError("it is a number from 1 to 16,777,216")
    return number


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS:
        raise argparse.ArgumentTypeError("it is a number from 0 to 999,999,999,999")
    return int(text)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("it is a number from 0 to 1")
    return number
