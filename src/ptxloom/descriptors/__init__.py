"""What copies and products are told: matrix descriptors (64 bits), instruction descriptors (32), tensor maps."""

from __future__ import annotations

from ptxloom.descriptors.box import Box, Chunk, Place
from ptxloom.descriptors.encoding import encode_im2col, encode_tiled, packed_strides
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.descriptors.matrix import MatrixDescriptor, Word
from ptxloom.descriptors.operand import CoreMatrix, SharedOperand, canonical_layout
from ptxloom.descriptors.remarks import Remark
from ptxloom.descriptors.swizzling import SWIZZLE_MODES, SwizzleMode, swizzle_mode
from ptxloom.descriptors.tensor_instruction import TensorInstruction, tensor_instruction
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
    "encode_tiled",
    "packed_strides",
    "swizzle_mode",
    "tensor_instruction",
]
