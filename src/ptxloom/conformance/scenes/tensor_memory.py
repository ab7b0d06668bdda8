"""Tensor memory: `tcgen05.mma` of every kind and type, `cp`, `shift`, and `ld` and `st` of every shape.

Tensor memory is filled first, and all of it is read at the end, so that any stray write shows.
Each runs on one CTA: pairs of CTAs (`.cta_group::2`) are not covered.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from ptxloom.conformance.kernel_text import BLOCK
from ptxloom.conformance.scenes.scene import Scene, filled, joined, kept_pairs
from ptxloom.dataclass import dataclass
from ptxloom.descriptors import MatrixDescriptor
from ptxloom.descriptors.instruction import RESULTS, SCALE_TYPES, SCALED_KINDS, TYPES, InstructionDescriptor
from ptxloom.descriptors.tensor_types import swizzle_bytes
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.tensor_products import product_of, refusal, scale_ids
from ptxloom.isa.types import element_type
from ptxloom.isa.vectors import vector_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from ptxloom.conformance.scenes.scene import Bytes
    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot
    from ptxloom.isa.tensor_products import TensorProduct

_UNSPOKEN: Final = frozenset({"sync", "aligned", "cta_group::1", "block_scale"})
_IMAGE: Final = 32768
_HALF: Final = _IMAGE // 2
_ROWS: Final = 128
_LEFT, _SCALES_A, _SCALES_B, _METADATA = 64, 96, 104, 112
"""Columns: D comes first, then the left factor, scales, metadata."""
_SWIZZLES: Final = ("none", "128B", "64B", "32B")
_COLUMN: Final = 4 * _ROWS
_OPENED: Final = (
    ".shared .align 16 .b8 slot[16]; .shared .align 8 .b64 bar; .reg .b32 warp, tm, lane, word; .reg .pred other;\n"
    "shr.u32 warp, t, 5; setp.ne.u32 other, warp, 0; mov.u32 i, slot; @other bra ALLOCATED;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [i], {columns};\n"
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "ALLOCATED: @first mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; bar.sync 0;\n"
    "ld.shared.u32 tm, [slot]; shl.b32 lane, warp, 21; add.u32 lane, lane, tm;\n"
    "mul.wide.u32 at, t, 4; add.u64 from, in, at; mov.u32 i, 0; mov.b32 to, lane;\n"
    "PUT: ld.global.u32 word, [from+{offset}]; tcgen05.st.sync.aligned.32x32b.x1.b32 [to], {{word}};\n"
    "add.u64 from, from, 512; add.u32 to, to, 1; add.u32 i, i, 1; setp.lt.u32 more, i, {columns}; @more bra PUT;\n"
    "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;\n"
    "tcgen05.fence::after_thread_sync;\n"
)
_COMMITTED: Final = (
    "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
    "WAIT: mbarrier.try_wait.parity.shared.b64 done, [bar], 0; @!done bra WAIT;\n"
    "tcgen05.fence::after_thread_sync;\n"
)
_READ: Final = (
    "mul.wide.u32 at, t, 4; add.u64 from, out, at; mov.u32 i, 0; mov.b32 to, lane;\n"
    "GET: tcgen05.ld.sync.aligned.32x32b.x1.b32 {{word}}, [to]; tcgen05.wait::ld.sync.aligned;\n"
    "st.global.u32 [from], word; add.u64 from, from, 512; add.u32 to, to, 1; add.u32 i, i, 1;\n"
    "setp.lt.u32 more, i, {columns}; @more bra GET;\n"
)
_CLOSED: Final = (
    "tcgen05.fence::before_thread_sync; bar.sync 0; @other bra FREED;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 tm, {columns};\nFREED:\n"
)


@dataclass(frozen=True)
class InTensorMemory(Scene):
    """The common part of instructions of tensor memory: its columns, and their initial contents."""

    @property
    def columns(self) -> int:
        """The number of columns of tensor memory."""
        return 128

    @property
    def image_bytes(self) -> int:
        """The bytes of shared memory."""
        return _IMAGE

    @property
    def in_bytes(self) -> int:
        """Numbers of a case, shared memory, tensor memory."""
        return 64 + self.image_bytes + self.columns * _COLUMN

    @property
    def out_bytes(self) -> int:
        """Tensor memory."""
        return self.columns * _COLUMN

    def body(self) -> str:
        """Fill tensor memory, run the instruction, read tensor memory."""
        image = "add.u64 from, in, 64; mov.b64 image_in, from;\n"
        shared = f".shared .align 1024 .b8 image[{_IMAGE}]; .reg .b64 image_in;\n{image}"
        shared = f"{shared}{filled('image', _IMAGE, 'image_in')}" if self.image_bytes else ""
        opened = _OPENED.format(columns=self.columns, offset=64 + self.image_bytes)
        return f"{shared}{opened}{self.instruction()}{_CLOSED.format(columns=self.columns)}"

    @abstractmethod
    def instruction(self) -> str:
        """The instruction, and the code that stores its results."""

    def read(self) -> str:
        """Copy all of tensor memory to `out`."""
        return _READ.format(columns=self.columns)


@dataclass(frozen=True)
class TensorProductScene(InTensorMemory):
    """A `tcgen05.mma`.

    Attributes:
        types: The types of A, B and D.
        saturate: Whether integers saturate.
        scale_type: The type of scales; empty without.
    """

    types: tuple[str, str, str]
    saturate: bool
    scale_type: str

    @property
    def product(self) -> TensorProduct:
        """The product that the qualifiers describe."""
        return product_of(self.form.words)

    def instruction(self) -> str:
        """One thread multiplies."""
        operands = ", ".join(map(self._spelled, self.form.operands(self.count)))
        masks = [crc32(f"{self.name} {at}".encode()) for at in range(4)]
        lanes = "".join(f"mov.b32 l{at}, {mask & masks[at - 1]}; " for at, mask in enumerate(masks))
        return (
            f".reg .b32 l<4>; {lanes}\n"
            ".reg .b64 left, right, base; .reg .b32 idesc, am, sa, sb, meta; .reg .pred add;\n"
            "ld.global.v2.b64 {left, right}, [in]; ld.global.v2.b32 {idesc, n}, [in+16]; setp.ne.u32 add, n, 0;\n"
            "mov.u32 i, image; shr.u32 i, i, 4; cvt.u64.u32 base, i; add.u64 left, left, base;\n"
            f"add.u64 right, right, base; add.u32 am, tm, {_LEFT}; add.u32 sa, tm, {_SCALES_A};\n"
            f"add.u32 sb, tm, {_SCALES_B}; add.u32 meta, tm, {_METADATA};\n"
            f"@first {self.form.spelling} {operands};\n{_COMMITTED}{self.read()}"
        )

    def _spelled(self, slot: OperandSlot) -> str:
        choice = crc32(self.name.encode())
        return {
            "tmem": "[tm]",
            "a": "left",
            "am": "[am]",
            "b": "right",
            "idesc": "idesc",
            "enable": "add",
            "meta": "[meta]",
            "scaleA": "[sa]",
            "scaleB": "[sb]",
            "scale": str(choice % 16),
            "disable": "{l0, l1, l2, l3}",
        }[slot.name]

    def given(self, case: int) -> Bytes:
        """Descriptors, shared memory, tensor memory."""
        chance = self.chance(case)
        told = self.descriptor(chance)
        steps = 2 + 2 * self.product.sparse
        left, right = _matrix(chance, _ROWS // 8, 2, 0), _matrix(chance, told.n // 8, steps, _HALF)
        head = np.array([left, right, told.bits | int(chance.randrange(4) != 0) << 32], np.uint64).view(np.uint8)
        a, b, d = self.types
        image = (self._filled(case, 0, a, _HALF), self._filled(case, 1, b, _HALF))
        tensor = (
            self._filled(case, 2, d, _LEFT * _COLUMN),
            self._filled(case, 3, a, (_SCALES_A - _LEFT) * _COLUMN),
            _scales(chance, self.scale_type, (_METADATA - _SCALES_A) * _COLUMN),
            _metadata(chance, a, (self.columns - _METADATA) * _COLUMN),
        )
        return joined((joined((head,), 64), *image, *tensor), self.in_bytes)

    def descriptor(self, chance: Random) -> InstructionDescriptor:
        """Types, sizes and options of a case."""
        found, scaled = self.product, self.product.kind in SCALED_KINDS
        most = [n for n in range(8, _LEFT + 1, 8) if not refusal(found, _ROWS, n, found.sparse)]
        scales = scale_ids(int(found.scale_vector[0])) if scaled else (0,)
        a, b, d = self.types
        negates = found.kind != "i8"
        return InstructionDescriptor(
            *(found.kind, _ROWS, chance.choice(most), a, b, d),
            negate_a=negates and chance.random() < 0.3,
            negate_b=negates and chance.random() < 0.3,
            sparse=found.sparse,
            saturate=self.saturate,
            scale_type=self.scale_type,
            a_scale=chance.choice(scales),
            b_scale=chance.choice(scales),
        )

    def _filled(self, case: int, part: int, kind: str, size: int) -> Bytes:
        """Memory of elements: each in a container of whole bytes."""
        kind = {"tf32": "f32"}.get(kind, kind)
        bits = element_type(kind).packed_bits
        made = self.elements(case, part, 8 * size // bits, kind)
        return made[:size]


def _matrix(chance: Random, groups: int, steps: int, start: int) -> int:
    """A descriptor of `8 groups` rows of `16 steps` bytes, k along them, in half of the image."""
    swizzle = chance.choice([one for one in _SWIZZLES if one == "none" or swizzle_bytes(one) >= 16 * steps])
    pitch = swizzle_bytes(swizzle)
    while True:
        stride = 8 * pitch * chance.randint(1, 2) if pitch else 16 * chance.randint(1, 128)
        leading = 16 * chance.randint(1, 128)
        reach = (groups - 1) * stride + (8 * pitch if pitch else (steps - 1) * leading + 128)
        if reach <= _HALF:
            break
    unit = 1024 if pitch else 16
    at = start + unit * chance.randint(0, (_HALF - reach) // unit)
    return MatrixDescriptor(at, leading, stride, swizzle, generation="tcgen05").bits


def _scales(chance: Random, kind: str, size: int) -> Bytes:
    """Bytes of scales: mostly near one, sometimes any; also for products without scales, which do not read them."""
    one = FLOAT_FORMATS[kind or "ue8m0"].one
    drawn = [one + chance.randint(-6, 6) if chance.random() < 0.97 else chance.getrandbits(8) for _ in range(size)]
    made = np.array(drawn, np.uint8)
    return made & np.uint8(0x7F) if kind == "ue4m3" else made


def _metadata(chance: Random, kind: str, size: int) -> Bytes:
    """The kept elements of sparse rows: two of four; `.tf32`: one of two; 4-bit types: two of four pairs."""
    choices = kept_pairs(kind)
    return np.array([chance.choice(choices) | chance.choice(choices) << 4 for _ in range(size)], np.uint8)


@dataclass(frozen=True)
class Filling(InTensorMemory):
    """`cp` from shared memory, and `shift`."""

    def instruction(self) -> str:
        """One thread copies."""
        where = "[tm], left" if self.form.filling.get("cp") else "[tm]"
        return (
            ".reg .b64 left, base; ld.global.b64 left, [in]; mov.u32 i, image; shr.u32 i, i, 4; cvt.u64.u32 base, i;\n"
            f"add.u64 left, left, base; @first {self.form.spelling} {where};\n{_COMMITTED}{self.read()}"
        )

    def given(self, case: int) -> Bytes:
        """A descriptor, shared memory, tensor memory."""
        chance = self.chance(case)
        head = np.array([_matrix(chance, _ROWS // 8, 2, 0)], np.uint64).view(np.uint8)
        image = self.elements(case, 0, self.image_bytes // 4, "b32")
        tensor = self.elements(case, 1, self.columns * _ROWS, "b32")
        return joined((joined((head,), 64), image, tensor), self.in_bytes)


@dataclass(frozen=True)
class TensorMemoryMove(InTensorMemory):
    """`ld` to registers, or `st` from them."""

    @property
    def columns(self) -> int:
        """All of them."""
        return 512

    @property
    def image_bytes(self) -> int:
        """No shared memory."""
        return 0

    @property
    def loads(self) -> bool:
        """Whether registers are written."""
        return bool(self.form.filling.get("ld"))

    @property
    def registers(self) -> int:
        """The number of registers of a thread."""
        return vector_length(self.form, "r" if self.loads else "s")

    @property
    def in_bytes(self) -> int:
        """Tensor memory, registers."""
        return super().in_bytes + 4 * BLOCK * self.registers

    @property
    def out_bytes(self) -> int:
        """Registers, or tensor memory."""
        return max(4 * self.registers, 8) * BLOCK if self.loads else super().out_bytes

    def instruction(self) -> str:
        """Every warp moves its own lanes."""
        names = "{" + ", ".join(f"r{at}" for at in range(self.registers)) + "}"
        distance = str(16 * (1 + crc32(self.name.encode()) % 8))
        texts = {"tmem": "[lane]", "r": names, "s": names, "offset": distance}
        text = f"{self.form.spelling} {', '.join(texts[slot.name] for slot in self.form.operands(self.count))};\n"
        declared = f".reg .b32 r<{self.registers}>;\n"
        if self.loads:
            row = self.out_bytes // BLOCK
            stores = "".join(f"st.global.b32 [at+{4 * at}], r{at};\n" for at in range(self.registers))
            return f"{declared}{text}tcgen05.wait::ld.sync.aligned; mad.wide.u32 at, t, {row}, out;\n{stores}"
        first = super().in_bytes
        loads = "".join(f"ld.global.b32 r{at}, [at+{first + 4 * BLOCK * at}];\n" for at in range(self.registers))
        place = "mul.wide.u32 at, t, 4; add.u64 at, in, at;\n"
        return f"{declared}{place}{loads}{text}tcgen05.wait::st.sync.aligned;\n{self.read()}"

    def given(self, case: int) -> Bytes:
        """Tensor memory and registers."""
        tensor = self.elements(case, 0, self.columns * _ROWS, "b32")
        registers = self.elements(case, 1, BLOCK * self.registers, "b32")
        return joined((np.zeros(64, np.uint8), tensor, registers), self.in_bytes)


def in_tensor_memory(forms: Iterable[Form]) -> Iterator[InTensorMemory]:
    """The scenes of forms of `tcgen05`."""
    for form in forms:
        rules = [form.spec.operands[slot.name] for slot in form.line.operands]
        if all(rule.type != "tensor" for rule in rules) or form.filling.get("cta_group") == "cta_group::2":
            continue
        name = ".".join((form.opcode, *(word for word in form.words if word not in _UNSPOKEN)))
        count, filling = min(form.counts), form.filling
        if filling.get("mma") and not filling.get("collector"):
            yield from _products(name, form, count)
        elif filling.get("cp") or filling.get("shift"):
            yield Filling(name, form, count)
        elif (filling.get("ld") and not filling.get("red")) or filling.get("st"):
            yield TensorMemoryMove(name, form, count)


def _products(name: str, form: Form, count: int) -> Iterator[TensorProductScene]:
    slots = [slot.name for slot in form.operands(count)]
    found = product_of(form.words)
    more = [word for word, slot in (("tensor", "am"), ("lanes", "disable"), ("scaled", "scale")) if slot in slots]
    combinations = list(_types(found))
    for types, saturate, scale_type in combinations:
        told = [*more]
        if len(combinations) > 1:
            same = len(set(types[:2])) == 1 and types[2] in {"f32", "s32"}
            told = [types[0] if same else ".".join(types), *([scale_type] if scale_type else []), *told]
            told += ["saturate"] if saturate else []
        yield TensorProductScene(f"{name}@{'.'.join(told)}" if told else name, form, count, types, saturate, scale_type)


def _types(found: TensorProduct) -> Iterator[tuple[tuple[str, str, str], bool, str]]:
    """The legal types of A, B and D of a kind, whether integers saturate, and the type of scales."""
    kinds, results = TYPES[found.kind], RESULTS.get(found.kind, {"f32": 1})
    for a, b, d in product(kinds, kinds, results):
        if found.kind == "f16" and (a != b or (d, a) == ("f16", "bf16")):
            continue
        for saturate in (False, True) if found.kind == "i8" else (False,):
            if found.kind not in SCALED_KINDS:
                yield (a, b, d), saturate, ""
                continue
            for scale_type in SCALE_TYPES:
                if scale_type == "ue8m0" or (found.kind, found.scale_vector) == ("mxf4nvf4", "4X"):
                    yield (a, b, d), False, scale_type
