"""Descriptors of copies and products: matrix descriptors (64 bits), instruction descriptors (32), tensor maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.descriptors.tensor_instruction import TensorInstruction, tensor_instruction  # its module's name, too
from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.descriptors.box import Box, Chunk, Place
    from ptxloom.descriptors.encoding import encode_im2col, encode_im2col_wide, encode_tiled, packed_strides
    from ptxloom.descriptors.instruction import InstructionDescriptor
    from ptxloom.descriptors.matrix import MatrixDescriptor, Word
    from ptxloom.descriptors.operand import CoreMatrix, SharedOperand, canonical_layout
    from ptxloom.descriptors.remarks import Remark
    from ptxloom.descriptors.swizzling import SWIZZLE_MODES, SwizzleMode, swizzle_mode
    from ptxloom.descriptors.tensor_map import Im2col, TensorMap
    from ptxloom.descriptors.tensor_types import DATA_TYPES, DataType
    from ptxloom.descriptors.tile import SharedTile, Step

__all__ = [
    "DATA_TYPES",
    "SWIZZLE_MODES",
    "Box",
    "Chunk",
    "CoreMatrix",
    "DataType",
    "Im2col",
    "InstructionDescriptor",
    "MatrixDescriptor",
    "Place",
    "Remark",
    "SharedOperand",
    "SharedTile",
    "Step",
    "SwizzleMode",
    "TensorInstruction",
    "TensorMap",
    "Word",
    "canonical_layout",
    "encode_im2col",
    "encode_im2col_wide",
    "encode_tiled",
    "packed_strides",
    "swizzle_mode",
    "tensor_instruction",
]

__getattr__ = later(
    __name__,
    {
        "ptxloom.descriptors.box": "Box Chunk Place",
        "ptxloom.descriptors.encoding": "encode_im2col encode_im2col_wide encode_tiled packed_strides",
        "ptxloom.descriptors.instruction": "InstructionDescriptor",
        "ptxloom.descriptors.matrix": "MatrixDescriptor Word",
        "ptxloom.descriptors.operand": "CoreMatrix SharedOperand canonical_layout",
        "ptxloom.descriptors.remarks": "Remark",
        "ptxloom.descriptors.swizzling": "SWIZZLE_MODES SwizzleMode swizzle_mode",
        "ptxloom.descriptors.tensor_map": "Im2col TensorMap",
        "ptxloom.descriptors.tensor_types": "DATA_TYPES DataType",
        "ptxloom.descriptors.tile": "SharedTile Step",
    },
)
