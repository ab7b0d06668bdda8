"""Mma atoms: an `mma.sync` with CuTe's layouts from (thread, value) to the elements of A, B and C (CuTe: MMA_Atom)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from ptxloom.atoms.digits import mode_of, thread_value_layout
from ptxloom.atoms.naming import mma_names, mma_operation
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.display import mimebundle
from ptxloom.fragments import Axis, fragment
from ptxloom.isa.products import MatrixForm, mma_forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.layout import Layout

Operand = Literal["a", "b", "c"]


@dataclass(frozen=True, slots=True)
class MmaAtom:
    """An `mma.sync` as CuTe sees it; layouts are (thread, value) -> element, leftmost coordinate fastest.

    Attributes:
        instruction: The PTX instruction.
        thr_id: The lanes that take part in one product: the warp, or for `m8n8k4` of f16 a pair of quads.
        a_layout: (thread, value) -> m + M*k.
        b_layout: (thread, value) -> n + N*k.
        c_layout: (thread, value) -> m + M*n, of C and of D.

    Example:
        >>> from ptxloom.atoms import atom
        >>> found = atom("m16n8k16.row.col.f32.f16.f16.f32")
        >>> found.shape_mnk
        (16, 8, 16)
        >>> print(found.a_layout)
        ((4,8),(2,2,2)):((32,1),(16,8,128))
    """

    instruction: MatrixForm
    thr_id: Layout
    a_layout: Layout
    b_layout: Layout
    c_layout: Layout

    _repr_mimebundle_ = mimebundle

    @property
    def names(self) -> tuple[str, ...]:
        """The CuTe C++ names; none if CuTe C++ has no such atom."""
        return mma_names(self.instruction)

    @property
    def name(self) -> str:
        """The CuTe C++ name; empty if CuTe C++ has no such atom."""
        return next(iter(self.names), "")

    @property
    def operation(self) -> str:
        """The CuTe DSL operation, as Python writes it; empty if the DSL has none."""
        return mma_operation(self.instruction)

    @property
    def ptx(self) -> str:
        """The instruction's spelling."""
        return self.instruction.spelling

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        """Rows of C, columns of C, and the depth of the product."""
        return self.instruction.m, self.instruction.n, self.instruction.k

    def layout(self, operand: Operand) -> Layout:
        """The layout of operand a, b or c.

        Args:
            operand: `a`, `b` or `c`.

        Returns:
            (thread, value) -> element, leftmost coordinate fastest.
        """
        return {"a": self.a_layout, "b": self.b_layout, "c": self.c_layout}[operand]

    def extent(self, operand: Operand) -> tuple[int, int]:
        """The two coordinates of an operand as CuTe orders them: (M, K), (N, K) or (M, N).

        Args:
            operand: `a`, `b` or `c`.

        Returns:
            Two sizes.
        """
        m, n, k = self.shape_mnk
        return {"a": (m, k), "b": (n, k), "c": (m, n)}[operand]

    def __str__(self) -> str:
        return self.name or self.ptx


@cache
def mma_atom_of(form: MatrixForm) -> MmaAtom:
    """The mma atom of a form."""
    if form.opcode != "mma" or form.sparse:
        raise UnsupportedForm(f"`{form.spelling}` has no atom here: only dense forms of `mma` do")
    threads = [1 << place for place, digit in enumerate(fragment(form, "a").lanes) if digit.axis is not Axis.MATRIX]
    return MmaAtom(form, mode_of(threads), *(_layout(form, operand) for operand in ("a", "b", "c")))


def _layout(form: MatrixForm, operand: Operand) -> Layout:
    held = fragment(form, operand)
    row, column = (held.columns, 1) if operand == "b" else (1, held.rows)  # B is (N, K): its column comes first
    weights = {Axis.ROW: row, Axis.COLUMN: column}
    lanes, values = (
        [digit.weight * weights[digit.axis] for digit in digits if digit.axis is not Axis.MATRIX]
        for digits in (held.lanes, held.values)
    )
    return thread_value_layout(lanes, values)


@cache
def mma_atoms() -> tuple[MmaAtom, ...]:
    """An atom for every dense form of `mma.sync`."""
    return tuple(map(mma_atom_of, forms_with_saturation()))


def forms_with_saturation() -> Iterator[MatrixForm]:
    """Every dense form of `mma.sync`, those that can saturate both ways."""
    for form in mma_forms():
        yield form
        if form.a_type in {"s8", "u8", "s4", "u4"}:
            yield replace(form, satfinite=True)
