"""Products of four warps: `wgmma.mma_async` of every type, number of columns and place of its left factor.

Shared memory has elements wherever a descriptor may point, so that every wrong address shows; descriptors have
every swizzle, offsets of their own and, now and then, a base offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from ptxloom.conformance.kernel_text import BLOCK
from ptxloom.conformance.scenes.scene import Scene, filled, joined, kept_pairs
from ptxloom.dataclass import dataclass
from ptxloom.descriptors.matrix import GENERATIONS, MatrixDescriptor
from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.isa.products import form_of
from ptxloom.isa.types import element_type
from ptxloom.isa.vectors import vector_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from ptxloom.conformance.scenes.scene import Bytes
    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot

_IMAGE: Final = 40960
_HALF: Final = _IMAGE // 2
_FACTOR: Final = 4
"""Registers that hold a thread's part of the left factor."""
_SWIZZLES: Final = {code: swizzle_mode(name) for name, code in GENERATIONS["wgmma"].codes.items()}
"""Swizzles by their number in descriptors."""


@dataclass(frozen=True)
class Product(Scene):
    """One product.

    Attributes:
        in_registers: Whether its left factor is in registers.
    """

    in_registers: bool

    @property
    def results(self) -> int:
        """The number of registers of D in a thread."""
        return vector_length(self.form, "d")

    @property
    def in_bytes(self) -> int:
        """An image of shared memory, registers, two descriptors, and whether D is added."""
        return _IMAGE + 4 * BLOCK * (self.results + _FACTOR + 1) + 32

    @property
    def out_bytes(self) -> int:
        """D, thread by thread."""
        return BLOCK * 8 * -(-self.results // 2)

    @property
    def _across(self) -> tuple[int, int]:
        """Whether each factor is transposed, chosen per path."""
        names = [slot.name for slot in self.form.operands(self.count)]
        choice = crc32(self.name.encode())
        return choice >> 2 & 1 if "transa" in names else 0, choice >> 3 & 1 if "transb" in names else 0

    def body(self) -> str:
        """Registers and shared memory, the product, D."""
        row, floats = 4 * BLOCK, "f32" if self.form.filling["dtype"] == "f32" else "b32"
        names = [*(f"d{at}" for at in range(self.results)), *(f"a{at}" for at in range(_FACTOR)), "e"]
        loads = "".join(f"ld.global.b32 {one}, [at+{_IMAGE + at * row}];\n" for at, one in enumerate(names))
        stores = "".join(f"st.global.b32 [at+{4 * at}], d{at};\n" for at in range(self.results))
        last = _IMAGE + row * len(names)
        return (
            f".shared .align 1024 .b8 image[{_IMAGE}]; .reg .{floats} d<{self.results}>; .reg .b32 a<4>, e;\n"
            ".reg .b64 left, right, base; .reg .pred scaled;\n"
            f"{filled('image', _IMAGE)}mul.wide.u32 at, t, 4; add.u64 at, in, at;\n{loads}"
            f"ld.global.v2.b64 {{left, right}}, [in+{last}]; mov.u32 i, image; shr.u32 i, i, 4; cvt.u64.u32 base, i;\n"
            f"add.u64 left, left, base; add.u64 right, right, base; ld.global.u32 n, [in+{last + 16}];\n"
            "setp.ne.u32 scaled, n, 0; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n"
            f"{self.form.spelling} {', '.join(map(self._spelled, self.form.operands(self.count)))};\n"
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
            f"mad.wide.u32 at, t, {self.out_bytes // BLOCK}, out;\n{stores}"
        )

    def _spelled(self, slot: OperandSlot) -> str:
        across, choice = self._across, crc32(self.name.encode())
        signs = (choice & 1) * 2 - 1, (choice >> 1 & 1) * 2 - 1
        left = "{a0, a1, a2, a3}" if self.in_registers else "left"
        return {
            "d": "{" + ", ".join(f"d{at}" for at in range(self.results)) + "}",
            **dict.fromkeys(("a", "registers", "factor"), left),
            "b": "right",
            "e": "e",
            "f": str(self._selector),
            "scaled": "scaled",
            "scalea": str(signs[0]),
            "scaleb": str(signs[1]),
            "transa": str(across[0]),
            "transb": str(across[1]),
        }[slot.name]

    @property
    def _selector(self) -> int:
        """The lanes whose metadata count: for one-byte elements, all."""
        return crc32(self.name.encode()) >> 4 & 1 if element_type(self.form.filling["atype"]).bits > 8 else 0

    def given(self, case: int) -> Bytes:
        """The input of a CTA."""
        kinds, chance = self.form.filling, self.chance(case)
        sides = [self._side(case, part, kinds[name]) for part, name in enumerate(("atype", "btype"))]
        registers = [self._registers(case, 2, kinds["dtype"], self.results)]
        registers += [self._registers(case, 3, kinds["atype"], _FACTOR), self._metadata(chance)]
        product = form_of(self.form)
        steps = 2 + 2 * bool(self.form.filling.get("sp"))
        descriptors = [
            _descriptor(chance, self._across[0], (8, 2), 0),
            _descriptor(chance, self._across[1], (product.n // 8, steps), _HALF),
        ]
        last = np.array([*descriptors, chance.randrange(4) != 0, 0], np.uint64).view(np.uint8)
        return joined((*sides, *registers, last), self.in_bytes)

    def _side(self, case: int, part: int, kind: str) -> Bytes:
        kind = {"b1": "b32", "tf32": "f32"}.get(kind, kind)
        return self.elements(case, part, 8 * _HALF // element_type(kind).packed_bits, kind)

    def _registers(self, case: int, part: int, kind: str, count: int) -> Bytes:
        kind = {"b1": "b32", "tf32": "f32"}.get(kind, kind)
        return self.elements(case, part, 32 * BLOCK * count // element_type(kind).packed_bits, kind)

    def _metadata(self, chance: Random) -> Bytes:
        """Two of four, or for `.tf32` one of two."""
        choices = kept_pairs(self.form.filling["atype"])
        drawn = [sum(chance.choice(choices) << 4 * at for at in range(8)) for _ in range(BLOCK)]
        return np.array(drawn, np.uint32).view(np.uint8)


def products(forms: Iterable[Form]) -> Iterator[Product]:
    """The scenes of forms of `wgmma.mma_async`."""
    for form in forms:
        if not form.filling.get("mma_async"):
            continue
        name = ".".join((form.opcode, *(word for word in form.words if word not in {"sync", "aligned"})))
        for count in form.counts:
            names = {slot.name for slot in form.operands(count)}
            for where, in_registers in (("shared", False), ("registers", True)):
                if names & {"factor", "registers" if in_registers else "a"}:
                    yield Product(f"{name}@{where}", form, count, in_registers)


def _descriptor(chance: Random, across: int, size: tuple[int, int], start: int) -> int:
    """A descriptor of a matrix of (lines, columns) of core matrices that fits in half an image."""
    while True:
        swizzle, largest = chance.randrange(4), chance.choice((16, 64, 256, 1024))
        leading, stride = 16 * chance.randint(0, largest), 16 * chance.randint(0, largest)
        reach = _reach(swizzle, leading, stride, across, size)
        if reach <= _HALF:
            break
    at = start + 16 * chance.randint(0, (_HALF - reach) // 16)
    base = chance.randrange(8) if swizzle and chance.random() < 0.5 else 0
    return MatrixDescriptor(at, leading, stride, _SWIZZLES[swizzle].name, base).bits


def _reach(swizzle: int, leading: int, stride: int, across: int, size: tuple[int, int]) -> int:
    """The bytes from a matrix's start to its end, including those that the swizzle may add."""
    pitch = _SWIZZLES[swizzle].span_bytes
    beside, along = size[::-1] if across else size
    if across and not swizzle:
        leading, stride = stride, leading
    return (beside - 1) * stride + (along - 1) // (pitch // 16) * leading + 8 * pitch + 128
