"""Tiled products: an mma atom repeated over threads and over a tile (CuTe: TiledMMA).

Threads are numbered by (V, M, N, K): V inside the atom, then the atom's index along each of the product's axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.atoms.lookup import mma_atom
from ptxloom.atoms.mma import MmaAtom
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.layout import (
    ComposedLayout,
    Layout,
    Tensor,
    complement,
    composition,
    logical_divide,
    make_layout,
    product,
    right_inverse,
    tiled_product,
    zipped_divide,
)

if TYPE_CHECKING:
    from ptxloom.atoms.mma import Operand
    from ptxloom.layout import Tiler

AXES: Final = {"a": (0, 2), "b": (1, 2), "c": (0, 1)}  # the axes of (M, N, K) of each operand


@dataclass(frozen=True, slots=True)
class ThreadValues:
    """A tensor distributed over threads.

    Attributes:
        threads: The start of each thread's elements.
        values: Their offsets from there: (values of an atom, then repetitions along each axis).
    """

    threads: Layout
    values: Layout

    def of(self, tensor: Tensor, thread: int) -> Tensor:
        """One thread's part of the tensor."""
        start = self.threads(thread)
        match tensor.layout:
            case Layout():
                return Tensor(tensor.offset + start, self.values)
            case ComposedLayout(outer, offset, _):
                return Tensor(tensor.offset, ComposedLayout(outer, offset + start, self.values))


def inner_layout(tensor: Tensor) -> Layout:
    """The tensor's layout, without its swizzle, if any."""
    return tensor.layout if isinstance(tensor.layout, Layout) else tensor.layout.inner


@dataclass(frozen=True, slots=True)
class TiledMma:
    """An mma atom repeated over threads.

    Attributes:
        atom: The atom.
        atom_layout: (M, N, K) -> the group of threads that computes the atom there.
        permutation: For each of M, N and K the tile that all atoms together cover, as a size or a layout that
            reorders it; None for exactly their size.

    Example:
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> mma.size, mma.tile_mnk
        (128, (32, 32, 16))
        >>> print(mma.layout_tv("a"))
        ((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))
    """

    atom: MmaAtom
    atom_layout: Layout
    permutation: tuple[Tiler, Tiler, Tiler] = (None, None, None)

    _repr_mimebundle_ = mimebundle

    @property
    def thr_layout_vmnk(self) -> Layout:
        """(V, M, N, K) -> thread."""
        return tiled_product(self.atom.thr_id, self.atom_layout)

    @property
    def size(self) -> int:
        """The number of threads."""
        return self.thr_layout_vmnk.size

    @property
    def tile_mnk(self) -> tuple[int, int, int]:
        """The extent in M, N and K of one step of all atoms."""
        m, n, k = (self._tile(axis) for axis in range(3))
        return m, n, k

    def _tile(self, axis: int) -> int:
        match self.permutation[axis]:
            case None:
                return self.atom.shape_mnk[axis] * self.atom_layout[axis].size
            case int(size):
                return size
            case Layout() as layout:
                return layout.size
            case tuple():
                raise UsageError("permutation", self.permutation, "sizes, layouts or None")

    def layout_tv(self, operand: Operand) -> Layout:
        """(thread, value) -> element of the operand's tile, its leftmost coordinate fastest.

        Args:
            operand: `a`, `b` or `c`.

        Returns:
            A layout over the whole tile.
        """
        first, second = AXES[operand]
        dealt = self.deal(operand, Layout((self.tile_mnk[first], self.tile_mnk[second])))
        return make_layout(dealt.threads, dealt.values)

    def deal(self, operand: Operand, tensor: Layout) -> ThreadValues:
        """Distribute an operand's tensor over the threads.

        Args:
            operand: a, b or c.
            tensor: (M, K) for a, (N, K) for b, (M, N) for c.

        Returns:
            Each thread's part of the tensor.

        Raises:
            LayoutError: The tensor does not divide into tiles.
        """
        first, second = AXES[operand]
        shape = self.atom.shape_mnk
        tiled = logical_divide(tensor, (self.permutation[first], self.permutation[second]))
        atoms = zipped_divide(tiled, (Layout(shape[first]), Layout(shape[second])))
        held = composition(atoms, (self.atom.layout(operand), None))
        inside, repeated = held[0], held[1]
        groups = [self.atom_layout[axis].size for axis in (first, second)]
        over_threads, over_values = zipped_divide(repeated, (Layout(groups[0]), Layout(groups[1])))
        return ThreadValues(
            composition(self._by_vmnk(operand, inside[0], over_threads), self._thread_to_vmnk()),
            make_layout(inside[1], over_values),
        )

    def _by_vmnk(self, operand: Operand, in_atom: Layout, over_threads: Layout) -> Layout:
        """The threads' starts by (V, M, N, K): equal for those that differ only in the axis that the operand lacks."""
        modes = dict(zip(AXES[operand], over_threads, strict=True))
        along = [modes.get(axis, Layout(self.atom_layout[axis].size, 0)) for axis in range(3)]
        return make_layout(in_atom, *along)

    def _thread_to_vmnk(self) -> Layout:
        """Thread -> its (V, M, N, K) as one number; threads beyond the atoms repeat the others."""
        threads = self.thr_layout_vmnk
        left_out = complement(threads)
        number = right_inverse(make_layout(threads, left_out))
        return composition(Layout((threads.size, left_out.size), (1, 0)), number)

    def partition(self, operand: Operand, tensor: Tensor, thread: int) -> Tensor:
        """The part of an operand that a thread holds: (values of an atom, repetitions along one axis, along the other).

        Args:
            operand: `a`, `b` or `c`.
            tensor: The tensor.
            thread: The thread.

        Returns:
            A tensor over the thread's part.
        """
        _expect_thread(thread, self.thr_layout_vmnk.cosize)
        dealt = self.deal(operand, inner_layout(tensor))
        return _unfolded(dealt).of(tensor, thread)

    def fragment_layout(self, operand: Operand, shape: tuple[int, int]) -> Layout:
        """The register layout of a thread's part of a tensor: dense, an atom's values first (CuTe: partition_fragment).

        Args:
            operand: `a`, `b` or `c`.
            shape: The shape of the whole tensor, in elements.

        Returns:
            A dense layout with the size of the result of `partition`.
        """
        dealt = _unfolded(self.deal(operand, Layout(shape)))
        return Layout(tuple(mode.size for mode in dealt.values))

    def __str__(self) -> str:
        return f"{self.atom} {self.atom_layout}, tile {'x'.join(map(str, self.tile_mnk))}"


