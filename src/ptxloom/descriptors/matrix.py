"""MatrixDescriptor: the 64 bits that describe the layout of a matrix in shared memory to wgmma and tcgen05.mma.

Realises PTX ISA 9.7.15.5.1.2.2 (wgmma) and 9.7.16.4.1 (tcgen05).
"""

from __future__ import annotations

from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.swizzling import CHUNK_BYTES, SwizzleMode, swizzle_mode
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle

ADDRESS_BITS: Final = 18
"""The bits of a start address or an offset; the four lowest are 0 and not stored."""
_STORED: Final = (1 << ADDRESS_BITS) - CHUNK_BYTES
UNUSED_LEADING: Final = 16
"""CUTLASS's value for a leading offset that is ignored."""


@dataclass(frozen=True, slots=True)
class Word:
    """Some bits of a descriptor: a name in the manual's words, the lowest bit, the number of bits."""

    name: str
    first: int
    bits: int

    @property
    def mask(self) -> int:
        """Its bits, in place."""
        return ((1 << self.bits) - 1) << self.first

    def of(self, bits: int) -> int:
        """Its value in a descriptor."""
        return (bits & self.mask) >> self.first


START: Final = Word("matrix start address", 0, 14)
LEADING: Final = Word("leading dimension byte offset", 16, 14)
STRIDE: Final = Word("stride dimension byte offset", 32, 14)
VERSION: Final = Word("fixed constant", 46, 3)
BASE: Final = Word("matrix base offset", 49, 3)
LEADING_MODE: Final = Word("leading dimension stride mode", 52, 1)


