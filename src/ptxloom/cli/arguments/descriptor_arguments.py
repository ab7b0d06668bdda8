"""The arguments of `descriptor` and `tensormap`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments.cute_arguments import tile
from ptxloom.cli.arguments.picture_arguments import pictures
from ptxloom.cli.arguments.type_names import type_name

if TYPE_CHECKING:
    from argparse import ArgumentParser

FORMATS: Final = ("full", "concise", "json")
_NUMBERS: Final = re.compile(r"-\d[-\d,]*$")
_WORDS: Final = (
    "transpose_a", "transpose_b", "negate_a", "negate_b", "saturate", "selector", "a_scale", "b_scale", "shift",
)  # fmt: skip
_SWIZZLES: Final = ("none", "32B", "64B", "128B")
_ATOMS: Final = ("128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")


def descriptor(parser: ArgumentParser) -> None:
    """`ptxloom descriptor`."""
    parser.add_argument(
        "bits",
        metavar="BITS",
        nargs="?",
        type=bits_or_instruction,
        help="the 64 bits to read, or the 32 of an instruction descriptor (--kind); a tcgen05.mma, whose instruction "
        "descriptor is made, such as tcgen05.mma.m128n256.bf16; if left out, 64 bits are made for a tile",
    )
    parser.add_argument(
        "--kind",
        type=kind,
        metavar="KIND",
        help="BITS are the instruction descriptor of a tcgen05.mma of this kind, such as f16, tf32 or mxf8f6f4",
    )
    parser.add_argument(
        "--with",
        dest="told",
        type=words,
        metavar="LIST",
        help="more of the instruction descriptor to make: transpose_a, transpose_b, negate_a, negate_b, saturate, "
        "selector=N, a_scale=N, b_scale=N, shift=N",
    )
    parser.add_argument(
        "--generation",
        choices=("wgmma", "tcgen05"),
        help="the instruction that reads it (default: what bits 46 to 48 select)",
    )
    what = parser.add_argument_group("settings of the instruction")
    what.add_argument("--type", dest="element", metavar="TYPE", type=type_name, help="of an element (default f16)")
    what.add_argument(
        "--major", choices=("k", "mn"), help="the coordinate along which elements are contiguous (default k)"
    )
    what.add_argument(
        "--tile", type=tile, metavar="MNxK", help="M or N and K, in elements: those of one product, or of the tile"
    )
    made = parser.add_argument_group("where the tile is stored")
    made.add_argument(
        "--swizzle", dest="mode", choices=(*_SWIZZLES, "128B_ATOM_32B"), help="the mode (default: the widest that fits)"
    )
    made.add_argument("--start-address", type=number, metavar="ADDRESS", help="in shared memory (default 0)")
    pictures(parser, FORMATS)


def tensormap(parser: ArgumentParser) -> None:
    """`ptxloom tensormap`."""
    parser._negative_number_matcher = _NUMBERS  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - or `-1,-1` were options
    parser.add_argument(
        "map",
        metavar="MAP",
        nargs="?",
        help="a file of 128 bytes, or 256 hexadecimal digits; if left out, a map is made",
    )
    made = parser.add_argument_group("the parameters of the map to make, named as in the CUDA driver")
    made.add_argument("--data-type", metavar="TYPE", help="such as FLOAT16")
    made.add_argument("--global-address", type=number, metavar="ADDRESS", help="the address of the tensor (default 0)")
    made.add_argument("--global-dim", type=numbers, metavar="LIST", help="elements, the contiguous dimension first")
    made.add_argument("--global-strides", type=numbers, metavar="LIST", help="bytes, of all dimensions but the first "
                      "(default: no gaps)")  # fmt: skip
    made.add_argument("--box-dim", type=numbers, metavar="LIST", help="elements that a copy spans")
    made.add_argument("--element-strides", type=numbers, metavar="LIST", help="take every Nth element (default 1)")
    made.add_argument("--interleave", choices=("none", "16B", "32B"), default="none", help="the bytes of a slice")
    modes = (*_SWIZZLES, *_ATOMS)
    made.add_argument(
        "--swizzle",
        dest="mode",
        metavar="MODE",
        choices=modes,
        help=f"of shared memory (default none): {', '.join(modes)}",
    )
    made.add_argument("--l2-promotion", choices=("none", "64B", "128B", "256B"), default="none", help="of fetches")
    made.add_argument(
        "--oob-fill",
        choices=("none", "nan"),
        default="none",
        help="what elements outside the tensor read as: zeros or NaN",
    )
    im2col = parser.add_argument_group("in place of a box, for im2col")
    im2col.add_argument("--pixel-box-lower-corner", type=numbers, metavar="LIST", help="W, H, D")
    im2col.add_argument("--pixel-box-upper-corner", type=numbers, metavar="LIST", help="W, H, D, from the end")
    im2col.add_argument("--channels-per-pixel", type=number, metavar="N", help="elements of C")
    im2col.add_argument("--pixels-per-column", type=number, metavar="N", help="pixels")
    copy = parser.add_argument_group("the copy that is shown")
    copy.add_argument(
        "--coordinate", type=numbers, metavar="LIST", help="of the box's first element (default: the tensor's)"
    )
    copy.add_argument("--offsets", type=numbers, metavar="LIST", help="of im2col: W, H, D")
    copy.add_argument("--shared-address", type=number, default=0, metavar="ADDRESS", help="where it goes (default 0)")
    pictures(parser, FORMATS)


def number(text: str) -> int:
    """`1024` or `0x400`."""
    return int(text, 0)


number.__name__ = "a whole number, such as 1024 or 0x400"  # a mistake names it


def kind(text: str) -> str:
    """A kind of tcgen05.mma."""
    from ptxloom.isa.tensor_products import TENSOR_KINDS  # noqa: PLC0415 - reading a command line imports nothing

    if text not in TENSOR_KINDS:
        raise ValueError(text)
    return text


kind.__name__ = "a kind of tcgen05.mma: f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4 or mxf4nvf4"  # a mistake names it


def bits_or_instruction(text: str) -> int | str:
    """Bits, or the spelling of a tcgen05.mma."""
    return text if "." in text else int(text, 0)


bits_or_instruction.__name__ = "a whole number, such as 1024 or 0x400, or a tcgen05.mma"  # a mistake names it


def words(text: str) -> dict[str, int]:
    """`transpose_b,selector=1` as the words of an instruction descriptor."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in _WORDS:
            raise ValueError(name)
        found[name] = int(value or "1", 0)
    return found


words.__name__ = "a list of words, such as transpose_b,selector=1"  # a mistake names it


def numbers(text: str) -> tuple[int, ...]:
    """`64,32` as numbers; nothing for none."""
    return tuple(int(part, 0) for part in text.split(",")) if text.strip() else ()


numbers.__name__ = "whole numbers with commas between them, such as 64,32"  # a mistake names it
