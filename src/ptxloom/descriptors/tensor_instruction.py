"""A `tcgen05.mma` with its descriptor: the number of rows and columns of D, and the types (PTX ISA 9.7.16.2).

The spelling leaves these to the descriptor, which is a value of the running kernel. If the instruction is named
without one, they follow its qualifiers, as in `wgmma`: `tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16`.
"""

from __future__ import annotations

import re
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.instruction import RESULTS, SCALE_TYPES, SCALED_KINDS, TYPES, InstructionDescriptor
from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be
from ptxloom.isa.products import MatrixForm
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.tensor_products import TENSOR_KINDS, WIDE_KINDS, TensorProduct, product_of, refusal, rows_of
from ptxloom.isa.types import element_type

TILE_ROWS, TILE_COLUMNS = 16, 8
"""The size of the tiles of which a product consists here."""
_ROW_BYTES: Final = 32  # of A, for any type
_WIDE_ROW_BYTES: Final = 48  # if K is 96
_WIDE_K: Final = "96"
_COLUMNS: Final = 128  # of D by default
_SHAPE: Final = re.compile(r"m(\d{1,4})(?:n(\d{1,4}))?(?:k(\d{1,4}))?")
_TYPES: Final = {name for table in (*TYPES.values(), *RESULTS.values(), SCALE_TYPES) for name in table}


