"""How a value finds its renderer: layers below `views` name it here, and it is imported on first use.

A class draws itself in a notebook by one line in its body: `_repr_mimebundle_ = mimebundle`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

Renderer: TypeAlias = Callable[[object], dict[str, str]]

# Class -> the function that turns one into {MIME type: text}.
RENDERERS: Final = {
    "ptxloom.atoms.copy.CopyAtom": "ptxloom.views.notebook.copy_atom",
    "ptxloom.atoms.mma.MmaAtom": "ptxloom.views.notebook.mma_atom",
    "ptxloom.atoms.tensor_memory.TensorCopyAtom": "ptxloom.views.notebook.tensor_atom",
    "ptxloom.atoms.tensor_memory.TensorMmaAtom": "ptxloom.views.notebook.tensor_atom",
    "ptxloom.atoms.tiled_copy.TiledCopy": "ptxloom.views.notebook.tiled_copy",
    "ptxloom.atoms.tiled_mma.TiledMma": "ptxloom.views.notebook.tiled_mma",
    "ptxloom.banks.report.BankReport": "ptxloom.views.notebook.bank_report",
    "ptxloom.atoms.advice.Advice": "ptxloom.views.notebook.advice",
    "ptxloom.banks.swizzles.Found": "ptxloom.views.notebook.swizzles",
    "ptxloom.checker.pages.RulePage": "ptxloom.views.notebook.page",
    "ptxloom.comparison.model.Comparison": "ptxloom.views.notebook.comparison",
    "ptxloom.descriptors.box.Box": "ptxloom.views.notebook.box",
    "ptxloom.descriptors.instruction.InstructionDescriptor": "ptxloom.views.notebook.instruction_descriptor",
    "ptxloom.descriptors.matrix.MatrixDescriptor": "ptxloom.views.notebook.matrix_descriptor",
    "ptxloom.descriptors.operand.SharedOperand": "ptxloom.views.notebook.shared_operand",
    "ptxloom.descriptors.tensor_map.TensorMap": "ptxloom.views.notebook.tensor_map",
    "ptxloom.descriptors.tile.SharedTile": "ptxloom.views.notebook.shared_tile",
    "ptxloom.diagnostics.Diagnostic": "ptxloom.views.notebook.diagnostic",
    "ptxloom.diagnosis.model.Diagnosis": "ptxloom.views.notebook.diagnosis",
    "ptxloom.diagnostics.Findings": "ptxloom.views.notebook.findings",
    "ptxloom.explanation.Page": "ptxloom.views.notebook.page",
    "ptxloom.flow.graph.FlowGraph": "ptxloom.views.notebook.flow_graph",
    "ptxloom.fragments.model.Fragment": "ptxloom.views.notebook.fragment",
    "ptxloom.layout.core.Layout": "ptxloom.views.notebook.layout",
    "ptxloom.layout.swizzle.ComposedLayout": "ptxloom.views.notebook.layout",
    "ptxloom.fragments.filled.Filled": "ptxloom.views.notebook.filled",
    "ptxloom.machine.results.trace.TraceRecord": "ptxloom.views.notebook.trace_record",
    "ptxloom.machine.results.profile.Profile": "ptxloom.views.notebook.profile",
    "ptxloom.machine.results.hazard.Hazard": "ptxloom.views.notebook.hazard",
    "ptxloom.machine.results.hazard.Hazards": "ptxloom.views.notebook.hazards",
    "ptxloom.syntax.module.Module": "ptxloom.views.notebook.module",
}

LINES: Final = {"ptxloom.diagnostics.Diagnostic": "ptxloom.views.findings.finding_reports.line"}
"""Class -> the function that turns one into a line of text."""
_BRIEF: Final = "ptxloom.views.notebook.brief"
"""What draws a class that is not listed: its fields, each in short."""


def line(value: object) -> str:
    """What `str` returns for a value of a class of `LINES`.

    Args:
        value: An instance of it.
    """
    kind = type(value)
    module, _, function = LINES[f"{kind.__module__}.{kind.__qualname__}"].rpartition(".")
    return cast("Callable[[object], str]", getattr(import_module(module), function))(value)


def mimebundle(value: object, include: object = None, exclude: object = None) -> dict[str, str]:
    """What a notebook shows for `value`: MIME type -> text.

    Args:
        value: An instance of a class that has this hook.
        include: The protocol passes the wanted types; everything is cheap here, so all are given.
        exclude: Likewise the unwanted ones.
    """
    del include, exclude
    kind = type(value)
    module, _, function = RENDERERS.get(f"{kind.__module__}.{kind.__qualname__}", _BRIEF).rpartition(".")
    render = cast("Renderer", getattr(import_module(module), function))
    return render(value)
