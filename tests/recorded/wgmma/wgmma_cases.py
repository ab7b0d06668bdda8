"""Kernels and inputs for recorded `wgmma.mma_async` results: the recorder and the replay both take them from here.

A kernel executes one instruction on what its block is given: an image of shared memory, registers, two descriptors.
The image is full of elements wherever a descriptor may point, so that every wrong address shows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import numpy as np

from recorded.mma.mma_cases import FLOAT_CASES, FLOATS, INTEGER_CASES, operand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RECORDING: Final = Path(__file__).parent / "wgmma.npz"
FLOOR_RECORDING: Final = RECORDING.with_name("floor.npz")
FLOOR_CASES: Final = ("floor",) * 8  # of blocks
THREADS: Final = 128
IMAGE_BYTES: Final = 40960
LAYOUT_BLOCKS: Final = 48
_HEAD: Final = ".version 8.7\n.target sm_90a\n.address_size 64\n"
_BITS: Final = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
_DENSE_K_BITS: Final = 256  # what a row of A takes as it is stored
_INTEGER_N: Final = (8, 16, 24, *range(32, 257, 16))
_FLOAT_N: Final = tuple(range(8, 257, 8))


class Types(NamedTuple):
    """The element types of D, A and B."""

    d: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """A `wgmma.mma_async` as it is written.

    Attributes:
        types: Of the elements.
        n: Columns of D.
        sparse: A is, and `selector` says which lanes' metadata count.
        in_registers: A is.
        signs: `imm-scale-a` and `imm-scale-b`.
        across: `imm-trans-a` and `imm-trans-b`.
        layouts: Many descriptors are tried on it, instead of many kinds of numbers.
    """

    types: Types
    n: int
    sparse: bool = False
    selector: int = 0
    satfinite: bool = False
    in_registers: bool = False
    signs: tuple[int, int] = (1, 1)
    across: tuple[int, int] = (0, 0)
    layouts: bool = False

    @property
    def k(self) -> int:
        """The length of the dot products."""
        return _DENSE_K_BITS // _BITS[self.types.a] * (1 + self.sparse)

    @property
    def d_registers(self) -> int:
        """How many registers of a thread D takes."""
        return self.n // (4 if self.types.d == "f16" else 2)

    @property
    def name(self) -> str:
        """What tells it from all others."""
        where = "layouts" if self.layouts else "rs" if self.in_registers else "ss"
        choices = (*self.signs, *self.across, self.selector)
        return f"{self._qualifiers} {where} {' '.join(map(str, choices))}"

    @property
    def _qualifiers(self) -> str:
        words = (
            *(("sp",) if self.sparse else ()),
            *("sync", "aligned", f"m64n{self.n}k{self.k}"),
            *(("satfinite",) if self.satfinite else ()),
            *self.types,
            *(("and", "popc") if self.types.a == "b1" else ()),
        )
        return ".".join(words)

    @property
    def text(self) -> str:
        """The instruction, on the registers of `kernel`."""
        d = ", ".join(f"%d{n}" for n in range(self.d_registers))
        a = "{%a0, %a1, %a2, %a3}" if self.in_registers else "%rd1"
        sparsity = f", %e, {self.selector}" if self.sparse else ""
        immediates: tuple[int, ...] = self.signs if self.types.a in FLOATS else ()
        if _BITS[self.types.a] == 16:
            immediates += self.across[self.in_registers :]
        tail = "".join(f", {number}" for number in immediates)
        return f"wgmma.mma_async.{self._qualifiers} {{{d}}}, {a}, %rd2{sparsity}, %p1{tail};"

    @property
    def cases(self) -> tuple[str, ...]:
        """What kind of numbers each block is given."""
        kinds = FLOAT_CASES if self.types.a in FLOATS else INTEGER_CASES
        return ("bits",) * LAYOUT_BLOCKS if self.layouts else kinds


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the blocks of a launch are given.

    Attributes:
        image: `(block, byte)`.
        registers: `(block, register, thread)`: D, then A, then the metadata.
        descriptors: `(block, operand)`, without the address of the image.
        scaled: `(block)`: whether D is added.
    """

    image: NDArray[np.uint8]
    registers: NDArray[np.uint32]
    descriptors: NDArray[np.uint64]
    scaled: NDArray[np.uint32]


def instructions() -> tuple[Instruction, ...]:
    """All that are recorded; each number of columns comes up."""
    return tuple(dict.fromkeys((*_by_types(), *_by_layouts())))


def floor_instructions() -> tuple[Instruction, ...]:
    """Those that are recorded on numbers near the bottom of what D can hold, too."""
    return tuple(it for it in instructions() if it.types.a in FLOATS and not it.layouts)


