"""CuTe's view of the tensor-core instructions: atoms, tiled copies and products, and the atom for an operand."""

from ptxloom.atoms.advice import Advice, advise, available, blas_majors, usage_of
from ptxloom.atoms.copy import CopyAtom, copy_atom_of, copy_atoms
from ptxloom.atoms.fit import Coordinates, Fit, Major, Usage, fit
from ptxloom.atoms.lookup import atom, copy_atom, mma_atom
from ptxloom.atoms.mma import MmaAtom, Operand, Source, gmma_atoms, mma_atom_of, mma_atoms
from ptxloom.atoms.tensor_memory import TensorCopyAtom, TensorMmaAtom, tensor_copy_atoms
from ptxloom.atoms.tiled_copy import TiledCopy, make_tiled_copy, make_tiled_copy_a, make_tiled_copy_b, make_tiled_copy_c
from ptxloom.atoms.tiled_mma import ThreadValues, TiledMma, make_tiled_mma
from ptxloom.atoms.wrappers import emit

__all__ = [
    "Advice",
    "Coordinates",
    "CopyAtom",
    "Fit",
    "Major",
    "MmaAtom",
    "Operand",
    "Source",
    "TensorCopyAtom",
    "TensorMmaAtom",
    "ThreadValues",
    "TiledCopy",
    "TiledMma",
    "Usage",
    "advise",
    "atom",
    "available",
    "blas_majors",
    "copy_atom",
    "copy_atom_of",
    "copy_atoms",
    "emit",
    "fit",
    "gmma_atoms",
    "make_tiled_copy",
    "make_tiled_copy_a",
    "make_tiled_copy_b",
    "make_tiled_copy_c",
    "make_tiled_mma",
    "mma_atom",
    "mma_atom_of",
    "mma_atoms",
    "tensor_copy_atoms",
    "usage_of",
]