def _unfolded(dealt: ThreadValues) -> ThreadValues:
    """The values as (V, rest, rest): the repetitions as top-level modes."""
    inside, repeated = dealt.values
    return ThreadValues(dealt.threads, make_layout(inside, *repeated))


def _expect_thread(thread: int, count: int) -> None:
    if not 0 <= thread < count:
        raise UsageError("thread", thread, f"from 0 to {count - 1}")


def make_tiled_mma(
    atom: MmaAtom | str,
    atom_layout: Layout | tuple[int, int, int] = (1, 1, 1),
    permutation: tuple[Tiler, Tiler, Tiler] = (None, None, None),
) -> TiledMma:
    """Repeat an mma atom over threads.

    Args:
        atom: The atom, or its name.
        atom_layout: The numbers of atoms along M, N and K, M fastest; or a layout of them.
        permutation: The tile along M, N and K, if it is larger than the atoms, or reordered.

    Returns:
        The tiled mma.

    Raises:
        UsageError: `atom_layout` or `permutation` does not fit the atom.
        UnsupportedForm: There is no such atom.

    Example:
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> mma.size, mma.tile_mnk
        (128, (32, 32, 16))
    """
    must_be(MmaAtom | str, "atom", atom, "an mma atom, or its name")
    found = mma_atom(atom) if isinstance(atom, str) else atom
    layout = atom_layout if isinstance(atom_layout, Layout) else Layout(atom_layout)
    if layout.rank != len(found.shape_mnk):
        raise UsageError("atom_layout", atom_layout, "three numbers, or a layout of three modes: M, N and K")
    for axis, tile in enumerate(permutation):
        covered = found.shape_mnk[axis] * layout[axis].size
        size = tile.size if isinstance(tile, Layout) else product(tile) if isinstance(tile, int) else covered
        if size % covered:
            raise UsageError("permutation", permutation, f"a multiple of {covered} along {'MNK'[axis]}")
    return TiledMma(found, layout, permutation)
