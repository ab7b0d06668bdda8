"""`ptxloom tensormap`: decode a tensor map's 128 bytes, make them from parameters, and show what a copy does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, reason, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.descriptors import Box, TensorMap, encode_im2col, encode_tiled, packed_strides, remarks
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.names import is_file
from ptxloom.source import title
from ptxloom.views.descriptors import tensor_map_pages

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

_BYTES: Final = 128
_MOST_TEXT: Final = 4096
"""The most bytes of a file that may be a map as text."""


def run(options: Options) -> Outcome:
    """Read or make a map; senseless ones are findings.

    Raises:
        PtxloomError: There is no map, or the driver would not make it.
    """
    made = _made(options) if options.map is None else _read(options, options.map)
    box = Box(made, options.coordinate or made.first_coordinate, options.shared_address, options.offsets or ())
    code = FINDINGS if any(remark.wrong for remark in remarks.of_box(box)) else CLEAN
    if wanted(options):
        return drawn(tensor_map_pages.figure(box), options, code)
    match options.output_format:
        case "concise":
            return Outcome(tensor_map_pages.concise(box), code)
        case "json":
            return Outcome(tensor_map_pages.as_json(box), code)
        case _:
            return Outcome(tensor_map_pages.full(box, style_for(options)), code)


def _read(options: Options, given: str) -> TensorMap:
    """A map from a file or from digits."""
    if options.data_type is not None or options.global_dim is not None:
        raise PtxloomError("give a map to read, or the parameters of one to make, not both")
    return TensorMap.from_bytes(_bytes_of(given))


def _bytes_of(given: str) -> bytes:
    """The 128 bytes from a file, binary or in hexadecimal, or from digits on the command line.

    Raises:
        PtxloomError: The file or the digits do not hold 128 bytes.
    """
    if not is_file(given):
        return _from_digits(given, "neither a file nor")
    try:
        with Path(given).open("rb") as file:
            found = file.read(_MOST_TEXT)
    except OSError as error:
        raise PtxloomError(f"{title(given)}: it cannot be read ({reason(error)})") from error
    return found if len(found) == _BYTES else _from_digits(found.decode("latin-1"), "neither 128 bytes nor")


def _from_digits(text: str, otherwise: str) -> bytes:
    words = "".join(text.split()).removeprefix("0x").removeprefix("0X")
    try:
        found = bytes.fromhex(words)
    except ValueError:
        found = b""
    if len(found) != _BYTES:
        shown = f"{text[:40]}…" if len(text) > 40 else text
        raise PtxloomError(f"{shown!r} is {otherwise} the 256 hexadecimal digits of a tensor map's 128 bytes")
    return found


def _made(options: Options) -> TensorMap:
    """A map by the parameters of the driver's functions.

    Raises:
        PtxloomError: Some are missing, or the driver would refuse them.
    """
    if options.data_type is None or options.global_dim is None:
        raise PtxloomError(
            "give a map to read (a file, or 256 hexadecimal digits), or at least `--data-type`, `--global-dim` and "
            "`--box-dim` of one to make"
        )
    strides = options.global_strides
    if strides is None:
        strides = packed_strides(options.data_type, options.global_dim, options.interleave)
    tensor = options.data_type, options.global_address or 0, options.global_dim, strides
    kinds = (
        options.element_strides, options.interleave, options.mode or "none", options.l2_promotion, options.oob_fill
    )  # fmt: skip
    if options.box_dim is not None:
        return encode_tiled(*tensor, options.box_dim, *kinds)
    if options.channels_per_pixel is None or options.pixels_per_column is None:
        raise PtxloomError(
            "give what a copy spans: `--box-dim`, or for im2col `--channels-per-pixel` and `--pixels-per-column`"
        )
    nowhere = (0,) * max(0, len(options.global_dim) - 2)
    lower = options.pixel_box_lower_corner or nowhere
    upper = options.pixel_box_upper_corner or nowhere
    return encode_im2col(*tensor, lower, upper, options.channels_per_pixel, options.pixels_per_column, *kinds)