@dataclass(frozen=True, slots=True)
class Generation:
    """The instruction that a descriptor is for.

    Attributes:
        name: The instruction that reads it.
        swizzling: The bits of its swizzling mode.
        codes: The codes of its modes.
        version: The fixed constant; 0 if there is none.
        section: The manual's section.
        instruction: The spelling of the instruction that reads it.
    """

    name: str
    swizzling: Word
    codes: dict[str, int]
    version: int
    section: str
    instruction: str

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, from the lowest bit up."""
        own = (VERSION, BASE, LEADING_MODE) if self.version else (BASE,)
        return (START, LEADING, STRIDE, *own, self.swizzling)


_MODE: Final = "swizzling mode"
GENERATIONS: Final[dict[str, Generation]] = {
    generation.name: generation
    for generation in (
        Generation(
            "wgmma",
            Word(_MODE, 62, 2),
            {"none": 0, "128B": 1, "64B": 2, "32B": 3},
            0,
            "9.7.15.5.1.2.2",
            "wgmma.mma_async",
        ),
        Generation(
            "tcgen05",
            Word(_MODE, 61, 3),
            {"none": 0, "128B_ATOM_32B": 1, "128B": 2, "64B": 4, "32B": 6},
            1,
            "9.7.16.4.1",
            "tcgen05.mma",
        ),
    )
}


_UNMARKED: Final = next(one.name for one in GENERATIONS.values() if not one.version)


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """The layout of a matrix in shared memory, from the 64 bits.

    The bits do not hold the type of the elements, their number, or their contiguous coordinate: these are in the
    instruction, see `SharedOperand`.

    Attributes:
        start_address: The start of the matrix in shared memory, in bytes; 18 bits, a multiple of 16.
        leading_byte_offset: In bytes, likewise; its meaning depends on the swizzle and the major-ness.
        stride_byte_offset: Likewise.
        swizzle: "none", "32B", "64B", "128B", for tcgen05 also "128B_ATOM_32B".
        base_offset: 0 to 7: bits 7 to 9 of the start of the swizzle's pattern, if it is not aligned.
        generation: "wgmma" or "tcgen05".
        leading_is_address: Whether the leading offset is an address (tcgen05 on sm_103a, k of 48 bytes).
        stray_bits: Bits that belong to no word, or differ from the fixed constant (as XOR); 0 in a good descriptor.

    Example:
        >>> descriptor = MatrixDescriptor(0x400, stride_byte_offset=1024, swizzle="128B")
        >>> hex(descriptor.bits), MatrixDescriptor.from_bits(descriptor.bits) == descriptor
        ('0x4000004000010040', True)
    """

    start_address: int = 0
    leading_byte_offset: int = UNUSED_LEADING
    stride_byte_offset: int = 0
    swizzle: str = "none"
    base_offset: int = 0
    generation: str = "wgmma"
    leading_is_address: bool = False
    stray_bits: int = 0

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        if self.generation not in GENERATIONS:
            raise UsageError("generation", self.generation, f"one of {', '.join(GENERATIONS)}")
        codes = GENERATIONS[self.generation].codes
        if self.swizzle not in codes:
            raise UsageError("swizzle", self.swizzle, f"one of {', '.join(codes)} for {self.generation}")
        for name in ("start_address", "leading_byte_offset", "stride_byte_offset"):
            value = getattr(self, name)
            must_be(int, name, value, "a number of bytes")
            if value & _STORED != value:
                raise UsageError(name, value, f"a multiple of 16 from 0 to {_STORED:,}: 14 bits hold it divided by 16")
        if self.base_offset not in range(8):
            raise UsageError("base_offset", self.base_offset, "0 to 7: bits 7 to 9 of the address of the pattern")

    @property
    def mode(self) -> SwizzleMode:
        """How the swizzle moves bytes."""
        return swizzle_mode(self.swizzle)

    @property
    def words(self) -> tuple[tuple[Word, int], ...]:
        """Every word with its value."""
        return tuple((word, word.of(self.bits)) for word in GENERATIONS[self.generation].words)

    @property
    def bits(self) -> int:
        """The 64 bits."""
        generation = GENERATIONS[self.generation]
        held = {
            START: self.start_address // CHUNK_BYTES,
            LEADING: self.leading_byte_offset // CHUNK_BYTES,
            STRIDE: self.stride_byte_offset // CHUNK_BYTES,
            VERSION: generation.version,
            BASE: self.base_offset,
            LEADING_MODE: int(self.leading_is_address),
            generation.swizzling: generation.codes[self.swizzle],
        }
        return sum(value << word.first for word, value in held.items()) ^ self.stray_bits

    @classmethod
    def from_bits(cls, bits: int, generation: str | None = None) -> MatrixDescriptor:
        """Read 64 bits.

        Args:
            bits: The descriptor.
            generation: "wgmma" or "tcgen05"; left out, the fixed constant of tcgen05 in bits 46 to 48 decides.

        Returns:
            The descriptor; its `bits` are these again.

        Raises:
            UsageError: They are not 64 bits, or have an undefined swizzling mode.
        """
        must_be(int, "bits", bits, "a whole number of 64 bits")
        if not 0 <= bits < 1 << 64:
            raise UsageError("bits", hex(bits), "64 bits: from 0 to 0xffffffffffffffff")
        if generation is None:
            version = VERSION.of(bits)
            generation = next((one.name for one in GENERATIONS.values() if one.version == version), _UNMARKED)
        if generation not in GENERATIONS:
            raise UsageError("generation", generation, f"one of {', '.join(GENERATIONS)}")
        of = GENERATIONS[generation]
        code = of.swizzling.of(bits)
        modes = {number: name for name, number in of.codes.items()}
        if code not in modes:
            legal = ", ".join(f"{number} ({name})" for number, name in modes.items())
            first = of.swizzling.first
            raise UsageError(f"the swizzling mode in bits {first} to 63 of 0x{bits:016x}", code, f"one of {legal}")
        outside = ~sum(word.mask for word in of.words) | (VERSION.mask if of.version else 0)
        return cls(
            START.of(bits) * CHUNK_BYTES,
            LEADING.of(bits) * CHUNK_BYTES,
            STRIDE.of(bits) * CHUNK_BYTES,
            modes[code],
            BASE.of(bits),
            generation,
            leading_is_address=bool(of.version and LEADING_MODE.of(bits)),
            stray_bits=(bits ^ of.version << VERSION.first) & outside,
        )

    def __str__(self) -> str:
        return f"0x{self.bits:016x}"
