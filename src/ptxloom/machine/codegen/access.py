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
    """Bytes of an access that are moved as one."""

    at: int  # from the address, in bytes
    bits: int  # of one value
    parts: int  # values, one after the other
    places: tuple[Value, ...]  # where they are stored if they are written, one place per value; empty if unknown


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction is about to do to memory, in each of its lanes.

    Attributes:
        kind: READ, WRITE or UPDATE.
        space: The state space that the addresses are in.
        addresses: Where the 32 addresses lie.
        offset: Bytes added to each.
        bits: The size of one value.
        parts: How many values a lane moves, one after the other.
        address_bits: The width of an address: 32, within shared memory, or 64.
        places: Where the values lie that are written, one place a part; empty if unknown.
        strong: It is atomic, volatile, relaxed or the like.
        lanes: The lanes that make it, an i32; None for the active ones.
        payload: The bytes that hold something, if that is not all of them.
        only: The pieces of it that are touched, if that is not all of it.
        is_mbarrier: The object there is an mbarrier.
        is_issued: An asynchronous operation makes it: its run-time function knows which threads learn of its end.
        operand: The operand of the instruction that holds the addresses; None for the first one that is an address.
        stretches: Where each lane moves a stretch of its own length: emits how many bytes these are, 32 of 32 bits.
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
        """What a lane's values take, with what is left out between them."""
        return self.bits // 8 * self.parts

    @property
    def pieces(self) -> tuple[AccessPiece, ...]:
        """The pieces of it that are touched."""
        return self.only or (AccessPiece(0, self.bits, self.parts, self.places),)


def is_strong(op: Op) -> bool:
    """Whether a load or store is more than a plain one: others look at it while the kernel runs."""
    return op.has("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")


def reports_to_mbarrier(op: Op) -> bool:
    """Whether a store or reduction reports its end to an mbarrier; one to global memory does not."""
    return STORES in issues(op.node)
