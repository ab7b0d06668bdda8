"""Floating-point arithmetic (PTX ISA 9.7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.semantics.family import Family

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op

family: Final = Family()

_PLAIN: Final = frozenset({"rn", "f32", "f64"})


def _plain(op: Op) -> bool:
    return all(q in _PLAIN for q in op.qualifiers)


@family("add", "sub", "mul", types="f32 f64", when=_plain)
def arithmetic(b: Builder, op: Op) -> None:
    """Rounded to nearest even."""
    target, left, right = op.operands
    b.write(target, b.apply(f"f{op.opcode}", b.read(left, op.type), b.read(right, op.type)))


@family("fma", "mad", types="f32 f64", when=_plain)
def fma(b: Builder, op: Op) -> None:
    """D = a * b + c, rounded once."""
    target, *sources = op.operands
    b.write(target, b.intrinsic("llvm.fma", *(b.read(s, op.type) for s in sources)))
