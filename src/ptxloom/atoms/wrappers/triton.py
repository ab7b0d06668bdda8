"""Triton: the instruction as `inline_asm_elementwise`, each lane holding one element of every tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.wrappers.parts import Registers, c_name, mma_operands, needs_of, registers
from ptxloom.diagnostics import UnsupportedForm

if TYPE_CHECKING:
    from ptxloom.atoms.mma import MmaAtom

_TYPES: Final = {"float": "tl.float32", "double": "tl.float64", "int": "tl.int32", "unsigned": "tl.int32"}


def triton(atom: CopyAtom | MmaAtom) -> str:
    """A function for Triton kernels, if the instruction fits: it must not write memory that Triton does not track.

    Raises:
        UnsupportedForm: It does not fit.
    """
    if not isinstance(atom, CopyAtom):
        return _mma(atom)
    match atom.instruction.opcode:
        case "movmatrix":
            told = "x: int32, two 16-bit elements of an 8x8 matrix in each lane."
            return _function(atom, [registers("d", 1, "")], [registers("x", 1, "")], told)
        case "ldmatrix":
            told = (
                "row: int32, the shared address of each lane's row; Triton exposes no shared addresses, so it must\n"
                "    come from other inline assembly."
            )
            row = Registers("row", 1, "unsigned", "b32", "r")
            return _function(atom, [registers("d", atom.instruction.registers, "")], [row], told)
        case _:
            raise UnsupportedForm(
                f"`{atom.ptx}` does not fit `inline_asm_elementwise`: it writes shared memory, whose addresses Triton "
                "does not expose, and Triton would not know that it changed"
            )


def _mma(atom: MmaAtom) -> str:
    if atom.instruction.scale_vector:
        raise UnsupportedForm(f"`{atom.ptx}` does not fit `inline_asm_elementwise`: its selectors are not tensors")
    d, *inputs = mma_operands(atom)
    return _function(atom, [d], inputs, "Each argument is one register of each lane: one element per thread.")


def _function(atom: CopyAtom | MmaAtom, outputs: list[Registers], inputs: list[Registers], told: str) -> str:
    """A `@triton.jit` function with one argument for each register."""
    names = [one.name if one.count == 1 else f"{one.name}{i}" for one in inputs for i in range(one.count)]
    text = _text(atom, outputs, inputs)
    kinds = [_TYPES[one.c_type] for one in outputs for _ in range(one.count)]
    constraints = ",".join([f"={one.constraint}" for one in outputs for _ in range(one.count)])
    constraints += "," + ",".join(one.constraint for one in inputs for _ in range(one.count))
    dtype = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    return f'''import triton
import triton.language as tl


@triton.jit
def {c_name(atom)}({", ".join(names)}):
    """{atom.ptx}: {needs_of(atom).targets_in_words}.

    {told}
    """
    return tl.inline_asm_elementwise(
        "{text}",
        "{constraints}",
        args=[{", ".join(names)}],
        dtype={dtype},
        is_pure=False,
        pack=1,
    )
'''


def _text(atom: CopyAtom | MmaAtom, outputs: list[Registers], inputs: list[Registers]) -> str:
    """The instruction with Triton's `$0`, `$1`, ... for registers."""
    numbers = iter(range(64))
    groups = [[f"${next(numbers)}" for _ in range(one.count)] for one in (*outputs, *inputs)]
    if isinstance(atom, CopyAtom):
        first, second = groups
        if atom.instruction.opcode == "movmatrix":
            return f"{atom.ptx} {first[0]}, {second[0]};"
        return f"{atom.ptx} {{{', '.join(first)}}}, [{second[0]}];{_permutation(first) if atom.permuted else ''}"
    vectors = [f"{{{', '.join(group)}}}" for group in groups]
    return f"{atom.ptx} {', '.join(vectors)};"


def _permutation(held: list[str]) -> str:
    """The exchange of bytes, in place, with a temporary register."""
    steps = [
        f" prmt.b32 t, {a}, {b}, 0x7632; prmt.b32 {a}, {a}, {b}, 0x5410; mov.b32 {b}, t;"
        for a, b in zip(held[::2], held[1::2], strict=True)
    ]
    return f" {{ .reg .b32 t;{''.join(steps)} }}"
