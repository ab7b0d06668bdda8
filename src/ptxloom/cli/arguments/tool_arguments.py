"""The arguments of `mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.arguments.limit_arguments import size

if TYPE_CHECKING:
    from argparse import ArgumentParser


def mcp(parser: ArgumentParser) -> None:
    """`ptxloom mcp`."""
    parser.add_argument(
        "file", metavar="FOLDER", nargs="?", default=".", help="requests may name files below it (default: this folder)"
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let `judge` run Python of the folder, and compile CUDA C++: both can read and do what they like",
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="for each answer (default 60)")
    parser.add_argument("--memory-limit", type=size, metavar="SIZE", help="for each answer (default 8G)")
