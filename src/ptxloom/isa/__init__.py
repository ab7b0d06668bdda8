"""The PTX instruction set as data: forms, constraints, availability, targets, types and shapes."""

from ptxloom.isa.form import Form, Qualifiers
from ptxloom.isa.forms import Resolution, forms, resolve
from ptxloom.isa.load import instruction_classes, instruction_spec, judged, known, opcodes
from ptxloom.isa.page import explain
from ptxloom.isa.shapes import MatrixShape, MmaShape
from ptxloom.isa.target import Target, targets
from ptxloom.isa.types import ElementType, element_type
from ptxloom.isa.version import PtxVersion, versions

__all__ = [
    "ElementType",
    "Form",
    "MatrixShape",
    "MmaShape",
    "PtxVersion",
    "Qualifiers",
    "Resolution",
    "Target",
    "element_type",
    "explain",
    "forms",
    "instruction_classes",
    "instruction_spec",
    "judged",
    "known",
    "opcodes",
    "resolve",
    "targets",
    "versions",
]
