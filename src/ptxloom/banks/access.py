"""An instruction's access to shared memory: the bytes that each lane addresses, and which lanes are served together.

Lanes are served in phases of at most 128 bytes: 8 rows of 16 bytes of ldmatrix or stmatrix (one 8x8 matrix), 16 rows
of 8 bytes; 32 lanes of 4 bytes or less, 16 of 8, 8 of 16. Lanes that access the same word share it, except in an atomic
operation. Measured on an H200: shared memory itself does 32-bit integer operations and exchanges; a compare-and-swap
takes its wavefronts twice; all other operations are loops around a compare-and-swap (their loads, which are not part of
the PTX, are not counted).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.limits import BANK_BYTES, LANES, LINE_BYTES
from ptxloom.isa.matrix import MatrixMove, memory_move
from ptxloom.isa.spelled import spelling_of
from ptxloom.isa.types import Kind, element_type, is_type

if TYPE_CHECKING:
    from ptxloom.isa.spelled import Spelled
    from ptxloom.isa.types import ElementType

_PLAIN: Final = ("ld", "st", "atom", "red")
_WIDE: Final = 8


@dataclass(frozen=True, slots=True)
class Access:
    """How an instruction accesses shared memory.

    Attributes:
        spelling: The instruction.
        lane_bytes: Bytes at each lane's address, which must be a multiple of them.
        lanes: The number of lanes with an address, from lane 0 on.
        phase_lanes: How many neighbouring lanes are served together.
        is_matrix: Whether it is ldmatrix or stmatrix.
        is_load: Whether it reads.
        is_atomic: Whether it is an atomic operation, in which every lane is served separately.
        rounds: How often its wavefronts are taken: 2 for a compare-and-swap and operations built on it, else 1.
    """

    spelling: str
    lane_bytes: int
    lanes: int
    phase_lanes: int
    is_matrix: bool
    is_load: bool
    is_atomic: bool = False
    rounds: int = 1

    @property
    def phases(self) -> int:
        """How many phases serve all lanes."""
        return self.lanes // self.phase_lanes

    @property
    def merges(self) -> bool:
        """Whether neighbouring phases may be served together: wide plain loads, see `bank_conflicts`."""
        return self.is_load and not self.is_matrix and self.phases > 1

    @property
    def words(self) -> int:
        """How many 4-byte words a lane's bytes touch."""
        return max(1, self.lane_bytes // BANK_BYTES)


def access(instruction: str | Spelled | MatrixMove) -> Access:
    """Read what an instruction asks of shared memory.

    Args:
        instruction: ldmatrix or stmatrix, full or short (`m8n8.x4.b16` is an ldmatrix); or a plain load or store of
            shared memory, such as `ld.shared.v4.b32` or `st.shared.f16`, or an atomic operation on it, such as
            `atom.shared.add.u32`; or an instruction of a parsed module.

    Raises:
        UnsupportedForm: The instruction does not access shared memory in one of these ways.
    """
    match instruction:
        case MatrixMove():
            return _of_move(instruction)
        case _:
            text = spelling_of(instruction)
    opcode, *qualifiers = text.split(".")
    return _of_plain(text, opcode, qualifiers) if opcode in _PLAIN else _of_move(memory_move(text))


def _of_move(move: MatrixMove) -> Access:
    if not move.address_lanes:
        raise UnsupportedForm(f"`{move.spelling}` does not access memory")
    phase_lanes = min(move.address_lanes, LINE_BYTES // move.row_bytes)
    return Access(
        move.spelling, move.row_bytes, move.address_lanes, phase_lanes, is_matrix=True,
        is_load=move.opcode == "ldmatrix",
    )  # fmt: skip


def _of_plain(text: str, opcode: str, qualifiers: list[str]) -> Access:
    if not any(word in ("shared", "shared::cta") for word in qualifiers):
        raise UnsupportedForm(f"`{text}` lacks `.shared`; only shared memory has banks")
    types = [word for word in qualifiers if is_type(word)]
    if len(types) != 1:
        raise UnsupportedForm(f"`{text}` must name one type, as in `ld.shared.v4.b32`")
    vectors = [int(word[1:]) for word in qualifiers if re.fullmatch(r"v[0-9]+", word)]
    of = element_type(types[0])
    lane_bytes = of.container_bits * of.count // 8 * (vectors[0] if vectors else 1)
    if len(vectors) > 1 or lane_bytes not in (1, 2, 4, 8, 16):
        raise UnsupportedForm(
            f"`{text}` moves {lane_bytes} bytes a lane; shared memory is accessed by 1, 2, 4, 8 or 16"
        )
    lanes = min(LANES, LINE_BYTES // lane_bytes)
    atomic = opcode in ("atom", "red")
    rounds = 2 if atomic and not _is_native(of, qualifiers, lane_bytes) else 1
    return Access(text, lane_bytes, LANES, lanes, is_matrix=False, is_load=opcode == "ld", is_atomic=atomic,
                  rounds=rounds)  # fmt: skip


def _is_native(of: ElementType, qualifiers: list[str], lane_bytes: int) -> bool:
    """Whether shared memory does an atomic operation by itself, without a compare-and-swap."""
    if "exch" in qualifiers:
        return lane_bytes in (BANK_BYTES, _WIDE)
    return lane_bytes == BANK_BYTES and of.kind is not Kind.FLOAT and "cas" not in qualifiers


def legal_address(argument: str, address: int, of: Access) -> None:
    """Prove that an address is one this access can have.

    Raises:
        UsageError: It is negative or misaligned.
    """
    if address < 0 or address % of.lane_bytes:
        raise UsageError(argument, address, f"a multiple of {of.lane_bytes}, not negative, for `{of.spelling}`")
