"""The emitted CUDA wrappers that an sm_90 runs: kernels that use each of them once, and their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.atoms import CopyAtom, available, copy_atoms
from ptxloom.atoms.wrappers import emit
from ptxloom.atoms.wrappers.parts import c_name
from ptxloom.isa.target import Target

if TYPE_CHECKING:
    import numpy.typing as npt

PITCH: Final = 64
TILE_BYTES: Final = 16 * PITCH


def atoms() -> list[CopyAtom]:
    """The atoms of 16-bit elements."""
    arch = Target.parse("sm_90")
    return [atom for atom in copy_atoms() if available(atom, arch)]


def inputs(atom: CopyAtom) -> npt.NDArray[np.uint32]:
    """The tile that a load reads, or the registers, lane by lane, that a store or a movmatrix takes."""
    words = TILE_BYTES // 4 if atom.instruction.opcode == "ldmatrix" else 32 * atom.instruction.registers
    seed = sum(map(ord, atom.ptx))
    return np.random.default_rng(seed).integers(0, 1 << 32, words, np.uint32)


def output_words(atom: CopyAtom) -> int:
    """How many words a kernel writes."""
    return TILE_BYTES // 4 if atom.instruction.opcode == "stmatrix" else 32 * atom.instruction.registers


def source() -> str:
    """One CUDA file: every wrapper, and a kernel `run_` and the wrapper's name for each."""
    return "\n".join(f"{emit(atom, 'cuda')}\n{_kernel(atom)}" for atom in atoms())


def _kernel(atom: CopyAtom) -> str:
    count, name = atom.instruction.registers, c_name(atom)
    tile = f"__shared__ __align__(128) char tile[{TILE_BYTES}]; unsigned* words = (unsigned*)tile;"
    every = f"for (int i = threadIdx.x; i < {TILE_BYTES // 4}; i += 32)"
    registers = f"for (int i = 0; i < {count}; ++i)"
    mine = f"threadIdx.x * {count} + i"
    match atom.instruction.opcode:
        case "ldmatrix":
            body = f"{tile} {every} words[i] = in[i]; __syncthreads(); unsigned d[{count}]; "
            body += f"{name}(d, {name}_row(tile, {PITCH})); {registers} out[{mine}] = d[i];"
        case "stmatrix":
            body = f"{tile} {every} words[i] = 0; __syncthreads(); unsigned s[{count}]; {registers} s[i] = in[{mine}]; "
            body += f"{name}({name}_row(tile, {PITCH}), s); __syncthreads(); {every} out[i] = words[i];"
        case _:
            body = f"unsigned d; {name}(d, in[threadIdx.x]); out[threadIdx.x] = d;"
    return f'extern "C" __global__ void run_{name}(const unsigned* in, unsigned* out) {{ {body} }}'
