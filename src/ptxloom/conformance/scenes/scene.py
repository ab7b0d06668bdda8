"""A scene: one instruction with everything that it needs, for a CTA of 128 threads per case.

Its kernel has three parameters: `out`, `in`, and an object of the host (tensor maps, a texture, a surface), or nothing.
CTA `c` reads `in_bytes` at `in + c in_bytes`, and stores `out_bytes` at `out + c out_bytes`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.conformance.inputs import STYLES, float_words, integer_words, parts_of_float, words
from ptxloom.conformance.kernel_text import BLOCK
from ptxloom.dataclass import dataclass
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.scenes.things import Thing
    from ptxloom.isa.form import Form

    Bytes = NDArray[np.uint8]

CASES_A_SCENE: Final = 32
"""The number of cases of a path of one instruction for one case of a scene."""

_OPENING: Final = (
    ".reg .b64 in, out, thing, at, from; .reg .b32 t, c, i, n, to; .reg .pred more, first, done;\n"
    "mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; setp.eq.u32 first, t, 0;\n"
    "ld.param.u64 in, [in_]; ld.param.u64 out, [out_]; ld.param.u64 thing, [thing_];\n"
    "cvta.to.global.u64 in, in; cvta.to.global.u64 out, out;\n"
)


@dataclass(frozen=True)
class Scene(ABC):
    """A scene.

    Attributes:
        name: Its name.
        form: The form that it tests.
        count: The number of its operands.
    """

    name: str
    form: Form
    count: int

    @property
    def lanes(self) -> int:
        """The number of threads of a case."""
        return BLOCK

    @property
    @abstractmethod
    def in_bytes(self) -> int:
        """The size of a CTA's input: a multiple of 16."""

    @property
    @abstractmethod
    def out_bytes(self) -> int:
        """The size of a CTA's results: a multiple of 1024, thread by thread."""

    @abstractmethod
    def body(self) -> str:
        """The kernel's code after the addresses of `in` and `out`."""

    @abstractmethod
    def given(self, case: int) -> Bytes:
        """The input of a case's CTA."""

    def before(self, case: int) -> Bytes:
        """The initial contents of the results of a case's CTA."""
        del case
        return np.zeros(self.out_bytes, np.uint8)

    def thing(self, cases: int) -> Thing | None:
        """The object that the host makes for a launch of a number of cases."""
        del cases
        return None

    @property
    def directives(self) -> str:
        """Directives between the kernel's parameters and its body."""
        return ""

    def text(self, kernel: str) -> str:
        """The kernel."""
        places = (
            f"mad.wide.u32 in, c, {self.in_bytes}, in; mad.wide.u32 out, c, {self.out_bytes}, out;\n{self.body()}\n"
        )
        parameters = ".param .u64 out_, .param .u64 in_, .param .u64 thing_"
        return f".visible .entry {kernel}({parameters}) {self.directives}{{\n{_OPENING}{places}ret;\n}}\n"

    def chance(self, case: int) -> Random:
        """The random numbers of a case, the same on every machine."""
        return Random(f"{self.name} {case}")

    def elements(self, case: int, part: int, count: int, kind: str) -> Bytes:
        """`count` elements of a type, packed as in memory: part number `part` of a case.

        All have one style (`ptxloom.conformance.inputs`), like the operands of one instruction.
        """
        type_ = element_type(kind)
        bits = max(type_.packed_bits, 1)
        which = np.uint64(case << 8 | part)
        choice = words(f"{self.name} style", np.full(1, which, np.uint64), 0)
        anchor = words(f"{self.name} anchor", np.full(1, np.uint64(case), np.uint64), 0)
        drawn = words(self.name, (which << np.uint64(20)) + np.arange(count, dtype=np.uint64), 0)
        style = np.broadcast_to(choice % np.uint64(STYLES), drawn.shape)
        split = parts_of_float(type_)
        given = (drawn, style, np.broadcast_to(anchor, drawn.shape))
        values = integer_words(*given, bits) if split is None else float_words(given, *split)
        return packed(values, bits)


def packed(values: Words, bits: int) -> Bytes:
    """Words of packed elements with a number of bits."""
    if bits in {8, 16, 32, 64}:
        return np.ascontiguousarray(values.astype(f"<u{bits // 8}")).view(np.uint8)
    ones = (values[:, None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)
    return np.packbits(ones.astype(np.uint8).reshape(-1), bitorder="little")


def joined(parts: Iterable[Bytes], size: int) -> Bytes:
    """Concatenated parts, padded with zeros."""
    made = np.zeros(size, np.uint8)
    at = 0
    for part in parts:
        made[at : at + part.size] = part
        at += part.size
    return made


def kept_pairs(kind: str) -> tuple[int, ...]:
    """Metadata for four elements of a sparse row, of which two are kept; for `.tf32` one of two."""
    return (0b0100, 0b1110) if kind == "tf32" else (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)


def filled(image: str, size: int, source: str = "in") -> str:
    """Copy `size` bytes, a multiple of 2048, to a variable in shared memory."""
    return _copied(image, size, source, "FILL: ld.global.v4.b32 {v}, [from]; st.shared.v4.b32 [to], {v};", "f")


def emptied(image: str, size: int, target: str = "out") -> str:
    """Copy `size` bytes, a multiple of 2048, from a variable in shared memory."""
    return _copied(image, size, target, "GIVE: ld.shared.v4.b32 {v}, [to]; st.global.v4.b32 [from], {v};", "g")


def _copied(image: str, size: int, beside: str, moved: str, letter: str) -> str:
    """A loop of 16 bytes a thread over shared memory, at `to`, and global memory, at `from`."""
    registers = "{" + ", ".join(f"{letter}{at}" for at in range(4)) + "}"
    return (
        f"mov.u32 to, {image}; shl.b32 i, t, 4; add.u32 to, to, i; cvt.u64.u32 at, i; add.u64 from, {beside}, at;\n"
        f".reg .b32 {letter}<4>;\n{moved.replace('{v}', registers)}\n"
        "add.u64 from, from, 2048; add.u32 to, to, 2048; add.u32 i, i, 2048;\n"
        f"setp.lt.u32 more, i, {size}; @more bra {moved.partition(':')[0]};\n"
    )
