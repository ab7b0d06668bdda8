"""Copy atoms: a matrix move with CuTe's three layouts from (thread, bit) to the bits of a tile (CuTe: Copy_Atom).

The tile is a column of 16-byte rows, matrix after matrix: bit 128 r + b is bit b of row r. Elements have the width that
they have in registers, so a row is 128 bits even if memory packs it tighter.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ptxloom.atoms.digits import bits_of_element, mode_of, thread_value_layout, worths
from ptxloom.atoms.naming import copy_name, copy_operation
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.fragments import Axis, Fragment, fragment
from ptxloom.isa.matrix import MatrixMove, spellings, transpose
from ptxloom.layout import Layout, make_layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from ptxloom.fragments import Digit

    Registers = npt.NDArray[np.uint32]

_ROW_BITS: Final = 128
_WARP: Final = Layout(32)
_PERMUTATION: Final = (0, 2, 1, 3)  # bytes of a pair of registers, in pairs: {t0.01, t0.23, t1.01, t1.23} -> this order


@dataclass(frozen=True, slots=True)
class CopyAtom:
    """A matrix move in CuTe's terms.

    Attributes:
        instruction: The PTX instruction.
        permuted: Whether the atom exchanges bytes between registers after the load, so that the threads hold
            what `stmatrix.m16n8.trans` stores: of each pair of registers t0 and t1, the first becomes
            {t0.0, t0.1, t1.0, t1.1}, the second {t0.2, t0.3, t1.2, t1.3}. CuTe then also distributes the addresses in
            another order, as in `src_layout`.
        src_layout: (thread, bit) of the source to the tile's bits.
        dst_layout: (thread, bit) of the destination to the tile's bits. For movmatrix, in the frame of the
            transposed matrix: CuTe's traits leave the transposition out, and so do these.

    Example:
        >>> from ptxloom.atoms import atom
        >>> found = atom("SM75_U32x4_LDSM_N")
        >>> found.ptx
        'ldmatrix.sync.aligned.m8n8.x4.shared.b16'
        >>> print(found.dst_layout)
        (32,(32,4)):(32,(1,1024))
    """

    instruction: MatrixMove
    permuted: bool
    src_layout: Layout
    dst_layout: Layout

    _repr_mimebundle_ = mimebundle

    @property
    def name(self) -> str:
        """The CuTe C++ name; empty if CuTe C++ has no such atom."""
        return copy_name(self.instruction, self.permuted)

    @property
    def operation(self) -> str:
        """The CuTe DSL operation, as Python writes it; empty if the DSL does not have it."""
        return copy_operation(self.instruction, self.permuted)

    @property
    def ptx(self) -> str:
        """The instruction's spelling."""
        return self.instruction.spelling

    @property
    def loads(self) -> bool:
        """Whether registers are the destination."""
        return self.instruction.opcode != "stmatrix"

    @property
    def thr_id(self) -> Layout:
        """The participating threads: a warp."""
        return _WARP

    @property
    def ref_layout(self) -> Layout:
        """The reference layout: the side in registers."""
        return self.dst_layout if self.loads else self.src_layout

    def copy(self, *arrays: npt.NDArray[Any]) -> Registers | None:
        """Run the atom on NumPy arrays, for any number of warps at once.

        Args:
            arrays: For a load (memory, addresses); for a store (memory, addresses, registers); for movmatrix
                (registers,). Memory is uint8 (..., bytes); addresses are (..., 32), registers uint32
                (..., 32, registers). Addresses are those of the instruction, lane by lane.

        Returns:
            The registers, permuted where the atom permutes; None for a store, which writes memory in place.

        Raises:
            UsageError: An array is missing or of the wrong type or shape.
            UndefinedBehavior: An address is misaligned or outside the memory.
        """
        from ptxloom.fragments import execute  # noqa: PLC0415 - NumPy only where arrays are

        needed = {"ldmatrix": 2, "stmatrix": 3, "movmatrix": 1}[self.instruction.opcode]
        if len(arrays) != needed:
            raise UsageError("number of arrays", len(arrays), f"{needed} for {self.instruction.opcode}")
        match self.instruction.opcode:
            case "stmatrix":
                execute.stmatrix(self.instruction, *arrays)
                return None
            case "movmatrix":
                return execute.movmatrix(*arrays)
            case _:
                registers = execute.ldmatrix(self.instruction, *arrays)
        return _permute(registers) if self.permuted else registers

    def __str__(self) -> str:
        return self.name or self.operation or self.ptx


