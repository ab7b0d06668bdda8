"""The arguments of `map`, `where` and `banks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.arguments import cute_arguments
from ptxloom.cli.arguments.descriptor_arguments import number
from ptxloom.cli.arguments.picture_arguments import OF_FRAGMENTS, pictures
from ptxloom.cli.formats import TABLE

if TYPE_CHECKING:
    from argparse import ArgumentParser


def map_(parser: ArgumentParser) -> None:
    """`ptxloom map`."""
    _instruction(parser)
    _operand(parser)
    pictures(parser, TABLE, OF_FRAGMENTS)


def where(parser: ArgumentParser) -> None:
    """`ptxloom where`."""
    _instruction(parser)
    _operand(parser)
    held = parser.add_argument_group("what a lane holds")
    held.add_argument("--lane", type=int, metavar="0-31", help="the lane (of a warpgroup and of tensor memory 0-127)")
    held.add_argument("--register", type=int, metavar="R", help="only this register, or column of tensor memory")
    held.add_argument("--bit", type=int, metavar="0-31", help="only the element at this bit of the register")
    holder = parser.add_argument_group("which lanes hold a row or an element")
    holder.add_argument(
        "--row", type=int, metavar="I", help="the row; for ldmatrix and stmatrix, also the lane that gives its address"
    )
    holder.add_argument("--column", "--col", type=int, metavar="J", help="only the element of this column")
    parser.add_argument("--matrix", type=int, default=0, metavar="M", help="the matrix (default 0)")
    pictures(parser, TABLE, OF_FRAGMENTS)


def banks(parser: ArgumentParser) -> None:
    """`ptxloom banks`."""
    _instruction(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--pitch", type=int, metavar="BYTES", help="the rows of a tile are BYTES apart")
    where.add_argument("--stride", type=int, metavar="BYTES", help="lane l accesses address l * BYTES")
    where.add_argument("--addresses", metavar="LIST", help="32 byte addresses, comma-separated, or a file of them")
    parser.add_argument(
        "--swizzle", type=cute_arguments.three, metavar="B,M,S", help="CuTe's Swizzle<B,M,S> on 16-bit element indices"
    )
    pictures(parser, ("full", "concise", "json"), ("lane", "bank"))


def _instruction(parser: ArgumentParser) -> None:
    parser.add_argument(
        "instruction",
        metavar="INSTRUCTION",
        help="in full or in short: ldmatrix.x4.trans, mma.m16n8k16.bf16, wgmma.m64n128k16.f32.f16.f16",
    )


def _operand(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--operand",
        choices=("a", "b", "c", "d", "e", "sfa", "sfb"),
        help="which operand of an mma, wmma, wgmma or tcgen05.mma (e: metadata; sfa, sfb: scales) or a movmatrix",
    )
    parser.add_argument(
        "--idesc",
        type=number,
        metavar="BITS",
        help="the instruction descriptor of a tcgen05.mma, instead of a shape and types behind its name",
    )
