"""ptxloom reads, checks, runs and draws NVIDIA PTX on any machine; no GPU is needed.

Every public name is imported from the package on first use, so `import ptxloom` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.atoms import Advice as Advice
    from ptxloom.atoms import CopyAtom as CopyAtom
    from ptxloom.atoms import MmaAtom as MmaAtom
    from ptxloom.atoms import TiledCopy as TiledCopy
    from ptxloom.atoms import TiledMma as TiledMma
    from ptxloom.atoms import advise as advise
    from ptxloom.atoms import atom as atom
    from ptxloom.atoms import make_tiled_copy as make_tiled_copy
    from ptxloom.atoms import make_tiled_copy_a as make_tiled_copy_a
    from ptxloom.atoms import make_tiled_copy_b as make_tiled_copy_b
    from ptxloom.atoms import make_tiled_copy_c as make_tiled_copy_c
    from ptxloom.atoms import make_tiled_mma as make_tiled_mma
    from ptxloom.atoms.emit import emit as emit
    from ptxloom.atoms.swizzles import find_swizzles as find_swizzles
    from ptxloom.atoms.swizzles import make_tile as make_tile
    from ptxloom.banks import BankReport as BankReport
    from ptxloom.banks import bank_conflicts as bank_conflicts
    from ptxloom.checker import RulePage as RulePage
    from ptxloom.checker import check as check
    from ptxloom.checker import explain as explain
    from ptxloom.diagnostics import Diagnostic as Diagnostic
    from ptxloom.diagnostics import Fix as Fix
    from ptxloom.diagnostics import Label as Label
    from ptxloom.diagnostics import PtxloomError as PtxloomError
    from ptxloom.diagnostics import Severity as Severity
    from ptxloom.diagnostics import UnsupportedForm as UnsupportedForm
    from ptxloom.diagnostics import UsageError as UsageError
    from ptxloom.flow import FlowGraph as FlowGraph
    from ptxloom.flow import flow_graph as flow_graph
    from ptxloom.fragments import Element as Element
    from ptxloom.fragments import Evidence as Evidence
    from ptxloom.fragments import Fragment as Fragment
    from ptxloom.fragments import UndefinedBehavior as UndefinedBehavior
    from ptxloom.fragments import fragment as fragment
    from ptxloom.fragments.execute import ldmatrix as ldmatrix
    from ptxloom.fragments.execute import movmatrix as movmatrix
    from ptxloom.fragments.execute import stmatrix as stmatrix
    from ptxloom.layout import ComposedLayout as ComposedLayout
    from ptxloom.layout import Layout as Layout
    from ptxloom.layout import LayoutError as LayoutError
    from ptxloom.layout import LinearLayout as LinearLayout
    from ptxloom.layout import Swizzle as Swizzle
    from ptxloom.layout import Tensor as Tensor
    from ptxloom.layout import blocked_product as blocked_product
    from ptxloom.layout import coalesce as coalesce
    from ptxloom.layout import complement as complement
    from ptxloom.layout import composition as composition
    from ptxloom.layout import downcast as downcast
    from ptxloom.layout import filter as filter
    from ptxloom.layout import flat_divide as flat_divide
    from ptxloom.layout import flat_product as flat_product
    from ptxloom.layout import left_inverse as left_inverse
    from ptxloom.layout import logical_divide as logical_divide
    from ptxloom.layout import logical_product as logical_product
    from ptxloom.layout import make_layout as make_layout
    from ptxloom.layout import raked_product as raked_product
    from ptxloom.layout import recast as recast
    from ptxloom.layout import right_inverse as right_inverse
    from ptxloom.layout import tiled_divide as tiled_divide
    from ptxloom.layout import tiled_product as tiled_product
    from ptxloom.layout import to_linear as to_linear
    from ptxloom.layout import upcast as upcast
    from ptxloom.layout import with_shape as with_shape
    from ptxloom.layout import zipped_divide as zipped_divide
    from ptxloom.layout import zipped_product as zipped_product
    from ptxloom.machine import Hazard as Hazard
    from ptxloom.machine import Kernel as Kernel
    from ptxloom.machine import LaunchError as LaunchError
    from ptxloom.machine import LaunchResult as LaunchResult
    from ptxloom.machine import UnsupportedInstruction as UnsupportedInstruction
    from ptxloom.machine import kernel as kernel
    from ptxloom.machine.profile import Profile as Profile
    from ptxloom.machine.tensor.batch import mma as mma
    from ptxloom.machine.trace import Trace as Trace
    from ptxloom.machine.trace import TraceRecord as TraceRecord
    from ptxloom.source import Source as Source
    from ptxloom.source import Span as Span
    from ptxloom.syntax import EditConflict as EditConflict
    from ptxloom.syntax import Editor as Editor
    from ptxloom.syntax import Module as Module
    from ptxloom.syntax import Node as Node
    from ptxloom.syntax import UnreadableFile as UnreadableFile
    from ptxloom.syntax import edit as edit
    from ptxloom.syntax import instructions as instructions
    from ptxloom.syntax import load as load
    from ptxloom.syntax import parse as parse
    from ptxloom.syntax import walk as walk

__version__ = "0.1.0"

# Public name -> the module that defines it; the imports above say the same to type checkers (a test compares them).
_EXPORTS: Final = {
    "emit": "atoms.emit",
    "find_swizzles": "atoms.swizzles",
    "make_tile": "atoms.swizzles",
    "Advice": "atoms",
    "TiledCopy": "atoms",
    "TiledMma": "atoms",
    "advise": "atoms",
    "make_tiled_copy": "atoms",
    "make_tiled_copy_a": "atoms",
    "make_tiled_copy_b": "atoms",
    "make_tiled_copy_c": "atoms",
    "make_tiled_mma": "atoms",
    "CopyAtom": "atoms",
    "MmaAtom": "atoms",
    "atom": "atoms",
    "RulePage": "checker",
    "check": "checker",
    "explain": "checker",
    "Diagnostic": "diagnostics",
    "Fix": "diagnostics",
    "Label": "diagnostics",
    "PtxloomError": "diagnostics",
    "Severity": "diagnostics",
    "UnsupportedForm": "diagnostics",
    "UsageError": "diagnostics",
    "FlowGraph": "flow",
    "flow_graph": "flow",
    "Element": "fragments",
    "Evidence": "fragments",
    "Fragment": "fragments",
    "UndefinedBehavior": "fragments",
    "fragment": "fragments",
    "ldmatrix": "fragments.execute",
    "movmatrix": "fragments.execute",
    "stmatrix": "fragments.execute",
    "ComposedLayout": "layout",
    "Layout": "layout",
    "LayoutError": "layout",
    "LinearLayout": "layout",
    "Swizzle": "layout",
    "Tensor": "layout",
    "blocked_product": "layout",
    "coalesce": "layout",
    "complement": "layout",
    "composition": "layout",
    "downcast": "layout",
    "filter": "layout",
    "flat_divide": "layout",
    "flat_product": "layout",
    "left_inverse": "layout",
    "logical_divide": "layout",
    "logical_product": "layout",
    "make_layout": "layout",
    "raked_product": "layout",
    "recast": "layout",
    "right_inverse": "layout",
    "tiled_divide": "layout",
    "tiled_product": "layout",
    "to_linear": "layout",
    "upcast": "layout",
    "with_shape": "layout",
    "zipped_divide": "layout",
    "zipped_product": "layout",
    "BankReport": "banks",
    "bank_conflicts": "banks",
    "Hazard": "machine",
    "Kernel": "machine",
    "LaunchError": "machine",
    "LaunchResult": "machine",
    "UnsupportedInstruction": "machine",
    "kernel": "machine",
    "Profile": "machine.profile",
    "Trace": "machine.trace",
    "TraceRecord": "machine.trace",
    "mma": "machine.tensor.batch",
    "Source": "source",
    "Span": "source",
    "EditConflict": "syntax",
    "Editor": "syntax",
    "edit": "syntax",
    "Module": "syntax",
    "Node": "syntax",
    "UnreadableFile": "syntax",
    "instructions": "syntax",
    "load": "syntax",
    "parse": "syntax",
    "walk": "syntax",
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
