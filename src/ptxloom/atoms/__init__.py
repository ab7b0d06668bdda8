"""CuTe's view of the tensor-core instructions: atoms, tiled copies and products, and which atom serves an operand."""

from ptxloom.atoms.copy import CopyAtom, copy_atom_of, copy_atoms
from ptxloom.atoms.lookup import atom, copy_atom, mma_atom
from ptxloom.atoms.mma import MmaAtom, mma_atom_of, mma_atoms

__all__ = [
    "CopyAtom",
    "MmaAtom",
    "atom",
    "copy_atom",
    "copy_atom_of",
    "copy_atoms",
    "mma_atom",
    "mma_atom_of",
    "mma_atoms",
]
