"""Tiled copies: a copy atom repeated over threads and over a tile (CuTe: TiledCopy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.fit import whole_elements
from ptxloom.atoms.lookup import copy_atom
from ptxloom.atoms.tiled_mma import AXES, ThreadValues, TiledMma, inner_layout
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.layout import (
    Layout,
    LayoutError,
    Tensor,
    coalesce,
    composition,
    logical_product,
    make_layout,
    product,
    raked_product,
    recast,
    right_inverse,
    with_shape,
    zipped_divide,
)
from ptxloom.layout.recast import blocks

if TYPE_CHECKING:
    from ptxloom.atoms.mma import Operand


@dataclass(frozen=True, slots=True)
class TiledCopy:
    """A copy atom repeated over threads.

    Attributes:
        atom: The atom.
        bits: The width of the copied elements.
        layout_tv: (thread, value) -> element of the tile, on the side that the atom's RefLayout describes.
        tiler: The tile's extents.
        repeats: The repetitions of the mma's atom along each axis of the tile, for an mma's operand; empty if
            no mma prescribes the order of the values.

    Example:
        >>> from ptxloom.atoms import make_tiled_copy, make_tiled_mma
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> copy = make_tiled_copy_a("SM75_U32x4_LDSM_N", mma)
        >>> smem = Tensor(0, Layout.row_major((128, 64)))
        >>> print(copy.partition_s(smem, 1).layout)
        ((8,1),4,4):((1,0),2048,16)
    """

    atom: CopyAtom
    bits: int
    layout_tv: Layout
    tiler: tuple[int, ...]
    repeats: tuple[int, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def size(self) -> int:
        """The number of threads."""
        return self.layout_tv[0].size

    @property
    def _reference(self) -> Layout:
        return recast(self.atom.ref_layout, 1, self.bits)

    def layout_s_tv(self) -> Layout:
        """(thread, value) -> element of the source tile."""
        return self._side_tv(self.atom.src_layout)

    def layout_d_tv(self) -> Layout:
        """(thread, value) -> element of the destination tile."""
        return self._side_tv(self.atom.dst_layout)

    def _side_tv(self, side: Layout) -> Layout:
        dealt = self._deal(Layout(self.tiler), side)
        return make_layout(dealt.threads, dealt.values[0])

    def partition_s(self, tensor: Tensor, thread: int) -> Tensor:
        """The part of the source that a thread addresses: (values, repetitions along each axis).

        Args:
            tensor: The tensor.
            thread: The thread.

        Returns:
            A tensor over the thread's part.
        """
        return self._partition(tensor, thread, self.atom.src_layout)

    def partition_d(self, tensor: Tensor, thread: int) -> Tensor:
        """The part of the destination that a thread holds: (values, repetitions along each axis).

        Args:
            tensor: The tensor.
            thread: The thread.

        Returns:
            A tensor over the thread's part.
        """
        return self._partition(tensor, thread, self.atom.dst_layout)

    def _partition(self, tensor: Tensor, thread: int, side: Layout) -> Tensor:
        if not 0 <= thread < self.size:
            raise UsageError("thread", thread, f"from 0 to {self.size - 1}")
        return self._deal(inner_layout(tensor), side).of(tensor, thread)

    def _deal(self, tensor: Layout, side: Layout) -> ThreadValues:
        """Distribute a tensor like one side of the atom."""
        reference = self._reference
        atoms = zipped_divide(self.layout_tv, (Layout(reference[0].size), Layout(reference[1].size)))
        to_side = composition(right_inverse(reference), recast(side, 1, self.bits))
        turned = composition(atoms, (to_side, None))
        (in_atom, values), (over_threads, over_values) = turned[0], turned[1]
        zipped = make_layout(make_layout(in_atom, over_threads), make_layout(values, over_values))
        tiles = zipped_divide(tensor, tuple(Layout(extent) for extent in self.tiler))
        dealt = composition(tiles, (coalesce(zipped, (1, (1, 1))), None))
        (threads, held), repeated = dealt[0], dealt[1]
        return ThreadValues(threads, make_layout(held, *repeated))

    def retile(self, registers: Layout) -> Layout:
        """A thread's registers, laid out for an mma, in the order in which this copy fills or reads them.

        Args:
            registers: (values of an mma atom, repetitions along each axis).

        Returns:
            (values of this copy, repetitions along each axis), the same registers.

        Raises:
            LayoutError: The copy's values do not fill whole mma atoms.
        """
        values = registers[0].size
        repeats, order = self._order(values)
        by_atom = zipped_divide(order, Layout(self._reference[1].size))
        tiled = zipped_divide(registers, (Layout(values), *map(Layout, repeats)))
        held = composition(tiled, (by_atom, None))
        return make_layout(held[0], *list(held[1])[1:])

    def _order(self, values: int) -> tuple[tuple[int, ...], Layout]:
        """The repetitions of an mma atom of `values` values in the tile, and the copy's values as (value, repetition).

        For the operand of an mma the copy's values are in the mma's own order. Otherwise repetitions are assumed to
        follow each other as in the tile. CUTLASS 4.2 always assumes that, and is wrong for a permuted tile.
        """
        if self.repeats:
            return self.repeats, Layout(values * product(self.repeats))
        tile = with_shape(right_inverse(self.layout_tv), self.tiler)
        block = blocks(tile, self.size * values)
        return tuple(mode.size for mode in block), logical_product(Layout(values), right_inverse(block))

    def __str__(self) -> str:
        return f"{self.atom} {self.layout_tv}, tile {'x'.join(map(str, self.tiler))} of {self.bits} bits"


def make_tiled_copy(atom: CopyAtom | str, threads: Layout, values: Layout, bits: int) -> TiledCopy:
    """Repeat a copy atom so that each thread has a block of `values`, and the threads are side by side.

    Args:
        atom: The atom, or its name.
        threads: (m, n) -> thread.
        values: (m, n) -> value.
        bits: The width of an element.

    Returns:
        The tiled copy, which distributes a tile over the threads.

    Raises:
        LayoutError: The two layouts do not form a tile, or the atom does not divide it.

    Example:
        >>> print(make_tiled_copy("SM75_U32x4_LDSM_N", Layout.row_major((16, 2)), Layout.row_major((1, 8)), 16))
        SM75_U32x4_LDSM_N ((2,16),8):((128,1),16), tile 16x16 of 16 bits
    """
    tile = raked_product(threads, values)
    layout_tv = with_shape(right_inverse(tile), (threads.size, values.size))
    return _checked(atom, bits, layout_tv, tuple(mode.size for mode in tile))


def _for_operand(atom: CopyAtom | str, mma: TiledMma, operand: Operand, bits: int | None) -> TiledCopy:
    must_be(CopyAtom | str, "atom", atom, "a copy atom, or its name")
    must_be(TiledMma, "mma", mma, "a tiled mma, as `make_tiled_mma` returns it")
    first, second = AXES[operand]
    width = bits or mma.atom.instruction.container_bits(operand)
    tiler = (mma.tile_mnk[first], mma.tile_mnk[second])
    layout_tv = mma.layout_tv(operand)
    return _checked(atom, width, layout_tv, tiler, tuple(mode.size for mode in layout_tv[1][1]))


def make_tiled_copy_a(atom: CopyAtom | str, mma: TiledMma) -> TiledCopy:
    """The copy that fills operand A of a tiled mma.

    Args:
        atom: The copy atom, or its name.
        mma: The tiled mma.

    Returns:
        The tiled copy; `.retile` puts registers into the order of the mma.

    Raises:
        LayoutError: The atom does not divide the operand's tile.

    Example:
        >>> from ptxloom.atoms import make_tiled_mma
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> print(make_tiled_copy_a("SM75_U32x4_LDSM_N", mma))
        SM75_U32x4_LDSM_N ((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0))), tile 32x16 of 16 bits
    """
    return _for_operand(atom, mma, "a", None)


def make_tiled_copy_b(atom: CopyAtom | str, mma: TiledMma) -> TiledCopy:
    """The copy that fills operand B of a tiled mma.

    Args:
        atom: The copy atom, or its name.
        mma: The tiled mma.

    Returns:
        The tiled copy; `.retile` puts registers into the order of the mma.

    Raises:
        LayoutError: The atom does not divide the operand's tile.

    Example:
        >>> from ptxloom.atoms import make_tiled_mma
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> print(make_tiled_copy_b("SM75_U32x4_LDSM_N", mma))
        SM75_U32x4_LDSM_N ((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0))), tile 32x16 of 16 bits
    """
    return _for_operand(atom, mma, "b", None)


def make_tiled_copy_c(atom: CopyAtom | str, mma: TiledMma, bits: int | None = None) -> TiledCopy:
    """The copy that fills or stores operand C of a tiled mma.

    Args:
        atom: The atom, or its name.
        mma: The tiled mma.
        bits: The width of the elements, if they were converted; by default the accumulator's.

    Returns:
        The tiled copy; `.retile` puts registers into the order of the mma.

    Raises:
        LayoutError: The atom does not divide the operand's tile.

    Example:
        >>> from ptxloom.atoms import make_tiled_mma
        >>> mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))
        >>> print(make_tiled_copy_c("SM90_U32x4_STSM_N", mma, 16))
        SM90_U32x4_STSM_N ((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(0,512))), tile 32x32 of 16 bits
    """
    return _for_operand(atom, mma, "c", bits)


def _checked(
    atom: CopyAtom | str, bits: int, layout_tv: Layout, tiler: tuple[int, ...], repeats: tuple[int, ...] = ()
) -> TiledCopy:
    found = copy_atom(atom) if isinstance(atom, str) else atom
    reference = whole_elements(found.ref_layout, bits)
    if reference is None:
        raise LayoutError(f"{found} would split elements of {bits} bits between threads")
    for mode, name in ((0, "threads"), (1, "values")):
        if layout_tv[mode].size % reference[mode].size:
            raise LayoutError(
                f"{found} distributes {reference[mode].size} {name} of {bits} bits, which do not divide the "
                f"{layout_tv[mode].size} of the tile {'x'.join(map(str, tiler))}"
            )
    return TiledCopy(found, bits, layout_tv, tiler, repeats)
