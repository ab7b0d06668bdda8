"""The arguments of `ptxloom shared`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments.picture_arguments import pictures
from ptxloom.cli.arguments.type_names import type_name

if TYPE_CHECKING:
    from argparse import ArgumentParser

FORMATS: Final = ("full", "json")


def shared(parser: ArgumentParser) -> None:
    """`ptxloom shared`."""
    parser.add_argument("file", metavar="LAUNCH.toml", help="which kernel runs on which arrays")
    parser.add_argument(
        "--at",
        metavar="WHAT",
        help="just before an instruction, when a warp of the CTA first reaches it: a PTX line (372), a source line "
        "(kernel.cu:45) or a pattern (ldmatrix); if left out, at the end of the CTA",
    )
    parser.add_argument(
        "--array", metavar="NAME", help="only a variable in shared memory, or bytes that come from an array"
    )
    parser.add_argument("--cta", metavar="X,Y,Z", default="0", help="which CTA, by its number or place (default 0)")
    parser.add_argument("--values", action="store_true", help="also show the values that the bytes hold")
    parser.add_argument("--type", metavar="TYPE", type=type_name, help="read the bytes as f16, bf16, s8, b32, ...")
    parser.add_argument("--offset", type=int, metavar="BYTES", help="begin at this address")
    parser.add_argument("--rows", type=int, default=64, metavar="N", help="lines of 128 bytes to show (default 64)")
    pictures(parser, FORMATS, ("row", "chunk"))
