"""The display of each value in a notebook: always text, also HTML or SVG if a picture shows more."""

from __future__ import annotations

import base64
import html
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Final, cast

from ptxloom.descriptors import Box
from ptxloom.descriptors.operand import assumed_operand
from ptxloom.descriptors.remarks import of_instruction
from ptxloom.views import bank_pictures
from ptxloom.views.atoms import atom_pages, swizzle_choices
from ptxloom.views.descriptors import descriptor_pages, instruction_pages, tensor_map_pages
from ptxloom.views.findings.finding_reports import full
from ptxloom.views.flow import graphs
from ptxloom.views.fragments import filled_pictures, maps
from ptxloom.views.layouts import layout_picture
from ptxloom.views.modules import trees
from ptxloom.views.pictures import draw
from ptxloom.views.runs import comparison_reports, hazard_reports, profiles, traces

if TYPE_CHECKING:
    from collections.abc import Collection

    from ptxloom.atoms import Advice, CopyAtom, MmaAtom, TensorCopyAtom, TensorMmaAtom, TiledCopy, TiledMma
    from ptxloom.banks import BankReport, Found
    from ptxloom.checker import RulePage
    from ptxloom.comparison import Comparison
    from ptxloom.descriptors import InstructionDescriptor, MatrixDescriptor, SharedOperand, SharedTile, TensorMap
    from ptxloom.diagnosis import Diagnosis
    from ptxloom.diagnostics import Diagnostic, Findings
    from ptxloom.explanation import Page
    from ptxloom.flow import FlowGraph
    from ptxloom.fragments import Fragment
    from ptxloom.fragments.filled import Filled
    from ptxloom.layout import ComposedLayout, Layout
    from ptxloom.machine import Hazard, Hazards, Profile, TraceRecord
    from ptxloom.syntax import Module

_SVG: Final = "image/svg+xml"
_COLUMNS: Final = "font-family: monospace; white-space: pre; overflow-x: auto; line-height: 1.25"
_MOST_LINES: Final = 120
_MOST_BLOCKS: Final = 60
_LINE: Final = 100  # characters
_FEW: Final = 3


def bank_report(value: BankReport) -> dict[str, str]:
    """A bank report with its picture."""
    return _pictured(bank_pictures.full(value), value)


def diagnostic(value: Diagnostic) -> dict[str, str]:
    """A finding with its carets."""
    return _preformatted(full([value]))


def comparison(value: Comparison) -> dict[str, str]:
    """What differs from a reference."""
    return _preformatted(comparison_reports.full(value))


def hazard(value: Hazard) -> dict[str, str]:
    """A hazard with its lines."""
    return _preformatted(hazard_reports.full([value]))


def hazards(value: Hazards) -> dict[str, str]:
    """What a run did wrong."""
    return _preformatted(hazard_reports.full(value) or "no hazards\n")


def fragment(value: Fragment) -> dict[str, str]:
    """A fragment as its map and as its picture."""
    return _pictured(maps.full(value), value)


def module(value: Module) -> dict[str, str]:
    """A module's headline, its functions, and what could not be read."""
    lines = [trees.headline(value), *(f"  {f.kind} {name}" for name, f in value.functions.items())]
    return _preformatted("\n".join(lines) + "\n" + full(value.diagnostics))


def profile(value: Profile) -> dict[str, str]:
    """A profile as its tables."""
    return _preformatted(profiles.full(value))


def filled(value: Filled) -> dict[str, str]:
    """A fragment with values: as text and as a picture."""
    return _pictured(filled_pictures.full(value), value)


def trace_record(value: TraceRecord) -> dict[str, str]:
    """What a traced instruction saw; a picture if it moved matrices."""
    bundle = {"text/plain": traces.one(value)}
    if value.operands:
        bundle = _pictured(bundle["text/plain"], value)
    return bundle


def copy_atom(value: CopyAtom) -> dict[str, str]:
    """A copy atom with its names and layouts, and who holds what."""
    return _pictured(atom_pages.full(value), value)


def mma_atom(value: MmaAtom) -> dict[str, str]:
    """An mma atom with its names and layouts, and who holds what; of a warpgroup's, D."""
    return _pictured(atom_pages.full(value), value)


def tensor_atom(value: TensorCopyAtom | TensorMmaAtom) -> dict[str, str]:
    """An atom of tensor memory with its layouts, and who holds what; of a product, D."""
    return _pictured(atom_pages.full(value), value)


def layout(value: Layout | ComposedLayout) -> dict[str, str]:
    """A layout with its values; a large one is not drawn."""
    bundle = {"text/plain": layout_picture.text(value)}
    if value.size <= layout_picture.MOST_CELLS:
        bundle = _pictured(bundle["text/plain"], value)
    return bundle