def _by_types() -> Iterator[Instruction]:
    number = 0
    for sparse in (False, True):
        for types in _types(sparse=sparse):
            sixteen = _BITS[types.a] == 16
            columns = _FLOAT_N if types.a in FLOATS else _INTEGER_N
            for in_registers, signs in product((False, True), ((1, 1), (-1, 1), (1, -1), (-1, -1))):
                if signs != (1, 1) and (types.a not in FLOATS or (signs[0] == signs[1]) == in_registers):
                    continue
                for across in product((0, 1), (0, 1)) if sixteen and signs == (1, 1) else ((0, 0),):
                    if across[0] and in_registers:
                        continue
                    number += 1
                    selector = number % 2 if sparse and _BITS[types.a] >= 16 else 0
                    saturates = types.d == "s32" and types.a != "b1" and number % 2 == 1
                    n = columns[number * 7 % len(columns)]
                    yield Instruction(types, n, sparse, selector, saturates, in_registers, signs, across)


def _types(*, sparse: bool) -> Iterator[Types]:
    yield from (Types("f16", "f16", "f16"), Types("f32", "f16", "f16"))
    yield from (Types("f32", "bf16", "bf16"), Types("f32", "tf32", "tf32"))
    yield from (Types(d, a, b) for d, a, b in product(("f16", "f32"), ("e4m3", "e5m2"), ("e4m3", "e5m2")))
    yield from (Types("s32", a, b) for a, b in product(("s8", "u8"), repeat=2))
    if not sparse:
        yield Types("s32", "b1", "b1")


def _by_layouts() -> Iterator[Instruction]:
    for sparse in (False, True):
        for across in product((0, 1), (0, 1)):
            yield Instruction(Types("f32", "f16", "f16"), 40, sparse, across=across, layouts=True)
            yield Instruction(Types("f32", "f16", "f16"), 256, sparse, across=across, layouts=True)
        for types in (Types("f32", "tf32", "tf32"), Types("s32", "s8", "u8"), Types("f32", "e5m2", "e4m3")):
            yield Instruction(types, 64, sparse, layouts=True)


def inputs(instruction: Instruction, cases: tuple[str, ...] = ()) -> Inputs:
    """What the blocks of an instruction's launch are given, its own kinds of numbers or others, on every machine."""
    rng = np.random.Generator(np.random.PCG64(crc32(instruction.name.encode())))
    made = [_block(rng, instruction, case) for case in cases or instruction.cases]
    image, registers, descriptors, scaled = (np.stack([one[n] for one in made]) for n in range(4))
    return Inputs(image, registers, descriptors, scaled)