@dataclass(frozen=True, slots=True)
class TensorInstruction:
    """The whole product of a `tcgen05.mma`.

    Attributes:
        product: The part from the qualifiers.
        told: The part from the descriptor.
        words: The qualifiers, in the manual's order.

    Example:
        >>> one = tensor_instruction("tcgen05.mma.m128n256k16.f32.bf16.bf16")
        >>> one.spelling, one.told.bits == 0x08400490
        ('tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.bf16.bf16', True)
    """

    product: TensorProduct
    told: InstructionDescriptor
    words: tuple[str, ...]

    @property
    def spelling(self) -> str:
        """The instruction, with its descriptor's facts after its qualifiers."""
        told = self.told
        said = (f"m{told.m}n{told.n}k{self.form.k}", told.d_type, told.a_type, told.b_type)
        return ".".join(("tcgen05", *self.words, *said, *((told.scale_type,) * told.is_scaled)))

    @property
    def form(self) -> MatrixForm:
        """The form of one of its tiles, in which the machine multiplies."""
        told = self.told
        narrow = element_type(told.a_type).packed_bits <= 8 and told.d_type != "s32"
        row_bytes = _WIDE_ROW_BYTES if told.k_96 else _ROW_BYTES
        k = row_bytes * 8 // self.container_bits("a") * (2 if told.sparse else 1)
        return MatrixForm(
            "tcgen05", TILE_ROWS, TILE_COLUMNS, k, "row", "col",
            told.d_type, told.a_type, told.b_type, told.d_type,
            kind=told.kind if narrow else "",
            scale_vector=self.product.scale_vector if told.is_scaled else "",
            scale_type=told.scale_type,
            satfinite=told.saturate,
            sparse="sp" if told.sparse else "",
        )  # fmt: skip

    def container_bits(self, side: str) -> int:
        """The bits of an element that is ready to be multiplied.

        Args:
            side: "a" or "b".

        Returns:
            The bits, padding included.
        """
        found = element_type(self.told.a_type if side == "a" else self.told.b_type)
        return found.container_bits if self.product.has_bytes else found.packed_bits

    @property
    def across(self) -> tuple[int, int]:
        """Bytes of an element of A and of B if their lines are contiguous in shared memory, else 0."""
        told = self.told
        sides = (("a", told.transpose_a), ("b", told.transpose_b))
        a, b = (self.container_bits(side) // 8 if turned else 0 for side, turned in sides)
        return a, b


def is_tensor_product(text: str) -> bool:
    """Whether a spelling is one of `tcgen05.mma`."""
    opcode, *words = text.split(".")
    return opcode == "tcgen05" and "mma" in words


def tensor_instruction(text: str, descriptor: InstructionDescriptor | int | None = None) -> TensorInstruction:
    """Read a `tcgen05.mma`: its qualifiers, and its shape and types, after them or in a descriptor.

    Omitted parts get defaults: `.cta_group::1`, the kind that has the types (`.kind::f16`), the most rows that the
    instruction can have, 128 columns, the kind's first types, `.f32` or `.s32` for D.

    Args:
        text: The spelling.
        descriptor: The instruction descriptor, or its 32 bits.

    Returns:
        The instruction with its descriptor.

    Raises:
        UnsupportedForm: There is no such instruction, or it cannot have such a D.
        UsageError: The descriptor's bits make no sense for the kind.
    """
    must_be(str, "text", text, "a spelling such as tcgen05.mma.cta_group::1.kind::f16")
    words = text.split(".")[1:]
    shapes = [found for word in words if (found := _SHAPE.fullmatch(word))]
    types = [word for word in words if word in _TYPES]
    plain = _completed([word for word in words if not _SHAPE.fullmatch(word) and word not in _TYPES], types)
    found = resolve("tcgen05", tuple(plain)).form
    if found is None:
        from ptxloom.isa.resolution.phrase import reasons  # noqa: PLC0415 - only a miss needs the words

        raise UnsupportedForm(f"`{text}` is not a form of `tcgen05`: {reasons('tcgen05', tuple(plain))}")
    product = product_of(found.words)
    if descriptor is not None and (shapes or types):
        raise UnsupportedForm(f"`{text}` has a shape or types, and so has the descriptor; omit one of them")
    if isinstance(descriptor, int):
        descriptor = InstructionDescriptor.from_bits(product.kind, descriptor)
    told = descriptor or _told(text, product, shapes, types)
    why = refusal(product, told.m, told.n, told.sparse, told.transpose_b, k_96=told.k_96)
    if why:
        raise UnsupportedForm(f"`{text}` is not a legal product: {why}")
    one = TensorInstruction(product, told, found.words)
    said = shapes[0][3] if shapes else None
    if said is not None and int(said) != one.form.k:
        raise UnsupportedForm(f"`{text}`: K is {one.form.k} for these types, not {said}")
    return one


def _completed(words: list[str], types: list[str]) -> list[str]:
    """The qualifiers, with defaults added."""
    leads = [lead for lead in ("mma", "ws", "sp") if lead in words]
    words = [*leads, *(word for word in words if word not in leads)]
    scaled = any(word in SCALE_TYPES or word.startswith(("block", "scale_vec")) for word in (*words, *types))
    if not any(word.startswith("kind::") for word in words):
        kinds = SCALED_KINDS if scaled else tuple(kind for kind in TENSOR_KINDS if kind not in SCALED_KINDS)
        fitting = [kind for kind in kinds if not types or _has(kind, types)]
        words = [*words, f"kind::{(fitting or kinds)[0]}"]
    if not any(word.startswith("cta_group::") for word in words):
        words = [*words, "cta_group::1"]
    kind = next(word.removeprefix("kind::") for word in words if word.startswith("kind::"))
    if kind in SCALED_KINDS and "block_scale" not in words:
        words = [*words, "block_scale"]
    if kind == "mxf4nvf4" and not any(word.startswith(("block1", "block3", "scale_vec")) for word in words):
        words = [*words, "scale_vec::2X" if "ue8m0" in types else "scale_vec::4X"]
    return words


def _has(kind: str, types: list[str]) -> bool:
    """Whether a kind has all these types, at least one for a factor."""
    known = {*TYPES[kind], *RESULTS.get(kind, {"f32": 1}), *SCALE_TYPES}
    return known.issuperset(types) and any(name in TYPES[kind] for name in types)


def _told(text: str, product: TensorProduct, shapes: list[re.Match[str]], types: list[str]) -> InstructionDescriptor:
    """The descriptor for the words after the qualifiers."""
    kind = product.kind
    scales = [name for name in types if name in SCALE_TYPES]
    plain = [name for name in types if name not in SCALE_TYPES]
    if len(shapes) > 1 or len(scales) > 1 or len(plain) > 3:
        raise UnsupportedForm(f"`{text}` has more than one shape, or types of more than D, A and B")
    factors = [name for name in plain if name in TYPES[kind]] or [next(iter(TYPES[kind]))]
    results = RESULTS.get(kind, {"f32": 1})
    if strange := [name for name in plain if name not in TYPES[kind] and name not in results]:
        legal = ", ".join({**TYPES[kind], **results})
        raise UnsupportedForm(f"`{text}`: kind::{kind} has no `.{strange[0]}`; it has {legal}")
    if len(plain) == 3:
        result, *factors = plain
    else:
        result = next((name for name in plain if name in results and name not in TYPES[kind]), _wide(results))
    rows, columns = (shapes[0][1], shapes[0][2]) if shapes else (None, None)
    m, n = int(rows or rows_of(product)[-1]), int(columns or _COLUMNS)
    scale = (scales or ["ue4m3" if product.scale_vector == "4X" else "ue8m0"])[0] if kind in SCALED_KINDS else ""
    try:
        return InstructionDescriptor(
            kind, m, n, factors[0], factors[-1], result, sparse=product.sparse, scale_type=scale,
            k_96=kind in WIDE_KINDS and any(shape[3] == _WIDE_K for shape in shapes),
        )  # fmt: skip
    except UsageError as error:
        raise UnsupportedForm(f"`{text}` is not a legal product: {error}") from None


def _wide(results: dict[str, int]) -> str:
    """The widest type of D."""
    return max(results, key=lambda name: element_type(name).packed_bits)
