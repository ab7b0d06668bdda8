"""ptxloom reads, checks, runs and draws NVIDIA PTX on any machine; no GPU is needed.

Every public name is imported from the package on first use, so `import ptxloom` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.atoms import (
        Advice,
        CopyAtom,
        MmaAtom,
        TiledCopy,
        TiledMma,
        advise,
        atom,
        make_tiled_copy,
        make_tiled_copy_a,
        make_tiled_copy_b,
        make_tiled_copy_c,
        make_tiled_mma,
    )
    from ptxloom.atoms.wrappers import emit
    from ptxloom.atoms.swizzles import find_swizzles, make_tile
    from ptxloom.banks import BankReport, bank_conflicts
    from ptxloom.checker import RulePage, check, explain
    from ptxloom.diagnostics import Diagnostic, Fix, Label, PtxloomError, Severity, UnsupportedForm, UsageError
    from ptxloom.flow import FlowGraph, flow_graph
    from ptxloom.fragments import Element, Evidence, Fragment, UndefinedBehavior, fragment
    from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix
    from ptxloom.layout import (
        ComposedLayout,
        Layout,
        LayoutError,
        LinearLayout,
        Swizzle,
        Tensor,
        blocked_product,
        coalesce,
        complement,
        composition,
        downcast,
        filter,
        flat_divide,
        flat_product,
        left_inverse,
        logical_divide,
        logical_product,
        make_layout,
        raked_product,
        recast,
        right_inverse,
        tiled_divide,
        tiled_product,
        to_linear,
        upcast,
        with_shape,
        zipped_divide,
        zipped_product,
    )
    from ptxloom.machine import (
        Hazard,
        IllegalPtx,
        Kernel,
        LaunchError,
        LaunchResult,
        UnsupportedInstruction,
        global_array,
        kernel,
    )
    from ptxloom.machine.results.profile import Profile
    from ptxloom.machine.results.trace import Trace, TraceRecord
    from ptxloom.machine.tensor.batch import mma
    from ptxloom.source import Source, Span
    from ptxloom.syntax import EditConflict, Editor, Module, Node, UnreadableFile, edit, instructions, load, parse, walk

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "BankReport",
    "ComposedLayout",
    "CopyAtom",
    "Diagnostic",
    "EditConflict",
    "Editor",
    "Element",
    "Evidence",
    "Fix",
    "FlowGraph",
    "Fragment",
    "Hazard",
    "IllegalPtx",
    "Kernel",
    "Label",
    "LaunchError",
    "LaunchResult",
    "Layout",
    "LayoutError",
    "LinearLayout",
    "MmaAtom",
    "Module",
    "Node",
    "Profile",
    "PtxloomError",
    "RulePage",
    "Severity",
    "Source",
    "Span",
    "Swizzle",
    "Tensor",
    "TiledCopy",
    "TiledMma",
    "Trace",
    "TraceRecord",
    "UndefinedBehavior",
    "UnreadableFile",
    "UnsupportedForm",
    "UnsupportedInstruction",
    "UsageError",
    "advise",
    "atom",
    "bank_conflicts",
    "blocked_product",
    "check",
    "coalesce",
    "complement",
    "composition",
    "downcast",
    "edit",
    "emit",
    "explain",
    "filter",
    "find_swizzles",
    "flat_divide",
    "flat_product",
    "flow_graph",
    "fragment",
    "global_array",
    "instructions",
    "kernel",
    "ldmatrix",
    "left_inverse",
    "load",
    "logical_divide",
    "logical_product",
    "make_layout",
    "make_tile",
    "make_tiled_copy",
    "make_tiled_copy_a",
    "make_tiled_copy_b",
    "make_tiled_copy_c",
    "make_tiled_mma",
    "mma",
    "movmatrix",
    "parse",
    "raked_product",
    "recast",
    "right_inverse",
    "stmatrix",
    "tiled_divide",
    "tiled_product",
    "to_linear",
    "upcast",
    "walk",
    "with_shape",
    "zipped_divide",
    "zipped_product",
]

# The module that defines each public name; the imports above say the same to type checkers (a test compares them).
_EXPORTS: Final = {
    name: module
    for module, names in {
        "atoms": """
            Advice CopyAtom MmaAtom TiledCopy TiledMma advise atom make_tiled_copy make_tiled_copy_a
            make_tiled_copy_b make_tiled_copy_c make_tiled_mma
        """,
        "atoms.wrappers": "emit",
        "atoms.swizzles": "find_swizzles make_tile",
        "banks": "BankReport bank_conflicts",
        "checker": "RulePage check explain",
        "diagnostics": "Diagnostic Fix Label PtxloomError Severity UnsupportedForm UsageError",
        "flow": "FlowGraph flow_graph",
        "fragments": "Element Evidence Fragment UndefinedBehavior fragment",
        "fragments.execute": "ldmatrix movmatrix stmatrix",
        "layout": """
            ComposedLayout Layout LayoutError LinearLayout Swizzle Tensor blocked_product coalesce complement
            composition downcast filter flat_divide flat_product left_inverse logical_divide logical_product
            make_layout raked_product recast right_inverse tiled_divide tiled_product to_linear upcast
            with_shape zipped_divide zipped_product
        """,
        "machine": "Hazard IllegalPtx Kernel LaunchError LaunchResult UnsupportedInstruction global_array kernel",
        "machine.results.profile": "Profile",
        "machine.tensor.batch": "mma",
        "machine.results.trace": "Trace TraceRecord",
        "source": "Source Span",
        "syntax": "EditConflict Editor Module Node UnreadableFile edit instructions load parse walk",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for (PEP 562)."""
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({"__version__", *_EXPORTS})