def _block(rng: np.random.Generator, it: Instruction, case: str) -> tuple[Any, ...]:
    half = IMAGE_BYTES // 2
    sides = (("a", it.types.a), ("b", it.types.b))
    image = np.concatenate([_words(rng, case, kind, half // 4, name).view(np.uint8) for name, kind in sides])
    registers = [
        _words(rng, case, it.types.d, it.d_registers * THREADS, "c"),
        _words(rng, case, it.types.a, 4 * THREADS),
    ]
    registers.append(_metadata(rng, it))
    a = _descriptor(rng, it.across[0], (8, 2), 0)
    b = _descriptor(rng, it.across[1], (it.n // 8, 2 + 2 * it.sparse), half)
    scaled = int(rng.integers(0, 4) != 0)
    return (
        image,
        np.concatenate(registers).reshape(-1, THREADS),
        np.array([a, b], np.uint64),
        np.array(scaled, np.uint32),
    )


def _words(rng: np.random.Generator, case: str, kind: str, count: int, name: str = "a") -> NDArray[np.uint32]:
    """A number of 32-bit words of elements of a kind."""
    if kind == "b1":
        return rng.integers(0, 1 << 32, count, np.uint32)
    return operand(rng, case, kind, (16, -(-count // 512), 32), name).astype(np.uint32).reshape(-1)[:count]


def _metadata(rng: np.random.Generator, it: Instruction) -> NDArray[np.uint32]:
    """Two of four, of `.tf32` one of two."""
    choices = [0b0100, 0b1110] if it.types.a == "tf32" else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110]
    nibbles = np.array(choices, np.uint32)[rng.integers(0, len(choices), (THREADS, 8))]
    return np.bitwise_or.reduce(nibbles << (np.arange(8, dtype=np.uint32) * 4), axis=-1).astype(np.uint32)


def _descriptor(rng: np.random.Generator, across: int, size: tuple[int, int], start: int) -> int:
    """A descriptor of a matrix of (lines, columns) core matrices that fits in half an image."""
    room = IMAGE_BYTES // 2
    while True:
        swizzle = int(rng.integers(0, 4))
        largest = int(rng.choice((16, 64, 256, 1024)))
        leading, stride = (int(n) * 16 for n in rng.integers(0, largest, 2, endpoint=True))
        reach = _reach(swizzle, leading, stride, across, size)
        if reach <= room:
            break
    at = start + 16 * int(rng.integers(0, (room - reach) // 16, endpoint=True))
    base = int(rng.integers(0, 8)) if swizzle and rng.integers(0, 2) else 0
    return at >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | swizzle << 62


def _reach(swizzle: int, leading: int, stride: int, across: int, size: tuple[int, int]) -> int:
    """The bytes from a matrix's start to its end, and those that the swizzle may add."""
    pitch = (16, 128, 64, 32)[swizzle]
    beside, along = size[::-1] if across else size
    if across and not swizzle:
        leading, stride = stride, leading
    pieces = pitch // 16
    return (beside - 1) * stride + (along - 1) // pieces * leading + 8 * pitch + 128


def digests(d: NDArray[np.uint32], it: Instruction) -> NDArray[np.uint64]:
    """A digest of every eight columns of D, block by block; of D as the kernel stores it."""
    tiles = d.reshape(len(d), it.n // 8, -1)
    found = [hashlib.blake2b(tile.tobytes(), digest_size=8).digest() for block in tiles for tile in block]
    return np.frombuffer(b"".join(found), np.uint64)


@cache
def module(chosen: tuple[Instruction, ...]) -> str:
    """A module with a kernel for each instruction, `k0` and so on."""
    return _HEAD + "\n".join(kernel(it, f"k{number}") for number, it in enumerate(chosen))


def kernel(it: Instruction, name: str) -> str:
    """A kernel that executes an instruction once, in blocks of 128 threads."""
    count = it.d_registers
    kind = "f32" if it.types.d == "f32" else "b32"
    row = THREADS * 4
    registers = [f"%d{n}" for n in range(count)] + [f"%a{n}" for n in range(4)] + ["%e"]
    loads = [
        f"ld.global.{kind if n < count else 'b32'} {register}, [%rd5+{n * row}];"
        for n, register in enumerate(registers)
    ]
    stores = [f"st.global.{kind} [%rd6+{n * row}], %d{n};" for n in range(count)]
    return f"""
.visible .entry {name}(.param .u64 pd, .param .u64 pi, .param .u64 pr, .param .u64 pe, .param .u64 ps)
{{
    .shared .align 1024 .b8 image[{IMAGE_BYTES}];
    .reg .{kind} %d<{count}>; .reg .b32 %a<4>; .reg .b32 %e; .reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .pred %p<3>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, image; shl.b32 %r3, %r0, 4;
    ld.param.u64 %rd3, [pi]; mad.wide.u32 %rd3, %r1, {IMAGE_BYTES}, %rd3;
    cvt.u64.u32 %rd4, %r3; add.u64 %rd3, %rd3, %rd4;
    add.u32 %r4, %r2, %r3; add.u32 %r5, %r4, {IMAGE_BYTES};
COPY{name}:
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%rd3]; st.shared.v4.b32 [%r4], {{%a0, %a1, %a2, %a3}};
    add.u64 %rd3, %rd3, {THREADS * 16}; add.u32 %r4, %r4, {THREADS * 16};
    setp.lt.u32 %p2, %r4, %r5; @%p2 bra COPY{name};
    ld.param.u64 %rd5, [pr]; mad.wide.u32 %rd5, %r1, {len(registers) * row}, %rd5; mad.wide.u32 %rd5, %r0, 4, %rd5;
    ld.param.u64 %rd6, [pd]; mad.wide.u32 %rd6, %r1, {count * row}, %rd6; mad.wide.u32 %rd6, %r0, 4, %rd6;
    {" ".join(loads)}
    ld.param.u64 %rd7, [pe]; mad.wide.u32 %rd7, %r1, 16, %rd7; ld.global.v2.b64 {{%rd1, %rd2}}, [%rd7];
    shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd8, %r6; add.u64 %rd1, %rd1, %rd8; add.u64 %rd2, %rd2, %rd8;
    ld.param.u64 %rd9, [ps]; mad.wide.u32 %rd9, %r1, 4, %rd9; ld.global.u32 %r7, [%rd9]; setp.ne.u32 %p1, %r7, 0;
    fence.proxy.async; bar.sync 0;
    wgmma.fence.sync.aligned;
    {it.text}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    {" ".join(stores)}
    ret;
}}
"""
