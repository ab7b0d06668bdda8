"""InstructionDescriptor: the 32 bits with types, sizes and options of `tcgen05.mma` (PTX ISA 9.7.16.4.2).

The meaning of bits depends on the instruction's kind. The manual's M of block-scaled kinds has the same bits as that of
the others, which end one bit lower.
"""

from __future__ import annotations

from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.matrix import Word
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle

DENSE_KINDS: Final = ("f16", "tf32", "f8f6f4", "i8")
SCALED_KINDS: Final = ("mxf8f6f4", "mxf4", "mxf4nvf4")
_NARROW: Final = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
_FLOATS: Final = {"f16": 0, "f32": 1}
TYPES: Final[dict[str, dict[str, int]]] = {
    "f16": {"f16": 0, "bf16": 1},
    "tf32": {"tf32": 2},
    "f8f6f4": _NARROW,
    "i8": {"u8": 0, "s8": 1},
    "mxf8f6f4": _NARROW,
    "mxf4": {"e2m1": 1},
    "mxf4nvf4": {"e2m1": 1},
}
"""The types of A and B by kind, with their numbers."""
RESULTS: Final[dict[str, dict[str, int]]] = {
    "f16": _FLOATS,
    "tf32": {"f32": 1},
    "f8f6f4": _FLOATS,
    "i8": {"s32": 2},
}
"""The types of D; for block-scaled kinds always `.f32`."""
SCALE_TYPES: Final = {"ue4m3": 0, "ue8m0": 1}

SELECTOR: Final = Word("sparsity selector", 0, 2)
SPARSE: Final = Word("sparsity", 2, 1)
SATURATE: Final = Word("saturate for integer types", 3, 1)
D_TYPE: Final = Word("type of D", 4, 2)
B_SCALE: Final = Word("scale factor id of B", 4, 2)
A_TYPE: Final = Word("type of A", 7, 3)
B_TYPE: Final = Word("type of B", 10, 3)
NEGATE_A: Final = Word("negate A", 13, 1)
NEGATE_B: Final = Word("negate B", 14, 1)
TRANSPOSE_A: Final = Word("transpose A", 15, 1)
TRANSPOSE_B: Final = Word("transpose B", 16, 1)
N: Final = Word("N >> 3", 17, 6)
SCALE_TYPE: Final = Word("type of the scales", 23, 1)
M: Final = Word("M >> 4", 24, 5)
A_SCALE: Final = Word("scale factor id of A", 29, 2)
SHIFT: Final = Word("maximum shift of B", 30, 2)
K_96: Final = Word("K is 96", 31, 1)

_BOTH: Final = (SPARSE, A_TYPE, B_TYPE, NEGATE_A, NEGATE_B, TRANSPOSE_A, TRANSPOSE_B, N, M)
_DENSE_WORDS: Final = (SELECTOR, SATURATE, D_TYPE, SHIFT)
_SCALED_WORDS: Final = (B_SCALE, SCALE_TYPE, A_SCALE, K_96)


