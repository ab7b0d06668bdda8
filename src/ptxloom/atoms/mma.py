"""Mma atoms: an `mma.sync` or `wgmma` with CuTe's layouts from (thread, value) to the elements of A, B and C.

CuTe counts the elements of a sparse A as if it were dense: each stored element counts for two of its row, each
group of bits in metadata for all of its chunk. Every thread has all of an operand that is in shared memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from ptxloom.atoms.digits import mode_of, thread_value_layout
from ptxloom.atoms.naming import mma_names, mma_operation
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm, must_be
from ptxloom.display import mimebundle
from ptxloom.fragments import Axis, fragment
from ptxloom.isa.products import MatrixForm, matrix_forms, mma_forms
from ptxloom.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

Operand = Literal["a", "b", "c"]
Source = Literal["registers", "shared"]

_WARPGROUP: Final = 128  # threads


@dataclass(frozen=True, slots=True)
class MmaAtom:
    """An `mma.sync` or `wgmma` as CuTe sees it; layouts are (thread, value) -> element, leftmost coordinate fastest.

    Attributes:
        instruction: The PTX instruction.
        thr_id: The threads that take part in one product: a warp, for `m8n8k4` of f16 a pair of quads, a warpgroup.
        a_layout: (thread, value) -> m + M*k.
        b_layout: (thread, value) -> n + N*k.
        c_layout: (thread, value) -> m + M*n, of C and of D.
        a_source: The memory of A: shared memory only for `wgmma`.
        e_layout: (thread, value) -> m + M*k of the metadata of a sparse A; None for dense ones.

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
    a_source: Source = "registers"
    e_layout: Layout | None = None

    _repr_mimebundle_ = mimebundle

    @property
    def names(self) -> tuple[str, ...]:
        """The CuTe C++ names; empty if CuTe C++ has no such atom."""
        return mma_names(self.instruction, self.a_source)

    @property
    def name(self) -> str:
        """The CuTe C++ name; empty if CuTe C++ has no such atom."""
        return next(iter(self.names), "")

    @property
    def operation(self) -> str:
        """The CuTe DSL operation, as Python writes it; empty if the DSL does not have it."""
        return mma_operation(self.instruction, self.a_source)

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


def mma_atom_of(form: MatrixForm, a_source: Source | None = None) -> MmaAtom:
    """The mma atom of a form.

    Args:
        form: A dense `mma`, or a `wgmma`.
        a_source: The memory of A; by default registers for `mma`, shared memory for `wgmma`.

    Raises:
        UnsupportedForm: The form has no atom here, or A cannot be in that memory.
    """
    must_be(MatrixForm, "form", form, "a form, as `isa.matrix_form` returns it")
    warpgroup = form.opcode == "wgmma"
    source: Source = a_source or ("shared" if warpgroup else "registers")
    if form.opcode == "wmma" or (form.sparse and not warpgroup):
        raise UnsupportedForm(f"`{form.spelling}` has no atom here: dense forms of `mma` do, and those of `wgmma`")
    if source == "shared" and not warpgroup:
        raise UnsupportedForm(f"`{form.spelling}` takes A from registers only")
    return _made(form, source)


@cache
def _made(form: MatrixForm, source: Source) -> MmaAtom:
    warpgroup = form.opcode == "wgmma"
    threads = [1 << place for place, digit in enumerate(fragment(form, "a").lanes) if digit.axis is not Axis.MATRIX]
    a = _shared(form.m, form.k) if source == "shared" else _layout(form, "a")
    b = _shared(form.n, form.k) if warpgroup else _layout(form, "b")
    e = _layout(form, "e") if form.sparse else None
    return MmaAtom(form, mode_of(threads), a, b, _layout(form, "d" if warpgroup else "c"), source, e)


def _shared(first: int, second: int) -> Layout:
    """An operand in shared memory: each thread of a warpgroup has all of it."""
    return Layout((_WARPGROUP, (first, second)), (0, (1, first)))


def _layout(form: MatrixForm, operand: str) -> Layout:
    held = fragment(form, operand)
    each = {"a": form.k // form.stored_k, "e": form.chunk}.get(operand, 1)  # columns represented by an element
    row, column = (held.columns, 1) if operand == "b" else (1, held.rows)  # B is (N, K): its column comes first
    if form.opcode == "mma":
        apart = [d for d in held.lanes if d.axis is not Axis.MATRIX], held.values
    else:
        apart = held.lanes, held.values
    weights = {Axis.ROW: row, Axis.COLUMN: column * each, Axis.MATRIX: 0}
    lanes, values = ([digit.weight * weights[digit.axis] for digit in digits] for digits in apart)
    within = [column << place for place in range(each.bit_length() - 1)]
    return thread_value_layout(lanes, [*within, *values], max(digit.radix for digit in (*held.lanes, *held.values)))


@cache
def mma_atoms() -> tuple[MmaAtom, ...]:
    """An atom for every dense form of `mma.sync`."""
    return tuple(map(mma_atom_of, forms_with_saturation()))


def forms_with_saturation() -> Iterator[MatrixForm]:
    """Every dense form of `mma.sync`, with and without saturation where possible."""
    for form in mma_forms():
        yield form
        if form.a_type in {"s8", "u8", "s4", "u4"}:
            yield replace(form, satfinite=True)


@cache
def gmma_atoms() -> tuple[MmaAtom, ...]:
    """Two atoms for every form of `wgmma.mma_async`, dense and sparse: A from shared memory, A from registers."""
    sources: tuple[Source, ...] = ("shared", "registers")
    return tuple(mma_atom_of(form, source) for form in matrix_forms("wgmma") for source in sources)
