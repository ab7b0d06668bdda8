"""The arguments of verbs that read files and pages: `inspect`, `check`, `fmt`, `explain` and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.arguments import campaign_arguments, explorer_arguments, file_arguments, watch_arguments
from ptxloom.cli.formats import CHECKED, FINDINGS, formats, summary

if TYPE_CHECKING:
    from argparse import ArgumentParser


def inspect(parser: ArgumentParser) -> None:
    """`ptxloom inspect`."""
    file_arguments.files(parser)
    parser.add_argument(
        "--profile",
        dest="profile_launch",
        metavar="LAUNCH.toml",
        help="run a kernel of the file with this launch file, and show what each line costs",
    )
    watch_arguments.sources(parser, "lines with their cost (--profile)")
    formats(parser, FINDINGS)
    _availability(parser)


def check(parser: ArgumentParser) -> None:
    """`ptxloom check`."""
    file_arguments.files_or_here(parser)
    formats(parser, CHECKED)
    summary(parser)
    _availability(parser)
    _rules(parser)
    how = parser.add_argument_group(
        "repairs", "a file changes as a whole or not at all; standard input goes to standard output"
    )
    how.add_argument("--fix", action="store_true", help="make the repairs that are certain")
    how.add_argument(
        "--unsafe-fixes", action="store_true", help="with --fix or --diff: also make repairs that are guesses"
    )
    how.add_argument("--diff", action="store_true", help="print what --fix would change; exit 1 if anything would")
    file_arguments.project(parser)
    file_arguments.judging(parser)
    campaign_arguments.spread(parser, jobs=False)


def parse(parser: ArgumentParser) -> None:
    """`ptxloom parse`."""
    explorer_arguments.parse(parser)
    formats(parser, FINDINGS)


def fmt(parser: ArgumentParser) -> None:
    """`ptxloom fmt`."""
    file_arguments.files(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="change nothing; exit 1 if a file would change")
    how.add_argument("--diff", action="store_true", help="print what would change; exit 1 if anything would")
    how.add_argument(
        "-w", "--write", action="store_true", help="rewrite the files in place, each as a whole or not at all"
    )


def diff(parser: ArgumentParser) -> None:
    """`ptxloom diff`."""
    parser.add_argument(
        "file",
        metavar="A.ptx",
        help=explorer_arguments.FILE,
    )
    parser.add_argument("other", metavar="B.ptx", help="the file to compare with")
    parser.add_argument("--all", action="store_true", help="show every line that differs")
    watch_arguments.sources(parser, "lines that differ")
    formats(parser, ("full", "concise", "json"))


def explain(parser: ArgumentParser) -> None:
    """`ptxloom explain`."""
    parser.add_argument(
        "word",
        metavar="WORD",
        nargs="?",
        help="a rule's id, a hazard, an opcode, %%laneid, .reqntid, sm_90a; if left out, all are listed",
    )


def schema(parser: ArgumentParser) -> None:
    """`ptxloom schema`."""
    parser.add_argument(
        "word", metavar="NAME", nargs="?", help="a verb, profile or launch-file; if left out, all names are listed"
    )


def doctor(parser: ArgumentParser) -> None:
    """`ptxloom doctor`."""
    formats(parser, ("full", "json"))


def examples(parser: ArgumentParser) -> None:
    """`ptxloom examples`."""
    parser.add_argument(
        "file", metavar="FOLDER", nargs="?", default="examples", help="the folder to write to (default: examples)"
    )


def lsp(parser: ArgumentParser) -> None:
    """`ptxloom lsp`."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output; this is the default")
    _availability(parser)
    _rules(parser)


def _availability(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--target", metavar="SM", help="check for this target instead of the file's own, such as sm_90a"
    )
    parser.add_argument("--ptx-version", metavar="X.Y", help="check for this PTX version instead of the file's own")


def _rules(parser: ArgumentParser) -> None:
    which = parser.add_argument_group("which rules", "ids or patterns (missing-*), comma-separated")
    which.add_argument("--select", metavar="RULES", type=_names, action="extend", default=[], help="report only these")
    which.add_argument(
        "--ignore",
        metavar="RULES",
        type=_names,
        action="extend",
        default=[],
        help="report all but these; overrides --select",
    )


def _names(text: str) -> list[str]:
    """`a, b` as its parts."""
    return [name for name in text.replace(",", " ").split() if name]