def words_of(kind: str) -> tuple[Word, ...]:
    """The words of a kind's descriptor, from the lowest bit up."""
    own = _SCALED_WORDS if kind in SCALED_KINDS else _DENSE_WORDS
    return tuple(sorted((*_BOTH, *own), key=lambda word: word.first))


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """The product of a `tcgen05.mma`, from its 32 bits.

    Attributes:
        kind: `f16`, `tf32`, `f8f6f4`, `i8`, `mxf8f6f4`, `mxf4` or `mxf4nvf4`: from the instruction.
        m, n: The rows of D and its columns.
        a_type, b_type, d_type: Types of elements.
        negate_a, negate_b: Whether a factor is negated.
        transpose_a, transpose_b: Whether a factor is contiguous along M or N in shared memory, not along K.
        sparse: Whether A is stored with metadata.
        selector: The selected metadata, for `f16` and `tf32`.
        saturate: Whether integers saturate at the limits of `.s32`.
        scale_type: `ue8m0` or `ue4m3`, for block-scaled kinds.
        a_scale, b_scale: The byte of a word with the first scale.
        shift: The largest shift of B's columns with `.ws`: 0, 8, 16 or 32.
        k_96: Whether k is 96, for `mxf4` and `mxf4nvf4` on sm_103a.
        stray_bits: Bits that belong to no word.

    Example:
        >>> descriptor = InstructionDescriptor("f16", 128, 64, "f16", "f16", "f32")
        >>> hex(descriptor.bits), InstructionDescriptor.from_bits("f16", 0x08100010) == descriptor
        ('0x8100010', True)
    """

    kind: str
    m: int
    n: int
    a_type: str
    b_type: str
    d_type: str = "f32"
    negate_a: bool = False
    negate_b: bool = False
    transpose_a: bool = False
    transpose_b: bool = False
    sparse: bool = False
    selector: int = 0
    saturate: bool = False
    scale_type: str = ""
    a_scale: int = 0
    b_scale: int = 0
    shift: int = 0
    k_96: bool = False
    stray_bits: int = 0

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, TYPES)
        _one_of("a_type", self.a_type, TYPES[self.kind])
        _one_of("b_type", self.b_type, TYPES[self.kind])
        _one_of("d_type", self.d_type, RESULTS.get(self.kind, {"f32": 1}))
        if self.is_scaled:
            _one_of("scale_type", self.scale_type, SCALE_TYPES)
        elif self.scale_type:
            raise UsageError("scale_type", self.scale_type, f"none for kind {self.kind}, which has no scales")
        _one_of("shift", self.shift, SHIFTS)
        for name, value, unit, word in (("m", self.m, 16, M), ("n", self.n, 8, N)):
            if value % unit or not 0 <= value // unit < 1 << word.bits:
                raise UsageError(name, value, f"a multiple of {unit} below {unit << word.bits}")
        for name in ("selector", "a_scale", "b_scale"):
            if getattr(self, name) not in range(4):
                raise UsageError(name, getattr(self, name), "0 to 3")

    @property
    def is_scaled(self) -> bool:
        """Whether the kind has block scales."""
        return self.kind in SCALED_KINDS

    @property
    def words(self) -> tuple[tuple[Word, int], ...]:
        """Every word with its value."""
        return tuple((word, word.of(self.bits)) for word in words_of(self.kind))

    @property
    def bits(self) -> int:
        """The 32 bits."""
        held = {
            SPARSE: int(self.sparse),
            A_TYPE: TYPES[self.kind][self.a_type],
            B_TYPE: TYPES[self.kind][self.b_type],
            NEGATE_A: int(self.negate_a),
            NEGATE_B: int(self.negate_b),
            TRANSPOSE_A: int(self.transpose_a),
            TRANSPOSE_B: int(self.transpose_b),
            N: self.n >> 3,
            M: self.m >> 4,
        }
        if self.is_scaled:
            held |= {B_SCALE: self.b_scale, A_SCALE: self.a_scale, K_96: int(self.k_96)}
            held[SCALE_TYPE] = SCALE_TYPES[self.scale_type]
        else:
            held |= {SELECTOR: self.selector, SATURATE: int(self.saturate), SHIFT: SHIFTS.index(self.shift)}
            held[D_TYPE] = RESULTS[self.kind][self.d_type]
        return sum(value << word.first for word, value in held.items()) ^ self.stray_bits

    @classmethod
    def from_bits(cls, kind: str, bits: int) -> InstructionDescriptor:
        """Read 32 bits.

        Args:
            kind: The instruction's.
            bits: The descriptor.

        Returns:
            The descriptor; its `bits` are these again.

        Raises:
            UsageError: They are not 32 bits, or name a type that the kind does not have.
        """
        _one_of("kind", kind, TYPES)
        must_be(int, "bits", bits, "a whole number of 32 bits")
        if not 0 <= bits < 1 << 32:
            raise UsageError("bits", hex(bits), "32 bits: from 0 to 0xffffffff")
        scaled = kind in SCALED_KINDS
        scale_types = {number: name for name, number in SCALE_TYPES.items()}
        return cls(
            kind,
            M.of(bits) << 4,
            N.of(bits) << 3,
            _named(A_TYPE, bits, TYPES[kind]),
            _named(B_TYPE, bits, TYPES[kind]),
            "f32" if scaled else _named(D_TYPE, bits, RESULTS[kind]),
            negate_a=bool(NEGATE_A.of(bits)),
            negate_b=bool(NEGATE_B.of(bits)),
            transpose_a=bool(TRANSPOSE_A.of(bits)),
            transpose_b=bool(TRANSPOSE_B.of(bits)),
            sparse=bool(SPARSE.of(bits)),
            selector=0 if scaled else SELECTOR.of(bits),
            saturate=not scaled and bool(SATURATE.of(bits)),
            scale_type=scale_types[SCALE_TYPE.of(bits)] if scaled else "",
            a_scale=A_SCALE.of(bits) if scaled else 0,
            b_scale=B_SCALE.of(bits) if scaled else 0,
            shift=0 if scaled else SHIFTS[SHIFT.of(bits)],
            k_96=scaled and bool(K_96.of(bits)),
            stray_bits=bits & ~sum(word.mask for word in words_of(kind)) & 0xFFFFFFFF,
        )

    def __str__(self) -> str:
        return f"0x{self.bits:08x}"


SHIFTS: Final = (0, 8, 16, 32)
"""The meanings of the two bits of the largest shift."""


def _one_of(name: str, value: object, legal: object) -> None:
    if value not in legal:  # pyright: ignore[reportOperatorIssue]
        raise UsageError(name, value, f"one of {', '.join(map(str, legal))}")  # pyright: ignore[reportArgumentType]


def _named(word: Word, bits: int, names: dict[str, int]) -> str:
    """The type whose number a word holds."""
    for name, number in names.items():
        if number == word.of(bits):
            return name
    legal = ", ".join(f"{number} ({name})" for name, number in names.items())
    raise UsageError(f"the {word.name} in 0x{bits:08x}", word.of(bits), f"one of {legal}")
