"""`ptxloom atom`: an atom's names and layouts, or which atom serves an operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms import advise, atom, blas_majors, copy_atoms
from ptxloom.atoms.addressing import row_offsets
from ptxloom.banks.tiles import make_tile
from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.shapes import is_shape
from ptxloom.views.atoms import atom_pages
from ptxloom.views.pictures import atom_figure

if TYPE_CHECKING:
    from ptxloom.atoms import Advice
    from ptxloom.atoms.addressing import RowOffsets
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Describe the atom, or recommend one for the operands; an operand without an atom is a finding.

    Raises:
        PtxloomError: There is no such atom, or the options do not name the operand and its mma.
    """
    if options.mma is not None:
        return _advised(options)
    if any((options.operand, options.major, options.blas, options.element, options.target, options.tile)):
        raise PtxloomError("name the mma for the atom, such as `--mma m16n8k16.row.col.f32.f16.f16.f32`")
    if options.name is None:
        if wanted(options):
            raise PtxloomError("a picture shows one atom: name it, or give the operand and its `--mma`")
        return _listed(options)
    found = atom(options.name)
    if wanted(options):
        return drawn(atom_figure(found, options.colour_by), options)
    match options.output_format:
        case "concise":
            return Outcome(atom_pages.concise(found))
        case "json":
            return Outcome(atom_pages.as_json(found))
        case _:
            return Outcome(atom_pages.full(found, style_for(options)))


def _listed(options: Options) -> Outcome:
    match options.output_format:
        case "concise":
            return Outcome("".join(map(atom_pages.concise, copy_atoms())))
        case "json":
            return Outcome(atom_pages.listed_json(copy_atoms()))
        case _:
            return Outcome(atom_pages.listed(copy_atoms(), style_for(options)))


def _advised(options: Options) -> Outcome:
    advices = [_advice(options, operand, major) for operand, major in _asked(options)]
    code = CLEAN if all(advice.best for advice in advices) else FINDINGS
    if wanted(options):
        best = [advice.best.atom for advice in advices if advice.best]
        if len(best) != 1:
            raise PtxloomError(f"a picture shows one atom, and this names {len(best)}: choose with `--operand`")
        return drawn(atom_figure(best[0], options.colour_by), options, code)
    match options.output_format:
        case "concise":
            return Outcome(atom_pages.advice_concise(advices), code)
        case "json":
            return Outcome(atom_pages.advice_json(advices, _rows(options, advices)), code)
        case _:
            return Outcome(atom_pages.advice_full(advices, style_for(options), _rows(options, advices)), code)


def _rows(options: Options, advices: list[Advice]) -> list[RowOffsets | None]:
    """For each operand, the start of each lane's row in the tile, if there is a tile.

    Raises:
        UsageError: The operand does not fit the tile.
    """
    if options.tile is None:
        if options.pitch is not None:
            raise PtxloomError("`--pitch` needs a tile, such as `--tile 64x64`")
        return [None] * len(advices)
    tile = options.tile
    return [
        None if one.best is None else row_offsets(one.best, make_tile(*tile, one.usage.element, options.pitch))
        for one in advices
    ]


def _asked(options: Options) -> list[tuple[str, str]]:
    """The selected operands, each with its contiguous coordinate.

    Raises:
        PtxloomError: The options do not name them.
    """
    if options.blas is not None:
        a, b = blas_majors(options.blas)
        return [("a", a), ("b", b)]
    if options.tile is not None and options.operand is None and options.major is None:
        return [("a", "k"), ("b", "k")]
    if options.operand is None or options.major is None:
        raise PtxloomError("name the operand with `--operand` and `--major`, or A and B at once with `--blas TN`")
    return [(options.operand, options.major)]


def _advice(options: Options, operand: str, major: str) -> Advice:
    mma = options.mma or ""
    if is_shape(mma.removeprefix("mma.")):
        mma += ".row.col.f32.f16.f16.f32"
    return advise(mma, operand, major, options.target or "sm_90", options.element)
