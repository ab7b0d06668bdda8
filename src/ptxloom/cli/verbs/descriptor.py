"""`ptxloom descriptor`: what the 64 bits of a matrix descriptor say, or those for a tile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.cli.pictures import drawn, wanted
from ptxloom.descriptors import MatrixDescriptor, SharedOperand, SharedTile, remarks
from ptxloom.descriptors.operand import assumed_operand
from ptxloom.descriptors.tile import widest_swizzle
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.types import element_type
from ptxloom.views.descriptors import descriptor_pages

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Read or make; what cannot be meant is a finding.

    Raises:
        PtxloomError: The bits are no descriptor, or there is no tile that they could be made for.
    """
    return _made(options) if options.bits is None else _read(options, options.bits)


def _read(options: Options, bits: int) -> Outcome:
    """The words of some bits."""
    for name, given in (("--swizzle", options.mode), ("--start-address", options.start_address)):
        if given is not None:
            raise PtxloomError(f"`{name}` is for a descriptor that is made; the bits say it themselves")
    operand = _operand(options, MatrixDescriptor.from_bits(bits, options.generation))
    code = _code(operand)
    if wanted(options):
        return drawn(descriptor_pages.figure(operand), options, code)
    match options.output_format:
        case "concise":
            return Outcome(descriptor_pages.concise(operand), code)
        case "json":
            return Outcome(descriptor_pages.as_json(operand), code)
        case _:
            unsaid = options.tile is None or options.element is None or options.major is None
            return Outcome(descriptor_pages.full(operand, style_for(options), assumed=unsaid), code)


def _operand(options: Options, words: MatrixDescriptor) -> SharedOperand:
    """What the instruction says, as far as the options do."""
    assumed = assumed_operand(words, options.element or "f16", options.major or "k")
    if options.tile is None:
        return assumed
    return SharedOperand(words, *options.tile, assumed.element, assumed.major)


def _made(options: Options) -> Outcome:
    """The descriptors of a tile."""
    if options.tile is None:
        raise PtxloomError("say which bits to read, such as 0x4000004000010040, or which tile, such as `--tile 64x64`")
    element, major = options.element or "f16", options.major or "k"
    along = options.tile[1] if major == "k" else options.tile[0]
    mode = options.mode or widest_swizzle(along * element_type(element).container_bits // 8)
    start = options.start_address or 0
    tile = SharedTile(*options.tile, element, major, mode, start, options.generation or "wgmma")
    code = _code(tile.operand)
    if wanted(options):
        return drawn(descriptor_pages.figure(tile.operand), options, code)
    match options.output_format:
        case "concise":
            return Outcome(descriptor_pages.concise_tile(tile), code)
        case "json":
            return Outcome(descriptor_pages.json_tile(tile), code)
        case _:
            return Outcome(descriptor_pages.full_tile(tile, style_for(options)), code)


def _code(operand: SharedOperand) -> int:
    """Whether anything cannot be meant."""
    return FINDINGS if any(remark.wrong for remark in remarks.of_operand(operand)) else CLEAN
