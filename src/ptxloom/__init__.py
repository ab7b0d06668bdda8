"""ptxloom reads, checks, runs and draws NVIDIA PTX on any machine; no GPU is needed.

What most programs need is here: `load`, `parse`, `cuda`, `check`, `explain`, `edit`, `fragment`, `ldmatrix`,
`bank_conflicts`, `kernel` and what they return or raise. Everything else is a name of one of the namespaces:

- `atoms`: CuTe's atoms, tiled copies and products, the advisor, wrappers to paste.
- `banks`: bank conflicts of one access, and the swizzles and paddings that avoid them.
- `checker`: the static judge, and the pages of its rules.
- `comparison`: arrays compared with what they should be.
- `descriptors`: matrix descriptors and tensor maps: their bits, and the memory that they describe.
- `diagnosis`: why a result is wrong.
- `diagnostics`: a finding, and the exceptions.
- `flow`: the control-flow graphs of functions.
- `fragments`: which lane holds which element of a matrix.
- `isa`: targets, versions, types, shapes and the forms of every instruction.
- `layout`: CuTe's layout algebra.
- `machine`: kernels on this CPU: results, hazards, profiles, traces.
- `source`: text, and places in it.
- `syntax`: the tree, its nodes (`syntax.tree`) and its editor.

Names and namespaces are imported on first use, so `import ptxloom` costs nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom import (
        atoms,
        banks,
        checker,
        comparison,
        descriptors,
        diagnosis,
        diagnostics,
        flow,
        fragments,
        isa,
        layout,
        machine,
        source,
        syntax,
    )
    from ptxloom.banks import BankReport, bank_conflicts
    from ptxloom.checker import check
    from ptxloom.cuda_driver import driver
    from ptxloom.descriptors import MatrixDescriptor, TensorMap
    from ptxloom.diagnosis import diagnose
    from ptxloom.diagnostics import Diagnostic, PtxloomError, Severity, UnsupportedForm, UsageError
    from ptxloom.explanation import Page, explain
    from ptxloom.flow import FlowGraph, flow_graph
    from ptxloom.fragments import Fragment, fragment
    from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix
    from ptxloom.isa import Target
    from ptxloom.machine import (
        Device,
        Hazard,
        IllegalPtx,
        Kernel,
        LaunchError,
        LaunchResult,
        Profile,
        Provenance,
        Trace,
        UnsupportedInstruction,
        global_array,
        kernel,
        mma,
        surface,
        tensor_map,
        tensor_map_im2col,
        texture,
    )
    from ptxloom.syntax import Module, cuda, edit, instructions, load, parse, walk
    from ptxloom.views.pictures import draw

__version__ = "0.2.0"

__all__ = [
    "BankReport",
    "Device",
    "Diagnostic",
    "FlowGraph",
    "Fragment",
    "Hazard",
    "IllegalPtx",
    "Kernel",
    "LaunchError",
    "LaunchResult",
    "MatrixDescriptor",
    "Module",
    "Page",
    "Profile",
    "Provenance",
    "PtxloomError",
    "Severity",
    "Target",
    "TensorMap",
    "Trace",
    "UnsupportedForm",
    "UnsupportedInstruction",
    "UsageError",
    "atoms",
    "bank_conflicts",
    "banks",
    "check",
    "checker",
    "comparison",
    "cuda",
    "descriptors",
    "diagnose",
    "diagnosis",
    "diagnostics",
    "draw",
    "driver",
    "edit",
    "explain",
    "flow",
    "flow_graph",
    "fragment",
    "fragments",
    "global_array",
    "instructions",
    "isa",
    "kernel",
    "layout",
    "ldmatrix",
    "load",
    "machine",
    "mma",
    "movmatrix",
    "parse",
    "source",
    "stmatrix",
    "surface",
    "syntax",
    "tensor_map",
    "tensor_map_im2col",
    "texture",
    "walk",
]

# The package that defines each public name; the imports above give type checkers the same (a test compares them).
_EXPORTS: Final = {
    name: module
    for module, names in {
        "banks": "BankReport bank_conflicts",
        "checker": "check",
        "cuda_driver": "driver",
        "descriptors": "MatrixDescriptor TensorMap",
        "diagnosis": "diagnose",
        "diagnostics": "Diagnostic PtxloomError Severity UnsupportedForm UsageError",
        "explanation": "Page explain",
        "flow": "FlowGraph flow_graph",
        "fragments": "Fragment fragment",
        "fragments.execute": "ldmatrix movmatrix stmatrix",
        "isa": "Target",
        "machine": """
            Device Hazard IllegalPtx Kernel LaunchError LaunchResult Profile Provenance Trace UnsupportedInstruction
            global_array kernel mma surface tensor_map tensor_map_im2col texture
        """,
        "syntax": "Module cuda edit instructions load parse walk",
        "views.pictures": "draw",
    }.items()
    for name in names.split()
}
_NAMESPACES: Final = frozenset(
    """
    atoms banks checker comparison descriptors diagnosis diagnostics flow fragments isa layout machine source syntax
    """.split()  # noqa: SIM905 - as above
)


def __getattr__(name: str) -> object:
    """Import a public name or namespace when it is first asked for (PEP 562)."""
    module = name if name in _NAMESPACES else _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ptxloom.extras import needed  # noqa: PLC0415 - importing the package imports nothing else of it

    with needed():
        imported = import_module(f"{__name__}.{module}")
        if module == "machine" and os.environ.get("PTXLOOM_WHY"):
            import_module(f"{__name__}.diagnosis.watched").tell_of_all()
    if name in _NAMESPACES:
        return imported
    value: object = getattr(imported, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({"__version__", *_EXPORTS, *_NAMESPACES})