def tiled_copy(value: TiledCopy) -> dict[str, str]:
    """A tiled copy: which thread has what, on both sides."""
    return _pictured(f"{value}\n", value)


def tiled_mma(value: TiledMma) -> dict[str, str]:
    """A tiled mma: which thread has what of A, B and C."""
    return _pictured(f"{value}\n", value)


def instruction_descriptor(value: InstructionDescriptor) -> dict[str, str]:
    """An instruction descriptor: its words, and its 32 bits."""
    return _pictured(instruction_pages.full(value, of_instruction(value)), value)


def matrix_descriptor(value: MatrixDescriptor) -> dict[str, str]:
    """A descriptor with its words, and as common an operand as it allows."""
    operand = assumed_operand(value)
    text = descriptor_pages.full(operand, assumed=True)
    return _pictured(text, operand)


def shared_operand(value: SharedOperand) -> dict[str, str]:
    """An operand in shared memory: its descriptor's words, and the address of each row."""
    return _pictured(descriptor_pages.full(value), value)


def shared_tile(value: SharedTile) -> dict[str, str]:
    """A tile in shared memory: its descriptors, and the places of the first one's operand."""
    return _pictured(descriptor_pages.full_tile(value), value)


def tensor_map(value: TensorMap) -> dict[str, str]:
    """A tensor map, and what a copy of its first box does."""
    return box(Box(value, value.first_coordinate))


def box(value: Box) -> dict[str, str]:
    """A copy of a tensor map's box: what it fetches, and where it goes."""
    return _pictured(tensor_map_pages.full(value), value)


def _pictured(text: str, value: object) -> dict[str, str]:
    """A value as text and as a picture that is never wider than its page, on a screen or in an exported notebook.

    Notebooks prefer HTML to SVG. An image in HTML shrinks where the page is narrow, has a text for screen readers, and
    is shown in notebooks that are not trusted.
    """
    svg = draw(value)
    named = html.escape(text.partition("\n")[0])
    data = base64.b64encode(svg).decode()
    image = f'<img alt="{named}" style="max-width:100%;height:auto" src="data:{_SVG};base64,{data}">'
    return {"text/plain": text, _SVG: svg.decode(), "text/html": image}


def findings(value: Findings) -> dict[str, str]:
    """What `check` found; equal findings once."""
    return _preformatted(full(value) or "no findings\n")


def diagnosis(value: Diagnosis) -> dict[str, str]:
    """Why a result is wrong: the cause, and the operand as it is and as it should be."""
    return _preformatted(f"{value}\n") if value.picture is None else _pictured(f"{value}\n", value)


def flow_graph(value: FlowGraph) -> dict[str, str]:
    """The table of the blocks; a small graph is drawn under it."""
    bundle = _preformatted(graphs.full(value))
    if len(value.blocks) > _MOST_BLOCKS:
        return bundle
    pictured = _pictured(bundle["text/plain"], value)
    return {**pictured, "text/html": bundle["text/html"] + pictured["text/html"]}


def page(value: Page | RulePage) -> dict[str, str]:
    """A page as Markdown, which notebooks typeset."""
    return {"text/plain": value.markdown, "text/markdown": value.markdown}


def advice(value: Advice) -> dict[str, str]:
    """The atom for an operand, and how to address it."""
    return _preformatted(atom_pages.advice_full([value]))


def swizzles(value: Found) -> dict[str, str]:
    """The layouts of a tile."""
    return _preformatted(swizzle_choices.full(value))


def brief(value: object) -> dict[str, str]:
    """A value that has no view of its own: its kind, and each field in short."""
    if not is_dataclass(value):
        return _preformatted(f"{_short(value)}\n")
    shown = [f"  {one.name}: {_short(getattr(value, one.name))}" for one in fields(value) if one.repr]
    return _preformatted("\n".join([type(value).__name__, *shown]) + "\n")


def _short(value: object) -> str:
    """One line; of several values how many there are."""
    is_long = len(repr(value)) > _LINE
    if is_long and isinstance(value, (tuple, list, dict, frozenset)):
        several = cast("Collection[object]", value)
        kinds = {type(one).__name__ for one in several}
        count = len(several)
        return f"{count:,} of {', '.join(sorted(kinds))}" if len(kinds) <= _FEW else f"{count:,} values"
    text = " ".join(f"{value!s}".split()) if is_long else repr(value)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


def _preformatted(text: str) -> dict[str, str]:
    """Text with its columns, wherever it is shown: exported notebooks bring no style sheet, so it stands in the tag."""
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        text = "\n".join([*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES:,} lines more"]) + "\n"
    return {"text/plain": text, "text/html": f'<pre style="{_COLUMNS}">{html.escape(text)}</pre>'}
