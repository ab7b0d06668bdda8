"""The PTX instruction set as data: forms, constraints, availability, targets, types and shapes."""

from typing import TYPE_CHECKING

from ptxloom.isa.form import Form, Qualifiers
from ptxloom.isa.load import instruction_classes, instruction_spec, judged, known, opcodes
from ptxloom.isa.matrix import MatrixMove
from ptxloom.isa.notation import OperandSlot, Slot, SyntaxLine
from ptxloom.isa.products import MatrixForm, matrix_form, matrix_forms
from ptxloom.isa.resolution.forms import Resolution, forms, resolve
from ptxloom.isa.shapes import MatrixShape, MmaShape
from ptxloom.isa.spec import Condition, Constraint, Feature, InstructionSpec, Limits, Need, OperandRule, Tolerance
from ptxloom.isa.target import Target, TargetRange, targets
from ptxloom.isa.tensor_products import TensorProduct
from ptxloom.isa.types import ElementType, Kind, element_type
from ptxloom.isa.version import PtxVersion, versions
from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.isa.pages.page import instruction_page
    from ptxloom.isa.spelled import Spelled

__all__ = [
    "Condition",
    "Constraint",
    "ElementType",
    "Feature",
    "Form",
    "InstructionSpec",
    "Kind",
    "Limits",
    "MatrixForm",
    "MatrixMove",
    "MatrixShape",
    "MmaShape",
    "Need",
    "OperandRule",
    "OperandSlot",
    "PtxVersion",
    "Qualifiers",
    "Resolution",
    "Slot",
    "Spelled",
    "SyntaxLine",
    "Target",
    "TargetRange",
    "TensorProduct",
    "Tolerance",
    "element_type",
    "forms",
    "instruction_classes",
    "instruction_page",
    "instruction_spec",
    "judged",
    "known",
    "matrix_form",
    "matrix_forms",
    "opcodes",
    "resolve",
    "targets",
    "versions",
]

__getattr__ = later(  # launches need neither pages nor short names
    __name__,
    {"ptxloom.isa.pages.page": "instruction_page", "ptxloom.isa.spelled": "Spelled"},
)
