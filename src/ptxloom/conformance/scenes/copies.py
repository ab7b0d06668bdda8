"""Copies by the async proxy: tensors of every rank, mode, type and layout, rows of bytes; loads, stores, reductions.

The result of a load is shared memory, that of a store or a reduction its destination. Each CTA has a tensor map of its
own.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.conformance.scenes.boxes import LAYOUTS, ROOM, TENSOR, columns, fits, tile
from ptxloom.conformance.scenes.scene import Scene, emptied, filled, joined
from ptxloom.conformance.scenes.things import Maps
from ptxloom.dataclass import dataclass
from ptxloom.descriptors import DATA_TYPES
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.conformance.scenes.scene import Bytes
    from ptxloom.descriptors import Box, TensorMap
    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot

_HEAD: Final = 64
"""Bytes of a CTA's `in` before its memory: the place of the box, coordinates, offsets, the number of moved bytes."""
_ROWS: Final = 4096
"""The most bytes of a row that a copy without a map moves."""
_MAPPED: Final = {
    "f32": ("FLOAT32", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ"),
    "u32": ("UINT32",),
    "s32": ("INT32",),
    "u64": ("UINT64",),
    "s64": ("INT64",),
    "b32": ("UINT32", "INT32"),
    "b64": ("UINT64",),
    "f16": ("FLOAT16",),
    "bf16": ("BFLOAT16",),
    "f64": ("FLOAT64",),
}
"""The types of a map's elements for a reduction without a map, by PTX's name."""
_ELEMENTS: Final = {
    kind: name for name, kinds in _MAPPED.items() if name[0] != "b" or name == "bf16" for kind in kinds
} | {"UINT8": "u8", "UINT16": "u16"}
_PLACE: Final = (
    f".shared .align 1024 .b8 room[{ROOM}]; .shared .align 8 .b64 bar; .reg .b32 near, bytes, x<5>; .reg .b16 o<4>;\n"
    ".reg .b64 token; ld.global.v4.b32 {near, bytes, x0, x1}, [in]; ld.global.v2.b32 {x2, x3}, [in+16];\n"
    "ld.global.b32 x4, [in+24]; ld.global.v4.b16 {o0, o1, o2, o3}, [in+32];\n"
)
_READY: Final = (
    "@first mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n"
)
_EXPECT: Final = "@first mbarrier.arrive.expect_tx.shared.b64 token, [bar], bytes; bar.sync 0;\n"
_TOLD: Final = "WAIT: mbarrier.try_wait.parity.shared.b64 done, [bar], 0; @!done bra WAIT;\n"
_GONE: Final = "@first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group 0;\n"


@dataclass(frozen=True)
class Copy(Scene):
    """The common part of both kinds of copies."""

    @property
    def loads(self) -> bool:
        """Whether shared memory is written."""
        return self.form.filling.get("dst", "").startswith("shared")

    @property
    def size(self) -> int:
        """Bytes of global memory, not counting shared memory's image."""
        return TENSOR

    @property
    def in_bytes(self) -> int:
        """The places of the copy, source memory, shared memory: at least 256 bytes between them."""
        return 256 + self.size + ROOM

    @property
    def out_bytes(self) -> int:
        """The size of the written memory."""
        return ROOM if self.loads else self.size

    def body(self) -> str:
        """Fill shared memory, copy, and store the written memory."""
        room = f"add.u64 thing_in, in, {256 + self.size};\n"
        operands = ", ".join(map(self.spelled, self.form.operands(self.count)))
        copy = f"@first {self.form.spelling} {operands};\n"
        tells = "mbarrier::complete_tx::bytes" in self.form.words
        before, after = (_EXPECT, _TOLD) if tells else ("", _GONE)
        left = f"bar.sync 0;\n{emptied('room', ROOM)}" if self.loads else ""
        return (
            f".reg .b64 thing_in; {_PLACE}{room}{filled('room', ROOM, 'thing_in')}mov.u32 i, room;\n"
            f"add.u32 near, near, i;\n{self.prepared()}{_READY}{before}{copy}{after}{left}"
        )

    def prepared(self) -> str:
        """Further code before the copy."""
        return ""

    @abstractmethod
    def spelled(self, slot: OperandSlot) -> str:
        """An operand."""

    def memory(self, case: int) -> Bytes:
        """Global memory that is read or written."""
        return self.elements(case, 0, self.size, "u8")

    def before(self, case: int) -> Bytes:
        """The initial results: shared memory will be overwritten; global memory is the destination."""
        return np.zeros(ROOM, np.uint8) if self.loads else self.memory(case)

    @abstractmethod
    def head(self, case: int) -> Bytes:
        """The places of the copy."""

    def given(self, case: int) -> Bytes:
        """The input of a CTA."""
        parts = (joined((self.head(case),), 256), self.memory(case), self.room(case))
        return joined(parts, self.in_bytes)

    def room(self, case: int) -> Bytes:
        """The contents of shared memory."""
        return self.elements(case, 1, ROOM, "u8")


@dataclass(frozen=True)
class TensorCopy(Copy):
    """A copy by a tensor map.

    Attributes:
        kind: The type of the map's elements.
        layout: One of `LAYOUTS`.
    """

    kind: str
    layout: str

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return int(self.form.filling["dim"][0])

    def box(self, case: int) -> Box:
        """The copy of a case."""
        drawn = columns if "im2col" in self.form.filling.get("load_mode", "") else tile
        return drawn(self.chance(case), self.kind, self.layout, self.rank, stores=not self.loads)

    def spelled(self, slot: OperandSlot) -> str:
        """An operand; the map is the CTA's own."""
        point = ", ".join(f"x{at}" for at in range(self.rank))
        shifts = ", ".join(f"o{at}" for at in range(self.rank - 2))
        return {
            "map": f"[thing, {{{point}}}]",
            **dict.fromkeys(("dstMem", "srcMem"), "[near]"),
            "mbar": "[bar]",
            "ctaMask": "o3",
            "offsets": f"{{{shifts}}}",
        }[slot.name]

    def prepared(self) -> str:
        """The CTA's map, and a mask with only its own bit."""
        fence = "@first fence.proxy.tensormap::generic.acquire.gpu [thing], 128;"
        return f"mad.wide.u32 thing, c, 128, thing; mov.b16 o3, 1; {fence}\n"

    def head(self, case: int) -> Bytes:
        """Place in shared memory, bytes, coordinates, offsets."""
        box = self.box(case)
        point = [*box.coordinate, *[0] * (5 - len(box.coordinate))]
        offsets = [*box.offsets, *[0] * (4 - len(box.offsets))]
        words = np.array([box.shared_address, box.map.transaction_bytes, *point, 0], np.int64).astype(np.uint32)
        return np.concatenate((words.view(np.uint8), np.array(offsets, np.uint16).view(np.uint8)))

    def memory(self, case: int) -> Bytes:
        """The tensor."""
        element = _ELEMENTS[self.kind]
        return self.elements(case, 0, self.size // DATA_TYPES[self.kind].element_bytes, element)

    def room(self, case: int) -> Bytes:
        """Elements of the tensor's type, which reductions need."""
        element = _ELEMENTS[self.kind]
        return self.elements(case, 1, ROOM // DATA_TYPES[self.kind].element_bytes, element)

    def thing(self, cases: int) -> Maps:
        """The maps of all CTAs."""
        stride, first = (self.in_bytes, 256) if self.loads else (self.out_bytes, 0)
        moved = ((self.box(case).map, case * stride + first) for case in range(cases))
        return Maps(tuple(_moved(made, by) for made, by in moved), written=not self.loads)


def _moved(made: TensorMap, by: int) -> TensorMap:
    return replace(made, global_address=made.global_address + by)


@dataclass(frozen=True)
class RowCopy(Copy):
    """A copy of a row of bytes."""

    @property
    def size(self) -> int:
        """Bytes of global memory."""
        return _ROWS

    @property
    def directives(self) -> str:
        """Copies between shared memories need a cluster, here of one CTA."""
        return ".reqnctapercluster 1 " if self.form.filling.get("from") else ""

    def spelled(self, slot: OperandSlot) -> str:
        """An operand; in shared memory the row is read from the second half if it is written to the first."""
        there = "[from]"
        return {
            "dstMem": "[near]" if self.loads else there,
            "srcMem": there if self.loads else "[near]",
            "sharedMem": "[to]",
            "size32": "bytes",
            "mbar": "[bar]",
            "ctaMask": "o3",
            "byteMask": "o0",
        }[slot.name]

    def prepared(self) -> str:
        """The place in global memory, or in the other half of shared memory."""
        base = "add.u64 from, in, 256;" if self.loads else "mov.b64 from, out;"
        there = "cvt.u64.u32 at, x0; add.u64 from, from, at;"
        return f"{base} {there} add.u32 to, i, x0; add.u32 to, to, {ROOM // 2}; mov.b16 o3, 1;\n"

    def head(self, case: int) -> Bytes:
        """Place in shared memory, bytes, place in global memory; a mask of bytes."""
        chance = self.chance(case)
        size = 16 * chance.choice((1, 2, 3, 8, 17, 64, 128, 255))
        near, there = (16 * chance.randint(0, (_ROWS - size) // 16) for _ in range(2))
        words = np.array([near, size, there, 0, 0, 0, 0, 0], np.uint32)
        mask = np.array([chance.getrandbits(16), 0, 0, 0], np.uint16)
        return np.concatenate((words.view(np.uint8), mask.view(np.uint8)))

    def memory(self, case: int) -> Bytes:
        """Elements of the reduction's type."""
        return self._drawn(case, 0, self.size)

    def room(self, case: int) -> Bytes:
        """Likewise."""
        return self._drawn(case, 1, ROOM)

    def _drawn(self, case: int, part: int, size: int) -> Bytes:
        kind = self.form.filling.get("type") or "u8"
        return self.elements(case, part, 8 * size // element_type(kind).bits, kind)


def copies(forms: Iterable[Form]) -> Iterator[Copy]:
    """The scenes of forms of `cp.async.bulk` and `cp.reduce.async.bulk`."""
    known = [form for form in forms if "bulk" in form.words]
    may = _reductions(known)
    for form in known:
        count = min(form.counts)
        names = {slot.name for slot in form.operands(count)}
        if not names & {"dstMem", "srcMem"} or "prefetch" in form.words:
            continue
        if not names <= {"dstMem", "srcMem", "sharedMem", "map", "mbar", "ctaMask", "offsets", "size32", "byteMask"}:
            continue
        name = ".".join((form.opcode, *form.words))
        if "map" not in names:
            yield RowCopy(name, form, count)
            continue
        operation, mode = form.filling.get("redOp", ""), form.filling.get("load_mode", "tile")
        if mode not in {"tile", "im2col", "im2col_no_offs"} or form.filling.get("cta_group"):
            continue
        for kind in DATA_TYPES:
            for layout in LAYOUTS:
                if fits(kind, layout, int(form.filling["dim"][0])) and (not operation or kind in may[operation]):
                    yield TensorCopy(f"{name}@{kind}.{layout}", form, count, kind, layout)


def _reductions(forms: Iterable[Form]) -> dict[str, set[str]]:
    """By operation, the types of maps: those of row reductions in global memory."""
    found: dict[str, set[str]] = {}
    for form in forms:
        kind = form.filling.get("type", "")
        if kind and form.filling.get("dst") == "global":
            operation = form.filling.get("redOp") or "add"
            found.setdefault(operation, set()).update(_MAPPED[kind])
    return found
