"""Every value that can be drawn, and its picture as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.atoms import CopyAtom, MmaAtom, TensorCopyAtom, TensorMmaAtom
from ptxloom.diagnostics import UsageError
from ptxloom.fragments import fragment as fragment_of
from ptxloom.views import bank_pictures
from ptxloom.views.core.palette import DARK, LIGHT
from ptxloom.views.descriptors import descriptor_pages, instruction_pages, swizzle_picture, tensor_map_pages
from ptxloom.views.drawing.formats import as_bytes
from ptxloom.views.drawing.scene import Appearance
from ptxloom.views.flow import graph_picture
from ptxloom.views.fragments import fragment_picture, product_picture
from ptxloom.views.layouts import layout_picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.views.drawing.figure import Figure
    from ptxloom.views.drawing.scene import Scene

_LANE: Final = "lane"


def draw(
    value: object, form: str = "svg", *, colour_by: str = "", dark: bool = False, transparent: bool = False
) -> bytes:
    """A picture of a value, as the bytes of a file.

    Args:
        value: A fragment, a layout, an atom, a tiled copy or product, a descriptor, a tensor map, a bank report,
            swizzles that were found, a flow graph, a hazard, a profile, a traced instruction; or the spelling of a
            product, whose three operands are drawn as everybody knows them.
        form: `svg`, `html`, `tex`, `png` or `pdf`.
        colour_by: What a colour stands for, where there is a choice: `lane`, `register`, `matrix` or `bank`.
        dark: Light text on a dark ground.
        transparent: No ground.

    Returns:
        A file's content, the same bytes each time.

    Raises:
        UsageError: The value cannot be drawn, or not so.
        MissingPart: PNG or PDF is asked for, and the extra `pictures` is not installed.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> draw(fragment("m8n8.x1.b16"))[:4]
        b'<svg'
    """
    look = Appearance(DARK if dark else LIGHT, transparent)
    return as_bytes(figure_of(value, colour_by), form, look)


def figure_of(value: object, colour_by: str = "") -> Figure | Scene:
    """The contents of a value's picture.

    Raises:
        UsageError: The value cannot be drawn, or not in these colours.
    """
    kind = "str" if isinstance(value, str) else f"{type(value).__module__}.{type(value).__qualname__}"
    if kind in _COLOURED:
        return _COLOURED[kind](value, colour_by or _LANE)
    if kind not in _PLAIN:
        raise UsageError("value", value, "one that can be drawn: a fragment, a layout, an atom, a profile or the like")
    if colour_by:
        raise UsageError("colour_by", colour_by, f"left out, for a {kind.rpartition('.')[2]} has no choice of colours")
    return _PLAIN[kind](value)


def atom_figure(atom: CopyAtom | MmaAtom | TensorCopyAtom | TensorMmaAtom, colour_by: str = _LANE) -> Figure:
    """Who holds what of an atom; of a warpgroup's mma and of one into tensor memory, D."""
    if isinstance(atom, TensorCopyAtom):
        return fragment_picture.figure(fragment_of(atom.ptx), colour_by)
    if isinstance(atom, TensorMmaAtom):
        return fragment_picture.figure(fragment_of(atom.instruction, "d"), colour_by)
    if isinstance(atom, CopyAtom):
        return layout_picture.copy_atom(atom, colour_by)
    if atom.instruction.opcode == "wgmma":
        return fragment_picture.figure(fragment_of(atom.instruction, "d"), colour_by)
    return layout_picture.mma_atom(atom, colour_by)


def _banks(value: Any, colour_by: str) -> Figure:
    return bank_pictures.figure(value, None, colour_by)


def _filled(value: Any, colour_by: str) -> Figure:
    from ptxloom.views.fragments import filled_pictures  # noqa: PLC0415 - NumPy

    return filled_pictures.figure([value], colour_by=colour_by)


def _record(value: Any, colour_by: str) -> Figure:
    from ptxloom.views.runs import traces  # noqa: PLC0415 - NumPy

    return traces.figure(value, colour_by=colour_by)


def _hazard(value: Any) -> Figure:
    from ptxloom.views.runs import hazard_picture  # noqa: PLC0415 - only who runs has one

    return hazard_picture.figure(value)


def _diagnosis(value: Any) -> Figure:
    from ptxloom.views.runs import diagnosis_picture  # noqa: PLC0415 - only who runs has one

    return diagnosis_picture.figure(value)


def _profile(value: Any) -> Figure:
    from ptxloom.views.runs import profile_picture  # noqa: PLC0415 - only who runs has one

    return profile_picture.figure(value)


# By class: values whose colours can be chosen, and others. Their classes are named, for some take NumPy to import.
_COLOURED: Final[dict[str, Callable[[Any, str], Figure]]] = {
    "ptxloom.atoms.copy.CopyAtom": atom_figure,
    "ptxloom.atoms.mma.MmaAtom": atom_figure,
    "ptxloom.atoms.tensor_memory.TensorCopyAtom": atom_figure,
    "ptxloom.atoms.tensor_memory.TensorMmaAtom": atom_figure,
    "ptxloom.atoms.tiled_copy.TiledCopy": layout_picture.tiled_copy,
    "ptxloom.atoms.tiled_mma.TiledMma": layout_picture.tiled_mma,
    "ptxloom.banks.report.BankReport": _banks,
    "ptxloom.fragments.filled.Filled": _filled,
    "ptxloom.fragments.model.Fragment": fragment_picture.figure,
    "ptxloom.machine.results.trace.TraceRecord": _record,
    "str": product_picture.figure,
}
_PLAIN: Final[dict[str, Callable[[Any], Figure | Scene]]] = {
    "ptxloom.banks.swizzles.Found": swizzle_picture.figure,
    "ptxloom.diagnosis.model.Diagnosis": _diagnosis,
    "ptxloom.descriptors.box.Box": tensor_map_pages.figure,
    "ptxloom.descriptors.instruction.InstructionDescriptor": instruction_pages.figure,
    "ptxloom.descriptors.matrix.MatrixDescriptor": descriptor_pages.of_descriptor,
    "ptxloom.descriptors.operand.SharedOperand": descriptor_pages.figure,
    "ptxloom.descriptors.tensor_map.TensorMap": tensor_map_pages.of_map,
    "ptxloom.descriptors.tile.SharedTile": descriptor_pages.of_tile,
    "ptxloom.flow.graph.FlowGraph": graph_picture.scene,
    "ptxloom.layout.core.Layout": layout_picture.figure,
    "ptxloom.layout.swizzle.ComposedLayout": layout_picture.figure,
    "ptxloom.machine.results.hazard.Hazard": _hazard,
    "ptxloom.machine.results.profile.Profile": _profile,
}
