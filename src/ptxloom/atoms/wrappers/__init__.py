"""Wrappers to paste for an atom: CUDA C++, PTX, Triton, CuTe C++ and the CuTe DSL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.lookup import atom
from ptxloom.atoms.mma import MmaAtom
from ptxloom.atoms.tensor_memory import TensorCopyAtom, TensorMmaAtom
from ptxloom.atoms.wrappers.cuda import cuda
from ptxloom.atoms.wrappers.cute import cute, cute_dsl
from ptxloom.atoms.wrappers.ptx import ptx
from ptxloom.atoms.wrappers.triton import triton
from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ptxloom.layout import Swizzle

LANGUAGES: Final[Mapping[str, Callable[[CopyAtom | MmaAtom], str]]] = {
    "cuda": cuda,
    "ptx": ptx,
    "triton": triton,
    "cute": cute,
    "cute-dsl": cute_dsl,
}


def emit(what: CopyAtom | MmaAtom | str, language: str = "cuda", swizzle: Swizzle | None = None) -> str:
    """Code that issues an atom's instruction, ready to paste.

    Args:
        what: The atom, or its name; a spelling without a state space means shared memory.
        language: One of `LANGUAGES`.
        swizzle: The tile's swizzle, on indices of the atom's elements; only for cuda, whose code computes addresses.

    Returns:
        The code, with a comment on what it requires.

    Raises:
        UsageError: There is no such language, or its code computes no addresses, or the swizzle splits rows.
        UnsupportedForm: There is no such atom, or the language cannot express it.

    Example:
        >>> print(emit("SM75_U32x1_MOVM_T", "ptx"))
        // movmatrix.sync.aligned.m8n8.trans.b16: PTX 7.8 or later and sm_75 or later
        {
            .reg .b32 %d0;
            .reg .b32 %a0;
            // %a0: this lane's two elements of the matrix
            movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;
        }
    """
    must_be(CopyAtom | MmaAtom | str, "what", what, "an atom, or its name")
    if language not in LANGUAGES:
        raise UsageError("language", language, f"one of {', '.join(LANGUAGES)}")
    named = atom(what) if isinstance(what, str) else what
    if isinstance(named, TensorCopyAtom | TensorMmaAtom):
        raise UnsupportedForm(f"there is no code here for `{named}`, whose operands are addresses of tensor memory")
    found = named
    if found.instruction.opcode == "wgmma" and not language.startswith("cute"):
        raise UnsupportedForm(
            f"`{found.ptx}` continues after it was issued, beyond any wrapper; emit it as cute or cute-dsl"
        )
    if isinstance(found, CopyAtom) and found.instruction.opcode != "movmatrix" and not found.instruction.space:
        words = found.ptx.split(".")
        place = next(i for i, word in enumerate(words) if word.startswith("x") and word[1:].isdecimal()) + 1
        place += found.instruction.trans
        found = _same_with(found, ".".join((*words[:place], "shared", *words[place:])))
    if swizzle is None:
        return LANGUAGES[language](found).rstrip("\n")
    _check_swizzle(found, language, swizzle)
    return cuda(found, swizzle).rstrip("\n")


def _check_swizzle(found: CopyAtom | MmaAtom, language: str, swizzle: Swizzle) -> None:
    """Check that a swizzle is meaningful: it keeps rows of 16 bytes whole, and the code computes addresses.

    Raises:
        UsageError: It is not.
    """
    if language != "cuda" or not isinstance(found, CopyAtom) or found.instruction.opcode == "movmatrix":
        legal = "left out: only cuda code of ldmatrix and stmatrix computes addresses"
        raise UsageError("swizzle", str(swizzle), legal)
    move = found.instruction
    if move.source.bits != move.destination.bits:
        raise UsageError("swizzle", str(swizzle), "left out: it counts elements, and this instruction unpacks them")
    together = (128 // move.held.bits).bit_length() - 1
    if swizzle.base < together or swizzle.shift < 1:
        raise UsageError("swizzle", str(swizzle), f"one with M at least {together} and S positive, or rows are split")


def _same_with(found: CopyAtom, spelling: str) -> CopyAtom:
    """The atom of another spelling of the same move."""
    from dataclasses import replace  # noqa: PLC0415 - beside its only use

    from ptxloom.isa.matrix import matrix_move  # noqa: PLC0415 - beside its only use

    return replace(found, instruction=matrix_move(spelling))
