"""The messages between a program's driver and the server (`libcuda/base/connection.h` has them in C).

A request is an operation, a size and that many bytes; a response is an error, the exit status of a program that must
end (else 0), a size and bytes.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final


class Operation(IntEnum):
    """The operation of a request; `enum operation`."""

    HELLO = 1
    ALLOCATE = 2
    FREE = 3
    LOAD = 4
    UNLOAD = 5
    GET_FUNCTION = 6
    GET_GLOBAL = 7
    LIST_FUNCTIONS = 8
    LAUNCH = 9
    LINK = 10
    TENSOR_MAP = 11
    MISSING = 12
    IPC_OPEN = 13
    IMAGE = 14
    DROP_IMAGE = 15
    REFERENCE = 16
    PLACE = 17
    VIRTUAL = 20


class PlaceStep(IntEnum):
    """Steps for memory with a reserved address (`Operation.PLACE`); `enum place_step`."""

    REST = 1
    RESTORE = 2
    LEAVE = 3


ATTRIBUTES: Final = 256
FUNCTION_ATTRIBUTES: Final = 32
QUESTION: Final = Struct("<QQ")
ANSWER: Final = Struct("<iiQ")
DEVICE: Final = Struct(f"<4Qi{ATTRIBUTES}i16s256s4x")
NUMBER: Final = Struct("<Q")
PAIR: Final = Struct("<QQ")
FUNCTION: Final = Struct(f"<Q{FUNCTION_ATTRIBUTES}iII")
PARAMETER: Final = Struct("<II")
LAUNCH: Final = Struct("<16Q")
SHARED: Final = Struct("<5Q")
"""Another process's memory: its start, its size, its process and file, and the requested bytes."""
VIRTUAL: Final = Struct("<4Q")
"""A request for mapped memory: a step and its numbers."""
VIRTUAL_TOLD: Final = Struct("<3Q")
TENSOR_MAP: Final = Struct("<10q")
"""The first numbers of a tensor map: its kind, then the fields that do not depend on its rank."""
IMAGE: Final = Struct("<QIIiIIIii3i4f3fII")
"""The memory of a texture or a surface, without its mipmap levels."""
ENDING: Final = Struct("<I")
"""The outcome of a launch: done, refused, or ended by an error; then what the kernel printed."""
DONE, REFUSED, ENDED = 0, 1, 2
LIBRARY_KIND: Final = 4
"""The kind of a linker's input: a library, from which only required definitions are linked."""
_HEADS: Final[dict[int, tuple[Struct, bool]]] = {
    Operation.ALLOCATE: (PAIR, True),
    Operation.FREE: (NUMBER, False),
    Operation.LOAD: (PAIR, True),
    Operation.UNLOAD: (NUMBER, False),
    Operation.GET_FUNCTION: (NUMBER, True),
    Operation.GET_GLOBAL: (NUMBER, True),
    Operation.LIST_FUNCTIONS: (NUMBER, False),
    Operation.LAUNCH: (LAUNCH, True),
    Operation.LINK: (PAIR, True),
    Operation.TENSOR_MAP: (TENSOR_MAP, True),
    Operation.MISSING: (Struct(""), True),
    Operation.IPC_OPEN: (PAIR, False),
    Operation.IMAGE: (IMAGE, True),
    Operation.DROP_IMAGE: (NUMBER, False),
    Operation.REFERENCE: (PAIR, True),
    Operation.PLACE: (PAIR, False),
    Operation.VIRTUAL: (VIRTUAL, True),
}
"""The numbers in each request that a device carries out, and whether more may follow."""
HOST_KINDS: Final = frozenset({1, 2})
"""Kinds of memory that the host writes unseen: its own, and managed memory."""
PLACED_KINDS: Final = frozenset({0, 1, 2})
"""Kinds of memory whose alignment grows with the size: device memory, and `HOST_KINDS`."""
MOST_BYTES: Final = 1 << 31
"""Of a question."""


def is_known(operation: int) -> bool:
    """Whether a device has this operation."""
    return operation in _HEADS


def is_whole(operation: int, data: bytes) -> bool:
    """Whether the request for one of a device's operations has the right length."""
    head, goes_on = _HEADS[operation]
    return len(data) >= head.size if goes_on else len(data) == head.size
