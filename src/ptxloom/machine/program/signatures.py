"""What functions return and take, and where it lies (PTX ISA 7.1): in the callee's frame, in order, after its head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.sizes import align

if TYPE_CHECKING:
    from collections.abc import Iterable

FRAME_HEAD: Final = 16  # unused bytes at a frame's start: every frame takes some, no variable lies at 0


class FrameSlot(NamedTuple):
    """Where a result or a parameter lies in a frame."""

    offset: int
    size: int


class Signature(NamedTuple):
    """What a function returns and takes."""

    returns: tuple[FrameSlot, ...]
    params: tuple[FrameSlot, ...]

    @property
    def end(self) -> int:
        """The bytes of a frame that holds it."""
        return max((slot.offset + slot.size for slot in (*self.returns, *self.params)), default=FRAME_HEAD)


class Service(NamedTuple):
    """A function of CUDA's device run-time, which Python serves."""

    number: int
    signature: Signature


def signature_of(returns: Iterable[tuple[int, int]], params: Iterable[tuple[int, int]]) -> Signature:
    """Results and parameters, each with its size and alignment, one after the other.

    Example:
        >>> signature_of([(4, 4)], [(8, 8)])
        Signature(returns=(FrameSlot(offset=16, size=4),), params=(FrameSlot(offset=24, size=8),))
    """
    at = FRAME_HEAD
    lists: list[tuple[FrameSlot, ...]] = []
    for each in (returns, params):
        slots: list[FrameSlot] = []
        for size, alignment in each:
            at = align(at, alignment)
            slots.append(FrameSlot(at, size))
            at += size
        lists.append(tuple(slots))
    return Signature(*lists)


def _own(returns: tuple[int, ...], params: tuple[int, ...]) -> Signature:
    """Of values that are each aligned to their size."""
    return signature_of(((size, size) for size in returns), ((size, size) for size in params))


GET_BUFFER, GET_BUFFER_FOR, LAUNCH, LAUNCH_BUFFER, LAST_ERROR, PEEK_ERROR = range(16, 22)
_EXTENTS: Final = (12, 4)  # x, y and z
_LAUNCHES: Final = {
    "GetParameterBuffer": Service(GET_BUFFER, _own((8,), (8, 8))),
    "GetParameterBufferV2": Service(GET_BUFFER_FOR, signature_of([(8, 8)], [(8, 8), _EXTENTS, _EXTENTS, (4, 4)])),
    "LaunchDevice": Service(LAUNCH, signature_of([(4, 4)], [(8, 8), (8, 8), _EXTENTS, _EXTENTS, (4, 4), (8, 8)])),
    "LaunchDeviceV2": Service(LAUNCH_BUFFER, _own((4,), (8, 8))),
    "GetLastError": Service(LAST_ERROR, _own((4,), ())),
    "PeekAtLastError": Service(PEEK_ERROR, _own((4,), ())),
}
_NAMES: Final = ("cuda{}", "__cudaCDP2{}", "cuda{}_ptsz", "__cudaCDP2{}_ptsz")
"""How CUDA's headers call these: the second since CUDA 12, the last two with a default stream a thread."""

LAUNCHES: Final = {pattern.format(name): one for name, one in _LAUNCHES.items() for pattern in _NAMES}
"""What kernels launch kernels by (CUDA's dynamic parallelism)."""

SERVICES: Final = {
    "vprintf": Service(0, _own((4,), (8, 8))),
    "malloc": Service(1, _own((8,), (8,))),
    "free": Service(2, _own((), (8,))),
    "__assertfail": Service(3, _own((), (8, 8, 4, 8, 8))),
    **LAUNCHES,
}
