"""Results and parameters of functions, with places (PTX ISA 7.1): in the callee's frame, in order after its head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.sizes import align

if TYPE_CHECKING:
    from collections.abc import Iterable

FRAME_HEAD: Final = 16  # unused bytes at a frame's start: so no frame is empty, and no variable is at 0


class FrameSlot(NamedTuple):
    """The place of a result or a parameter in a frame."""

    offset: int
    size: int


class Signature(NamedTuple):
    """The results and parameters of a function."""

    returns: tuple[FrameSlot, ...]
    params: tuple[FrameSlot, ...]

    @property
    def end(self) -> int:
        """The end of the last one: the bytes of the frame so far."""
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
    """The signature for values aligned to their size."""
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
"""The names in CUDA's headers: the second since CUDA 12, the last two with per-thread default streams."""

LAUNCHES: Final = {pattern.format(name): one for name, one in _LAUNCHES.items() for pattern in _NAMES}
"""The functions by which kernels launch kernels (CUDA's dynamic parallelism)."""

SERVICES: Final = {
    "vprintf": Service(0, _own((4,), (8, 8))),
    "malloc": Service(1, _own((8,), (8,))),
    "free": Service(2, _own((), (8,))),
    "__assertfail": Service(3, _own((), (8, 8, 4, 8, 8))),
    **LAUNCHES,
}