def _permute(registers: Registers) -> Registers:
    """Exchange the upper half of each first register with the lower half of the second."""
    import numpy as np  # noqa: PLC0415 - only where arrays are

    halves = np.ascontiguousarray(registers).view(np.uint16).reshape(*registers.shape[:-1], -1, 4)
    return np.ascontiguousarray(halves[..., _PERMUTATION]).view(np.uint32).reshape(registers.shape)


@cache
def copy_atoms() -> tuple[CopyAtom, ...]:
    """Every copy atom: each ldmatrix, stmatrix and movmatrix, and the permuted ones, with or without a CuTe name."""
    moves = [move for move in spellings() if move.space == "shared"]
    moves.append(transpose())
    plain = [copy_atom_of(move) for move in moves]
    return (*plain, *(copy_atom_of(move, permuted=True) for move in moves if move.shape.elements == 256))


@cache
def copy_atom_of(move: MatrixMove, permuted: bool = False) -> CopyAtom:
    """The copy atom of a matrix move.

    Args:
        move: The instruction.
        permuted: Whether bytes are permuted after the load; only for ldmatrix of shape m16n16.

    Raises:
        UsageError: CuTe permutes no such move.
    """
    must_be(MatrixMove, "move", move, "a matrix move, as `isa.MatrixMove` describes one")
    if permuted and (move.opcode != "ldmatrix" or move.shape.elements != 256):
        raise UsageError("permuted", permuted, f"False for {move}; CuTe permutes only what ldmatrix.m16n16 loads")
    if move.opcode == "movmatrix":
        held = fragment(move, "a")
        whole = _register_side(held, _worth(held))
        return CopyAtom(move, False, whole, whole)
    held = fragment(move)
    if permuted:
        return _permuted_atom(move, held)
    registers = _register_side(held, _worth(held))
    memory = _memory_side(_worth(held))
    return (
        CopyAtom(move, False, memory, registers)
        if move.opcode == "ldmatrix"
        else CopyAtom(move, False, registers, memory)
    )


def _worth(held: Fragment) -> dict[Digit, int]:
    """The weight of each digit of a coordinate, in bits of the tile."""
    weights = {Axis.MATRIX: held.rows * _ROW_BITS, Axis.ROW: _ROW_BITS, Axis.COLUMN: held.stride}
    return {digit: digit.weight * weights[digit.axis] for digit in (*held.lanes, *held.values)}


def _register_side(held: Fragment, worth: dict[Digit, int]) -> Layout:
    return thread_value_layout(
        worths(held.lanes, worth.__getitem__), (*bits_of_element(held.stride), *worths(held.values, worth.__getitem__))
    )


def _memory_side(worth: dict[Digit, int]) -> Layout:
    """The row of 128 bits at each lane's address; lanes whose address is ignored repeat the others."""
    digits = sorted(
        (digit for digit in worth if digit.axis is not Axis.COLUMN),
        key=lambda digit: (digit.axis is Axis.MATRIX, digit.weight),
    )
    lanes = [worth[digit] for digit in digits]
    return make_layout(mode_of([*lanes, *[0] * (5 - len(lanes))]), Layout(_ROW_BITS))


def _permuted_atom(move: MatrixMove, held: Fragment) -> CopyAtom:
    """The atom whose registers, after the exchange of bytes, are those of stmatrix m16n8, and so is its tile."""
    partner = fragment(f"stmatrix.sync.aligned.m16n8.x{2 * move.num}.trans.shared.b8")
    first, second, third, *rest = held.values  # two digits of the byte, one of the register, which change places
    place = dict(zip((*held.lanes, first, third, second, *rest), (*partner.lanes, *partner.values), strict=True))
    of_partner = _worth(partner)
    worth = {digit: of_partner[place[digit]] for digit in place}
    return CopyAtom(move, True, _memory_side(worth), _register_side(partner, of_partner))


def names_of(atoms: Iterable[CopyAtom]) -> dict[str, CopyAtom]:
    """The atoms by each of their names: C++, DSL, and the PTX spelling of those that do not permute."""
    found: dict[str, CopyAtom] = {}
    for one in atoms:
        for name in (one.name, one.operation, "" if one.permuted else one.ptx):
            if name:
                found[name] = one
    return found
