"""The vocabulary of programs: every instruction in the ISA data for a target, spelled with a program's registers.

An instruction is a path of `ptxloom.conformance`: its operands are registers of a bank, constants, or the thread's own
cell of memory. Code that compilers are known to get wrong, or may treat freely, is an idiom with a name; a program
has only the requested ones.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.conformance.paths import WHOLE_WARP, paths
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.fuzzing.idioms import OFTEN, among
from ptxloom.fuzzing.nodes import Reach
from ptxloom.isa import instruction_spec, opcodes
from ptxloom.isa.prove import some_forms
from ptxloom.isa.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.conformance.paths import Path
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion


ENGINES: Final = ("tensor", "mma_async", "kind::f16")
"""Qualifiers of operations that a whole CTA issues: copies of tensors, products of four warps, of tensor memory."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The instructions that programs may have.

    Attributes:
        opcodes: By the reach of a place: opcodes, repeated by weight.
        paths: By opcode.
        idioms: The requested idioms.
        engines: Those of `ENGINES` that the target has.
    """

    opcodes: Mapping[Reach, tuple[str, ...]]
    paths: Mapping[str, tuple[Path, ...]]
    idioms: frozenset[str] = field(default_factory=frozenset)
    engines: frozenset[str] = field(default_factory=frozenset)


@cache
def vocabulary(
    target: Target, version: PtxVersion, idioms: frozenset[str] = frozenset(), only: tuple[str, ...] = ()
) -> Vocabulary:
    """The instructions of a target, with paths that match `only`.

    Raises:
        PtxloomError: No instruction does.
    """
    found: dict[str, list[Path]] = {}
    for path in paths(target, version, only):
        if _suits(path, idioms):
            found.setdefault(path.form.opcode, []).append(path)
    every = [opcode for opcode in found for _ in range(max(1, round(10 * OFTEN.get(opcode, 1.0))))]
    lanes = tuple(opcode for opcode in every if opcode not in WHOLE_WARP)
    if not lanes:
        raise PtxloomError(f"no instruction of {target} that one lane runs alone fits {', '.join(only)}")
    return Vocabulary(
        {Reach.LANE: lanes, Reach.WARP: tuple(every), Reach.CTA: tuple(every)},
        {opcode: tuple(rows) for opcode, rows in found.items()},
        idioms,
        engines(target, version),
    )


@cache
def engines(target: Target, version: PtxVersion) -> frozenset[str]:
    """The engines that a target has."""
    return frozenset(
        word
        for opcode in opcodes()
        for word in ENGINES
        if f".{word}" in instruction_spec(opcode).syntax
        and any(
            word in form.words and all(one.available(version, target) for one in form.features)
            for form in some_forms(instruction_spec(opcode))
        )
    )


def guardable(path: Path, idioms: frozenset[str]) -> bool:
    """Whether an instruction may be guarded."""
    return path.form.opcode not in WHOLE_WARP and (not among(path.form.opcode, "unguarded") or "guarded" in idioms)


def has_open_nan(path: Path) -> bool:
    """Whether PTX leaves the bits of a NaN result unspecified."""
    opcode = path.form.opcode
    signs = among(opcode, "open_nan") and any(_is_float(one.type) for one in path.operands)
    wide = not among(opcode, "moved") and any(one.type.name == "f64" and one.role == "kept" for one in path.operands)
    return signs or wide or _is_copy(path)


def _is_copy(path: Path) -> bool:
    """A conversion of a float to its own type."""
    filling = path.form.filling
    return among(path.form.opcode, "conversions") and filling.get("dtype") == filling.get("atype") in {
        "f16",
        "f32",
        "f64",
    }


def _suits(path: Path, idioms: frozenset[str]) -> bool:
    opcode, filling = path.form.opcode, path.form.filling
    floats = any(_is_float(one.type) for one in path.operands)
    fused = among(opcode, "fused") and floats and not filling.get("rnd")
    whole_elsewhere = path.cell is not None and path.cell.whole and not path.cell.home.startswith("shared")
    summed = (
        among(opcode, "sums")
        and filling.get("op") == "add"
        and filling.get("type") == "f64"
        and path.cell is not None
        and path.cell.home.startswith("shared")
    )
    if summed and "nan-bits" not in idioms:
        return False
    if among(opcode, "reciprocals") and "approx" in filling.values() and "folded" not in idioms:
        return False
    return not among(opcode, "hardware_chooses") and not (fused and "contraction" not in idioms) and not whole_elsewhere


def _is_float(type_: object) -> bool:
    return getattr(type_, "kind", None) is Kind.FLOAT
