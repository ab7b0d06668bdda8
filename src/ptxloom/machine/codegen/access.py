"""One access to memory, as all instruments see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.meaning.effects import STORES
from ptxloom.readings.effects import issues

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

READ: Final = "read"
WRITE: Final = "write"
UPDATE: Final = "update"  # read, combined and written in one step


class AccessPiece(NamedTuple):
    """Bytes of an access that are moved together."""

    at: int  # from the address, in bytes
    bits: int  # of one value
    parts: int  # values, one after the other
    places: tuple[Value, ...]  # where they are stored if they are written, one place per value; empty if unknown


@dataclass(frozen=True, slots=True)
class Access:
    """A memory access that an instruction is about to make, in each of its lanes.

    Attributes:
        kind: READ, WRITE or UPDATE.
        space: The state space that the addresses are in.
        addresses: The place of the 32 addresses.
        offset: Bytes added to each.
        bits: The size of one value.
        parts: How many values a lane moves, one after the other.
        address_bits: The width of an address: 32, within shared memory, or 64.
        places: The places of the written values, one per part; empty if unknown.
        strong: It is atomic, volatile, relaxed or the like.
        lanes: The lanes that make it, an i32; None for the active ones.
        payload: The bytes with data, if not all have some.
        only: The pieces of it that are touched, if not all are.
        is_mbarrier: The object there is an mbarrier.
        is_issued: An asynchronous operation makes it: its run-time function knows which threads observe its end.
        operand: The operand of the instruction that holds the addresses; None for the first one that is an address.
        stretches: If each lane moves its own number of bytes: emits these numbers, 32 of 32 bits.
    """

    kind: str
    space: int
    addresses: Value
    bits: int
    offset: int = 0
    parts: int = 1
    address_bits: int = 64
    places: tuple[Value, ...] = ()
    strong: bool = False
    lanes: Value | None = None
    payload: int | None = None
    only: tuple[AccessPiece, ...] = ()
    is_mbarrier: bool = False
    is_issued: bool = False
    operand: int | None = None
    stretches: Callable[[], Value] | None = None

    @property
    def bytes(self) -> int:
        """The extent of a lane's values, gaps included."""
        return self.bits // 8 * self.parts

    @property
    def pieces(self) -> tuple[AccessPiece, ...]:
        """The pieces of it that are touched."""
        return self.only or (AccessPiece(0, self.bits, self.parts, self.places),)


def is_strong(op: Op) -> bool:
    """Whether a load or store is stronger than a plain one: other threads may observe it while the kernel runs."""
    return op.has("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")


def reports_to_mbarrier(op: Op) -> bool:
    """Whether a store or reduction reports its end to an mbarrier; one to global memory does not."""
    return STORES in issues(op.node)
