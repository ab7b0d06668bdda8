"""The arguments of the verbs about CuTe: `atom`, `emit` and `swizzle`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments.picture_arguments import pictures
from ptxloom.cli.arguments.type_names import type_name

if TYPE_CHECKING:
    from argparse import ArgumentParser

FORMATS: Final = ("full", "concise", "json")
LANGUAGES: Final = ("cuda", "ptx", "triton", "cute", "cute-dsl")


def atom(parser: ArgumentParser) -> None:
    """`ptxloom atom`."""
    parser.add_argument(
        "name",
        metavar="ATOM",
        nargs="?",
        help="a CuTe C++ name, a CuTe DSL operation or a PTX spelling; if left out, all copy atoms are listed",
    )
    wanted = parser.add_argument_group("which atom for which operand")
    wanted.add_argument(
        "--mma", metavar="MMA", help="the mma, such as m16n8k16.row.col.f32.f16.f16.f32; a shape alone means f16"
    )
    wanted.add_argument("--operand", choices=("a", "b", "c", "d"), help="the operand in shared memory")
    wanted.add_argument("--major", choices=("k", "m", "n"), help="the coordinate along which the operand is contiguous")
    wanted.add_argument("--blas", metavar="XY", help="A and B at once: TN, NT, NN or TT (TN: both K-major)")
    wanted.add_argument(
        "--element",
        metavar="TYPE",
        type=type_name,
        help="the type in memory, if it differs from the mma's, such as e2m1",
    )
    wanted.add_argument("--target", metavar="SM", help="the architecture (default sm_90)")
    where = parser.add_argument_group(
        "where the operand is stored", "lane by lane, the byte offset of the row that it names"
    )
    where.add_argument("--tile", metavar="ROWSxCOLUMNS", type=tile, help="the tile, its columns contiguous")
    where.add_argument("--pitch", type=int, metavar="BYTES", help="from one row to the next, if rows are not dense")
    pictures(parser, FORMATS, ("lane", "register"))


def emit(parser: ArgumentParser) -> None:
    """`ptxloom emit`."""
    parser.add_argument("name", metavar="ATOM", help="a CuTe C++ name, a CuTe DSL operation or a PTX spelling")
    parser.add_argument("--language", choices=LANGUAGES, default="cuda", help="what to write (default cuda)")
    parser.add_argument(
        "--swizzle", type=three, metavar="B,M,S", help="the tile's CuTe swizzle, on indices of the atom's elements"
    )


def swizzle(parser: ArgumentParser) -> None:
    """`ptxloom swizzle`."""
    parser.add_argument("tile", metavar="ROWSxCOLUMNS", type=tile, help="the tile in elements, columns contiguous")
    parser.add_argument("element", metavar="TYPE", type=type_name, help="the type of an element, such as f16 or fp16")
    parser.add_argument(
        "accesses",
        metavar="ACCESS",
        nargs="+",
        help=(
            "the instructions that access it: cp.async, tma, ldmatrix.x4.trans, stmatrix.x2, ld.shared.v4.b32, "
            "ld.shared.b32@column"
        ),
    )
    parser.add_argument("--pitch", type=int, metavar="BYTES", help="from one row to the next, if there are gaps")
    pictures(parser, FORMATS)


def three(text: str) -> tuple[int, int, int]:
    """`3,3,3` as three numbers."""
    bits, base, shift = map(int, text.split(","))
    return bits, base, shift


three.__name__ = "three whole numbers, such as 3,3,3"  # a mistake names it


def tile(text: str) -> tuple[int, int]:
    """`64x32` as two numbers."""
    rows, _, columns = text.lower().partition("x")
    return int(rows), int(columns)


tile.__name__ = "rows and columns, such as 64x32"  # a mistake names it
