"""`ptxloom descriptor`: decode a matrix descriptor or an instruction descriptor, or make one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.descriptors import InstructionDescriptor, MatrixDescriptor, SharedOperand, SharedTile, remarks
from ptxloom.descriptors.operand import assumed_operand
from ptxloom.descriptors.tensor_instruction import is_tensor_product, tensor_instruction
from ptxloom.descriptors.tile import widest_swizzle
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.spelled import spelling_of
from ptxloom.isa.types import element_type
from ptxloom.views.descriptors import descriptor_pages, instruction_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Read or make a descriptor; senseless ones are findings.

    Raises:
        PtxloomError: The bits are no descriptor, or there is no tile that they could be made for.
    """
    if options.kind is not None or options.told is not None or isinstance(options.bits, str):
        return _instruction(options)
    return _made(options) if options.bits is None else _read(options, options.bits)


def _instruction(options: Options) -> Outcome:
    """An instruction descriptor, read or made."""
    if isinstance(options.bits, str):
        if options.kind is not None:
            raise PtxloomError("`--kind` is for bits that are read; the instruction implies its kind")
        told = _told(options.bits, options.told or {})
    elif options.bits is None or options.kind is None:
        raise PtxloomError("give the bits to read, with `--kind`, or an instruction, such as `tcgen05.mma.m128n256`")
    elif options.told is not None:
        raise PtxloomError("`--with` is for a descriptor that is made; it has no effect on bits that are read")
    else:
        told = InstructionDescriptor.from_bits(options.kind, options.bits)
    found = remarks.of_instruction(told)
    code = FINDINGS if any(remark.wrong for remark in found) else CLEAN
    if wanted(options):
        return drawn(instruction_pages.figure(told), options, code)
    match options.output_format:
        case "concise":
            return Outcome(instruction_pages.concise(told, found), code)
        case "json":
            return Outcome(instruction_pages.as_json(told, found), code)
        case _:
            return Outcome(instruction_pages.full(told, found, style_for(options)), code)


def _told(text: str, more: Mapping[str, int]) -> InstructionDescriptor:
    """The descriptor of an instruction, with fields beyond those that its name implies."""
    if not is_tensor_product(text):
        raise PtxloomError(f"`{text}` has no instruction descriptor; a `tcgen05.mma` has one")
    told = tensor_instruction(spelling_of(text)).told
    flags = {name: bool(value) if isinstance(getattr(told, name), bool) else value for name, value in more.items()}
    return replace(told, **flags)  # pyright: ignore[reportArgumentType]


def _read(options: Options, bits: int) -> Outcome:
    """The words of some bits."""
    for name, given in (("--swizzle", options.mode), ("--start-address", options.start_address)):
        if given is not None:
            raise PtxloomError(f"`{name}` is for a descriptor that is made; it has no effect on bits that are read")
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
    """The operand, with the properties that the options give."""
    assumed = assumed_operand(words, options.element or "f16", options.major or "k")
    if options.tile is None:
        return assumed
    return SharedOperand(words, *options.tile, assumed.element, assumed.major)


def _made(options: Options) -> Outcome:
    """The descriptors of a tile."""
    if options.tile is None:
        raise PtxloomError("give the bits to read, such as 0x4000004000010040, or a tile, such as `--tile 64x64`")
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
    """The exit code: 1 if anything makes no sense."""
    return FINDINGS if any(remark.wrong for remark in remarks.of_operand(operand)) else CLEAN
