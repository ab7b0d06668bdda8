"""What a process asks that means harm: every question, in any order, with other numbers and lengths, cut off, twice."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from driver.image_cases import EDGES, HEAD, TEXTS, image, text
from ptxloom.cuda_driver.protocol import LAUNCH, MOST_BYTES, NUMBER, PAIR, QUESTION, VIRTUAL, Operation
from ptxloom.cuda_driver.virtual import UNIT, Step

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

LOOKS: Final = (
    HEAD
    + b""".global .texref picture;
.visible .entry look(.param .u64 to, .param .u64 handle)
{
    .reg .b64 %to, %h; .reg .b32 %x; .reg .f32 %r<4>;
    ld.param.u64 %to, [to]; ld.param.u64 %h, [handle];
    mov.u32 %x, %tid.x;
    tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%h, {%x, %x}];
    st.global.f32 [%to], %r0;
    suld.b.2d.b32.trap {%x}, [%h, {%x, %x}];
    st.global.u32 [%to+4], %x;
    ret;
}
"""
)
_NAMES: Final = (b"fill", b"look", b"base", b"picture", b"board", b"table", b"k", b"add", b"", b"\xff\xfe", b"a" * 5000)
_PATHS: Final = (b"", b"/", b".", b"..", b"x.cubin", b"a\0b", b"/proc/self/mem", b"x" * 5000, b"/dev/null", b"\xff")
_GRID: Final = (0, 1, 1, 1, 2, 3, 1 << 32, 1 << 63, 2**64 - 1)
_BLOCK: Final = (0, 1, 32, 32, 33, 1024, 1025, 1 << 32, 2**64 - 1)


@dataclass(slots=True)
class Known:
    """What a process has been told so far, to ask about.

    Attributes:
        session: Of the device.
        start: Where its memory starts.
        addresses: Of memory, by now freed or not.
        modules: Numbers of modules.
        kernels: Numbers of kernels.
        pieces: Numbers of memory that can be mapped.
        space: Where it can be mapped.
        others: Of other processes: the session and an address.
    """

    session: int = 0
    start: int = 0
    addresses: list[int] = field(default_factory=list[int])
    modules: list[int] = field(default_factory=list[int])
    kernels: list[int] = field(default_factory=list[int])
    pieces: list[int] = field(default_factory=list[int])
    space: int = 0
    others: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def learn(self, operation: int, data: bytes, answer: bytes) -> None:
        """Note what a question that was granted has brought."""
        match operation:
            case Operation.ALLOCATE:
                self.addresses += NUMBER.unpack(answer)
            case Operation.LOAD:
                self.modules += NUMBER.unpack(answer)
            case Operation.GET_FUNCTION:
                self.kernels += NUMBER.unpack_from(answer)
            case Operation.GET_GLOBAL:
                self.addresses.append(PAIR.unpack(answer)[0])
            case Operation.VIRTUAL:
                step, told = VIRTUAL.unpack_from(data)[0], struct.unpack("<3Q", answer)[0]
                if step in {Step.CREATE, Step.IMPORT}:
                    self.pieces.append(told)
                elif step == Step.RANGE:
                    self.space = told
            case _:
                pass


def asked(known: Known, draw: random.Random) -> tuple[int, bytes]:
    """A question: an operation and bytes, mostly right ones."""
    operation = draw.choice(_OFTEN) if draw.random() < 0.95 else draw.choice((0, 18, 21, 1 << 31, 2**64 - 1))
    data = _data(operation, known, draw)
    what = draw.random()
    if what < 0.08:
        data = data[: draw.randrange(len(data) + 1)]
    elif what < 0.12:
        data += draw.randbytes(draw.randrange(1, 40))
    elif what < 0.18 and len(data) >= 8:
        at = draw.randrange(len(data) // 8) * 8
        data = data[:at] + NUMBER.pack(draw.choice(EDGES)) + data[at + 8 :]
    return operation, data


def first() -> Iterator[tuple[int, bytes]]:
    """What a process asks that means no harm yet: two modules, memory, and addresses to map more at."""
    for number, (name, code) in enumerate({b"fill": TEXTS[0], b"look": LOOKS}.items(), 1):
        yield Operation.LOAD, PAIR.pack(0, 0) + code
        yield Operation.GET_FUNCTION, NUMBER.pack(2 * number - 1) + name
    for size in (64, 1 << 20):
        yield Operation.ALLOCATE, PAIR.pack(size, 0)
    yield Operation.VIRTUAL, VIRTUAL.pack(Step.RANGE, 0, 0, 0)
    yield Operation.VIRTUAL, VIRTUAL.pack(Step.CREATE, UNIT, 0, 0)


def torn(draw: random.Random) -> bytes:
    """What ends a connection: a part of a question, or one that is longer than any."""
    return draw.choice(
        (
            b"\x02",
            QUESTION.pack(Operation.ALLOCATE, 16) + b"\0",
            QUESTION.pack(Operation.LAUNCH, MOST_BYTES),
            QUESTION.pack(Operation.LOAD, MOST_BYTES + 1),
            QUESTION.pack(2**64 - 1, 2**64 - 1),
            draw.randbytes(15),
        )
    )


_OFTEN: Final = [
    *(one for one in Operation if one != Operation.HELLO),
    *(Operation.ALLOCATE, Operation.LOAD, Operation.GET_FUNCTION, Operation.IMAGE),
    *[Operation.LAUNCH] * 3,
    *[Operation.VIRTUAL] * 4,
]


def _data(operation: int, known: Known, draw: random.Random) -> bytes:
    """What is asked, right or not far from it."""
    made = _MADE.get(operation)
    return draw.choice(_NAMES) if made is None else made(known, draw)


def _allocate(_: Known, draw: random.Random) -> bytes:
    return PAIR.pack(draw.choice((0, 1, 512, 4096, 1 << 20, *EDGES)), draw.randrange(5)) + draw.choice(_NAMES)


def _of_memory(known: Known, draw: random.Random) -> bytes:
    return NUMBER.pack(_address(known, draw))


def _load(_: Known, draw: random.Random) -> bytes:
    path = draw.choice(_PATHS)
    what = draw.choice((LOOKS, TEXTS[0], text(draw), image(draw)))
    return PAIR.pack(draw.choice((0, 32, *EDGES)), len(path)) + path + what


def _of_module(known: Known, draw: random.Random) -> bytes:
    return NUMBER.pack(_module(known, draw))


def _in_module(known: Known, draw: random.Random) -> bytes:
    return NUMBER.pack(_module(known, draw)) + draw.choice(_NAMES)


def _reference(known: Known, draw: random.Random) -> bytes:
    return PAIR.pack(_module(known, draw), draw.randrange(3)) + draw.choice(_NAMES)


def _link(_: Known, draw: random.Random) -> bytes:
    inputs = [draw.choice((*TEXTS, text(draw), image(draw))) for _ in range(draw.choice((0, 1, 1, 2, 4)))]
    parts = (PAIR.pack(draw.choice((0, 1, 3, 4, 5)), len(one)) + one for one in inputs)
    return b"".join(parts) + PAIR.pack(draw.choice((0, 32, 2**64 - 1)), draw.choice((0, 0, 90, 2**64 - 1)))


def _open(known: Known, draw: random.Random) -> bytes:
    return PAIR.pack(*draw.choice([*known.others, (known.session, _address(known, draw)), (0, 0)]))


def _place(known: Known, draw: random.Random) -> bytes:
    return PAIR.pack(draw.choice((1, 1, 2, 3, 0, 2**64 - 1)), _address(known, draw))


def _address(known: Known, draw: random.Random) -> int:
    """An address of memory, near one, or anything."""
    near = draw.choice([*known.addresses, *known.addresses, known.start, known.space])
    return draw.choice((near, near, near, near + draw.choice(EDGES), draw.choice(EDGES))) % 2**64


def _module(known: Known, draw: random.Random) -> int:
    return draw.choice([*known.modules * 4, draw.choice(EDGES)])


def _launch(known: Known, draw: random.Random) -> bytes:
    kernel = draw.choice([*known.kernels * 4, draw.choice(EDGES)])
    strange = draw.random() < 0.4
    grid = [draw.choice(_GRID) if strange else 1 for _ in range(3)]
    block = [draw.choice(_BLOCK) if strange else size for size in (32, 1, 1)]
    cluster = [draw.choice((0, 1, 2, 2**64 - 1)) if strange else 0 for _ in range(3)]
    usually = (0, 0, 1024, 1 << 20, 8 << 20, 2048)
    rest = [draw.choice((0, 1, 1024, *EDGES)) if strange else usual for usual in usually]
    given = [_address(known, draw), draw.choice((_address(known, draw), draw.randrange(40)))]
    size = draw.choice((12, 12, 12, 16, 16, 16, 0, 8, 17, 4096))
    return LAUNCH.pack(kernel, *grid, *block, *cluster, *rest) + (PAIR.pack(*given) + bytes(4096))[:size]


def _tensor_map(known: Known, draw: random.Random) -> bytes:
    rank = draw.choice((1, 2, 3, 4, 5, draw.choice((0, -1, 6, 2**63 - 1))))
    im2col = draw.randrange(2)
    head = [
        im2col,
        draw.randrange(14),
        rank,
        _address(known, draw) % 2**63,
        *(draw.randrange(5) for _ in range(4)),
        8,
        8,
    ]
    count = max(min(5 * rank - 5 if im2col else 4 * rank - 1, 30), 0)
    lists = [draw.choice((1, 2, 16, 64, 256, -1, 2**40, 2**63 - 1)) for _ in range(count)]
    return struct.pack(f"<{10 + count}q", *head, *lists)


def _image(known: Known, draw: random.Random) -> bytes:
    levels = draw.choice((1, 1, 2, 16, 17, 2**32 - 1))
    floats = [draw.choice((0.0, -1.0, 1e38, float("inf"), float("nan"))) for _ in range(7)]
    head = struct.pack(
        "<QIIiIIIii3i4f3fII", draw.choice((0, 0, 1, _address(known, draw))), draw.randrange(2), draw.randrange(9),
        draw.choice((0x01, 0x02, 0x03, 0x08, 0x0A, 0x10, 0x20, 0xC0, 0xCB, -1)), draw.choice((1, 2, 4, 3)),
        draw.choice((0, 1, 6, 2**32 - 1)), draw.choice((0, 1, 2, 16, 2**32 - 1)),
        *(draw.choice((0, 1, -1)) for _ in range(2)),
        *(draw.choice((0, 1, 2, 3, -1, 2**31 - 1)) for _ in range(3)), *floats, levels, 0,
    )  # fmt: skip
    body = b"".join(
        struct.pack(
            "<3Q3I4x", _address(known, draw), *(draw.choice((0, 16, 128, *EDGES)) for _ in range(2)),
            *(draw.choice((0, 1, 8, 64, 2**31, 2**32 - 1)) for _ in range(3)),
        )
        for _ in range(min(levels, 17))
    )  # fmt: skip
    return head + body


def _virtual(known: Known, draw: random.Random) -> bytes:
    step: int = draw.choice((*Step, Step.RANGE, Step.CREATE, Step.MAP, Step.MAP, Step.ACCESS, 0, 8, 2**64 - 1))
    piece = draw.choice([*known.pieces, *known.pieces, draw.choice(EDGES)])
    at = (known.space + draw.choice((0, 0, UNIT, 2 * UNIT, *EDGES))) % 2**64
    size = draw.choice((UNIT, UNIT, 2 * UNIT, *EDGES))
    match step:
        case Step.CREATE:
            return VIRTUAL.pack(step, size, 0, 0) + draw.choice(_NAMES)
        case Step.IMPORT:
            return VIRTUAL.pack(step, os.getpid(), draw.choice((*range(20), 2**31, 2**64 - 1)), 0)
        case Step.RELEASE:
            return VIRTUAL.pack(step, piece, 0, 0)
        case Step.MAP:
            return VIRTUAL.pack(step, at, size, piece)
        case _:
            return VIRTUAL.pack(step, at, size, draw.choice((0, 1, 3, 2**64 - 1)))


_MADE: Final[dict[int, Callable[[Known, random.Random], bytes]]] = {
    Operation.ALLOCATE: _allocate,
    Operation.FREE: _of_memory,
    Operation.DROP_IMAGE: _of_memory,
    Operation.LOAD: _load,
    Operation.UNLOAD: _of_module,
    Operation.LIST_FUNCTIONS: _of_module,
    Operation.GET_FUNCTION: _in_module,
    Operation.GET_GLOBAL: _in_module,
    Operation.REFERENCE: _reference,
    Operation.LAUNCH: _launch,
    Operation.LINK: _link,
    Operation.TENSOR_MAP: _tensor_map,
    Operation.IPC_OPEN: _open,
    Operation.IMAGE: _image,
    Operation.PLACE: _place,
    Operation.VIRTUAL: _virtual,
}
